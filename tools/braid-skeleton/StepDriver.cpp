//===- StepDriver.cpp - one rank's step program, driven over a transport ----------------------------------------===//
#include "tools/braid-skeleton/StepDriver.h"
#include "transports/Clock.h"
#include <cstring>

namespace braid::skeleton {

using algorithms::Action;
using algorithms::Step;

StepDriver::StepDriver(runtime::Transport &transport, algorithms::StepProgram given, std::vector<int> group,
                       size_t chunkBytes, int firstLane, float *data)
    : transport(transport), clock(transport.clock()), program(std::move(given)), group(std::move(group)),
      chunkBytes(chunkBytes), firstLane(firstLane), data(data), lanes(size_t(program.channels)) {
  for (const Step &step : program.steps)
    lanes[size_t(step.channel)].steps.push_back(&step);
}

void StepDriver::begin(uint64_t step, uint64_t operation) {
  copies.clear();
  unfinished = 0;
  for (size_t channel = 0; channel < lanes.size(); ++channel) {
    Lane &lane = lanes[channel];
    lane.next = 0;
    lane.busyUntil = 0;
    lane.finished = lane.steps.empty();
    unfinished += !lane.finished;
    transport.mark(firstLane + int(channel), step, operation);
  }
  if (data)
    own.assign(data, data + size_t(program.chunks) * chunkBytes / sizeof(float));
}

bool StepDriver::advance() {
  bool moved = false;
  for (size_t channel = 0; channel < lanes.size(); ++channel)
    moved |= advanceLane(int(channel));
  return moved;
}

void StepDriver::send(int channel, const Step &step) {
  size_t bytes = chunkBytes * size_t(step.count);
  const void *from = nullptr;
  if (data) {
    copies.emplace_back(new char[bytes]);
    from = std::memcpy(copies.back().get(), data + size_t(step.chunk) * chunkBytes / sizeof(float), bytes);
  }
  while (!transport.offer(group[size_t(step.peer)], firstLane + channel, from, bytes) && !transport.fault())
    transport.progress();
}

void StepDriver::combine(const Step &step, const float *theirs, bool add) {
  float *mine = data + size_t(step.chunk) * chunkBytes / sizeof(float);
  size_t count = size_t(step.count) * chunkBytes / sizeof(float);
  for (size_t i = 0; i < count; ++i)
    mine[i] = add ? theirs[i] + mine[i] : theirs[i];
}

/// Executes steps of a lane until it waits, is busy reducing, or is done.
bool StepDriver::advanceLane(int channel) {
  Lane &lane = lanes[size_t(channel)];
  if (lane.finished)
    return false;
  if (lane.busyUntil > 0 && clock->now() < lane.busyUntil) {
    clock->wakeAt(lane.busyUntil);
    return false;
  }
  lane.busyUntil = 0;
  for (bool moved = false; lane.next < lane.steps.size(); moved = true) {
    const Step &step = *lane.steps[lane.next];
    int peer = group[size_t(step.peer)];
    if (step.action == Action::Send) {
      send(channel, step);
    } else {
      const float *theirs = data ? own.data() + size_t(step.chunk) * chunkBytes / sizeof(float) : nullptr;
      if (step.action != Action::Combine) {
        runtime::Message message;
        if (!transport.peek(peer, firstLane + channel, message))
          return moved;
        theirs = static_cast<const float *>(message.data);
      }
      if (data)
        combine(step, theirs, step.action != Action::Receive);
      if (step.action != Action::Combine)
        transport.accept(peer, firstLane + channel);
    }
    ++lane.next;
    if (clock && (step.action == Action::ReceiveReduce || step.action == Action::Combine)) {
      double until = clock->reduced(chunkBytes * size_t(step.count));
      if (until > clock->now()) {
        lane.busyUntil = until;
        clock->wakeAt(until);
        return true;
      }
    }
  }
  lane.finished = true;
  --unfinished;
  return true;
}

} // namespace braid::skeleton
