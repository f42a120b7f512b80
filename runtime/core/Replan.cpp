//===- Replan.cpp - an operation gets other plans -------------------------------------------------------------------===//
//
// For other buffers (braid_op_rebind), and for memory of the host where devices turn out not to reach each other, or NICs not the
// buffers that it gets.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Communicator.h"
#include "core/GpuDirectPlan.h"
#include "core/Operation.h"
#include "core/Staging.h"
#include <algorithm>

namespace braid::runtime {

namespace {

bool same(const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor &x, const Tensor &y) {
    return x.send == y.send && x.receive == y.receive && x.count == y.count;
  });
}

} // namespace

void Operation::release(Plan &plan) {
  for (void *memory : plan.memory)
    transport->release(memory);
  plan.memory.clear();
}

/// On failure nothing is left of it.
Outcome Operation::planFor(const Request &wanted, Plan &made) {
  Outcome done = makePlan(wanted, *transport, made);
  if (!done)
    release(made);
  else if (direct)
    fuseCopies(made);
  return done;
}

Outcome Operation::rebind(const braid_buffer *buffers, size_t count) {
  constexpr size_t mostPlans =
      4; // buffers that take turns: two for a loop that swaps, some more where loops are unrolled
  Request wanted = request;
  Outcome done = readBuffers(buffers, count, wanted);
  if (done && staging) {
    done = staging->rebind(wanted);
    if (staging->stages())
      return done; // the plan is of the memory that stands for the buffers
  }
  const bool byNics = isGpuDirect();
  Outcome owns = done && (direct || byNics) ? staging->ownsAll(wanted) : Outcome();
  if (done && direct) {
    std::string why = owns.text;
    Directness can = owns ? direct->look(wanted, staging->context, why) : Directness::OtherDevice;
    if (undecided)
      directness = can; // said at the first start
    else if (can != Directness::Can)
      return {BRAID_UNSUPPORTED, "expected buffers that peers reach, like those before, got others: " + why +
                                     "; BRAID_P2P_DISABLE=1 takes any"};
  }
  if (!done || same(wanted.tensors, request.tensors))
    return done;
  if (byNics && !owns)
    return stageFrom(wanted);
  if (byEngine) {
    done = byEngine->rebind(wanted.tensors);
    if (done)
      request.tensors = std::move(wanted.tensors);
    return done;
  }
  Attachments fresh(*transport);
  auto found = std::find_if(others.begin(), others.end(),
                            [&](const Other &other) { return same(other.tensors, wanted.tensors); });
  Other next;
  const bool planned = found != others.end();
  std::string how;
  if (planned || !byNics)
    done = fresh.take(wanted, byNics ? &how : nullptr);
  if (done && planned) {
    next = std::move(*found);
    others.erase(found);
  } else if (done) {
    done = byNics ? makeGpuDirectPlan(wanted, *transport, next.plan, fresh, how) : planFor(wanted, next.plan);
  }
  if (!done) // NICs don't reach these
    return byNics ? stageFrom(wanted) : done;
  if (!planned) {
    if (others.size() + 1 >= mostPlans) {
      if (work->later())
        staging->finish();
      release(others.back().plan);
      others.pop_back();
    }
  }
  others.insert(others.begin(), {std::move(request.tensors), std::move(plan)});
  request.tensors = std::move(wanted.tensors);
  plan = std::move(next.plan);
  attached = std::move(fresh);
  return {};
}

/// From here on its memory, and what is planned with it, is of the host. On failure all is as before.
Outcome Operation::stageFrom(const Request &wanted) {
  Transport &carrier = comm.transport();
  Request host = wanted;
  std::unique_ptr<Staging> staged;
  Plan planned;
  Attachments fresh(carrier);
  Outcome done = Staging::make(host, carrier, staging->context, 0, staged);
  if (done)
    done = staged->follow(staging->stream); // which follows the start's
  if (done)
    done = staged->stage(host);
  if (done)
    done = makePlan(host, carrier, planned);
  if (done)
    done = fresh.take(host);
  if (!done) {
    for (void *memory : planned.memory)
      carrier.release(memory);
    return done;
  }
  staging->finish();
  for (Other &other : others)
    release(other.plan);
  others.clear();
  release(plan);
  if (direct)
    direct->transport().close(firstLane, lanesTaken);
  direct = nullptr;
  transport = &carrier;
  work = std::make_unique<HostWork>();
  request = std::move(host);
  plan = std::move(planned);
  attached = std::move(fresh); // before the memory that it is of
  staging = std::move(staged);
  lane.assign(plan.lanes.size(), {});
  for (size_t i = 0; i < lane.size(); ++i)
    lane[i].out.resize(plan.lanes[i].outboxes.size());
  lanesLeft = lane.size();
  return {};
}

} // namespace braid::runtime
