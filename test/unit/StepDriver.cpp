//===- StepDriver.cpp - one rank's step program, driven over a transport ----------------------------------------===//
#include "test/unit/StepDriver.h"
#include "transports/Clock.h"
#include <cstring>

namespace braid::test {

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
    for (int peer : group)
      transport.mark(peer, firstLane + int(channel), {step, operation, uint32_t(firstLane) + uint32_t(channel)});
  }
  if (data)
    own.assign(data, data + size_t(program.chunks) * chunkBytes / sizeof(float));
  scratch.resize(data ? program.scratch.size() * chunkBytes / sizeof(float) : 0);
}

bool StepDriver::advance() {
  bool moved = false;
  for (size_t channel = 0; channel < lanes.size(); ++channel)
    moved |= advanceLane(int(channel));
  return moved;
}

/// Where a chunk is: in the buffer, in scratch behind it, or in the operand.
float *StepDriver::at(int chunk) {
  size_t floats = chunkBytes / sizeof(float);
  if (!data)
    return nullptr;
  if (program.isOwn(chunk))
    return own.data() + size_t(chunk - program.own(0)) * floats;
  return chunk < program.chunks ? data + size_t(chunk) * floats
                                : scratch.data() + size_t(chunk - program.chunks) * floats;
}

/// Sends the message that begins with the lane's next step; returns its steps.
size_t StepDriver::send(int channel, const Lane &lane) {
  size_t length = 1, bytes = 0, filled = 0;
  while (lane.steps[lane.next + length - 1]->more)
    ++length;
  for (size_t i = 0; i < length; ++i)
    bytes += chunkBytes * size_t(lane.steps[lane.next + i]->count);
  char *from = nullptr;
  if (data) {
    copies.emplace_back(new char[bytes]);
    from = copies.back().get();
    for (size_t i = 0; i < length; ++i) {
      const Step &step = *lane.steps[lane.next + i];
      std::memcpy(from + filled, at(step.chunk), chunkBytes * size_t(step.count));
      filled += chunkBytes * size_t(step.count);
    }
  }
  int peer = lane.steps[lane.next]->peer;
  while (!transport.offer(group[size_t(peer)], firstLane + channel, from, bytes) && !transport.fault())
    transport.progress();
  return length;
}

void StepDriver::combine(const Step &step, const float *theirs, bool add) {
  float *mine = at(step.chunk);
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
      lane.next += send(channel, lane);
      if (lanes.size() > 1 && lane.next < lane.steps.size() && lane.steps[lane.next]->action == Action::Send)
        return true; // lanes take turns
      continue;
    } else {
      const float *theirs = data ? own.data() + size_t(step.chunk) * chunkBytes / sizeof(float) : nullptr;
      if (step.action != Action::Combine) {
        runtime::Message message;
        if (!transport.peek(peer, firstLane + channel, message))
          return moved;
        theirs = static_cast<const float *>(message.data);
        if (data)
          theirs += lane.taken;
      }
      if (data)
        combine(step, theirs, step.action != Action::Receive);
      if (step.action != Action::Combine && !step.more)
        transport.accept(peer, firstLane + channel);
      lane.taken = step.more ? lane.taken + size_t(step.count) * chunkBytes / sizeof(float) : 0;
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

} // namespace braid::test
