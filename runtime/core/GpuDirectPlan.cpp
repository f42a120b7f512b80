//===- GpuDirectPlan.cpp - plans whose messages begin and end in memory of a device -------------------------------------===//
#include "core/GpuDirectPlan.h"
#include <algorithm>
#include <utility>

namespace braid::runtime {
namespace {

constexpr size_t alignment = 64; ///< of messages that are fetched

/// Empty: it only receives, sends on, and copies its own part.
std::string whyNotGpuDirect(const Plan &plan) {
  if (!plan.widen.empty() || !plan.narrow.empty() || !plan.averages.empty())
    return "it computes";
  bool zeros = std::all_of(plan.settle.begin(), plan.settle.end(), [](const Copy &copy) { return !copy.from; });
  if (!plan.before.empty() || !plan.after.empty() || !zeros)
    return "its plan copies operands or results";
  for (const PlannedLane &lane : plan.lanes)
    for (const PlannedStep &step : lane.steps) {
      if (step.kind == PlannedStep::Reduce || step.kind == PlannedStep::Combine)
        return "it computes";
      if (step.kind == PlannedStep::Copy || (step.kind == PlannedStep::Send && step.to))
        return "its plan copies messages";
    }
  return "";
}

size_t largestMessage(const Plan &plan) {
  size_t largest = 0;
  for (const PlannedLane &lane : plan.lanes) {
    for (const PlannedStep &step : lane.steps)
      largest = std::max(largest, step.whole);
    for (const Outbox &outbox : lane.outboxes)
      for (const OutMessage &message : outbox.messages)
        largest = std::max(largest, message.bytes);
  }
  return largest;
}

/// Small messages are copied to the host as they are sent.
Outcome fetchSmall(Transport &transport, Plan &plan) {
  const size_t limit = transport.throughHost();
  size_t room = 0;
  for (const PlannedLane &lane : plan.lanes)
    for (const Outbox &outbox : lane.outboxes)
      for (const OutMessage &message : outbox.messages)
        room += message.bytes && message.bytes <= limit ? (message.bytes + alignment - 1) / alignment * alignment : 0;
  if (room == 0)
    return {};
  char *next = static_cast<char *>(transport.allocate(room));
  if (!next)
    return {BRAID_OUT_OF_MEMORY, "no memory for a buffer of " + std::to_string(room) + " bytes"};
  plan.memory.push_back(next);
  for (PlannedLane &lane : plan.lanes) {
    std::vector<size_t> sent(lane.outboxes.size(), 0);
    for (PlannedStep &step : lane.steps) {
      if (step.kind != PlannedStep::Send)
        continue;
      OutMessage &message = lane.outboxes[size_t(step.outbox)].messages[sent[size_t(step.outbox)]++];
      if (message.bytes == 0 || message.bytes > limit)
        continue;
      step.mine = std::exchange(message.data, next);
      step.to = next;
      next += (message.bytes + alignment - 1) / alignment * alignment;
    }
  }
  return {};
}

Outcome tryGpuDirect(const Request &request, Transport &transport, Plan &plan, Attachments &attached,
                     std::string &how) {
  if (Outcome done = makePlan(request, transport, plan); !done)
    return done;
  if (std::string why = whyNotGpuDirect(plan); !why.empty())
    return {BRAID_UNSUPPORTED, why};
  if (largestMessage(plan) <= transport.throughHost())
    return {BRAID_UNSUPPORTED, "its messages are of at most " + std::to_string(transport.throughHost()) + " bytes"};
  if (Outcome done = attached.take(request, &how); !done)
    return done;
  Outcome done = fetchSmall(transport, plan);
  if (done)
    fuseCopies(plan);
  return done;
}

} // namespace

std::string whyNotGpuDirect(const Request &request, const Transport &transport) {
  return request.reduces() ? "it computes"
         : !transport.reachesDevices()
             ? std::string("transport '") + transport.name() + "' reaches memory of the host only"
         : request.ranks < 2 ? "there is nobody to send to"
                             : "";
}

Outcome makeGpuDirectPlan(const Request &request, Transport &transport, Plan &plan, Attachments &attached,
                          std::string &how) {
  Outcome done = tryGpuDirect(request, transport, plan, attached, how);
  if (done)
    return done;
  for (void *memory : plan.memory)
    transport.release(memory);
  plan = Plan();
  attached = Attachments(transport);
  return done;
}

} // namespace braid::runtime
