//===- Operation.cpp - executes a plan ----------------------------------------------------------------------------===//
#include "core/Operation.h"
#include "braid/runtime/algorithms/Paths.h"
#include "braid/runtime/draws/Draws.h"
#include "core/Communicator.h"
#include "core/DeviceWork.h"
#include "core/Staging.h"
#include "transports/Clock.h"
#include <algorithm>
#include <utility>

namespace braid::runtime {

Operation::Operation(Communicator &comm, Request asked, Plan made, Attachments held, std::unique_ptr<Staging> staged,
                     Direct *reads, Directness can, std::unique_ptr<EngineOperation> engine, int firstLane,
                     int lanesTaken, int queue, uint64_t pointToPoint)
    : request(std::move(asked)), firstLane(firstLane), queue(queue), staging(std::move(staged)),
      byEngine(std::move(engine)), lanesTaken(lanesTaken), directness(can), comm(comm), direct(reads),
      undecided(reads != nullptr), transport(reads ? &reads->transport() : &comm.transport()), plan(std::move(made)),
      attached(std::move(held)), lands(transport->lands()), data(transport->carriesData()), lane(plan.lanes.size()),
      peerLane(size_t(request.ranks + request.options.helpers), firstLane) {
  if (direct || isGpuDirect())
    work = std::make_unique<DeviceWork>(staging->driver, staging->context, staging->stream,
                                        direct ? direct->kernels() : nullptr, staging->flushes());
  else
    work = std::make_unique<HostWork>();
  for (size_t i = 0; i < lane.size(); ++i)
    lane[i].out.resize(plan.lanes[i].outboxes.size());
  agreed = request.pointToPoint() || request.ranks + request.options.helpers == 1;
  if (request.pointToPoint()) { // a sender's own: collectives have the numbers below
    place = uint64_t(1) << 31 | (draws::mix(uint64_t(request.me), pointToPoint) & 0x7fffffff);
    firstPlace = uint32_t(request.peer) << 12 | uint32_t(firstLane);
  }
}

bool Operation::isGpuDirect() const {
  return !direct && staging && request.memory == BRAID_MEMORY_DEVICE && !staging->stages();
}

Operation::~Operation() {
  if (work->later())
    staging->finish(); // what is on its way still reads the plan's memory
  release(plan);
  for (Other &other : others)
    release(other.plan);
  if (direct)
    direct->transport().close(firstLane, lanesTaken);
}

/// False: the communicator has failed for it.
bool Operation::report(const Outcome &outcome) {
  if (!outcome && comm.works())
    comm.fail(outcome.status, request.title() + ": " + outcome.text);
  return bool(outcome);
}

Outcome Operation::execute(const Copy &copy) const {
  return data ? work->copy(copy.to, nullptr, copy.from, copy.bytes, copy.stream) : Outcome();
}

Outcome Operation::execute(const std::vector<Copy> &copies) const {
  Outcome done;
  for (const Copy &copy : copies)
    if (done)
      done = execute(copy);
  return done;
}

Outcome Operation::start(Operation *before, void *stream) {
  if (staging)
    if (Outcome follows = staging->follow(stream); !follows)
      return follows;
  if (byEngine && !staging)
    if (Outcome armed = byEngine->arm(stream); !armed)
      return armed;
  copied = 0;
  lanesLeft = lane.size();
  turnOf = before;
  if (Outcome begun = begin(); !begun)
    return begun;
  if (!agreed) {
    agreement = comm.announce(*this, firstPlace);
    place = agreement & 0x7fffffff;
  }
  return {};
}

/// Operands come to where steps take them: on a device some time later, and from a device to the host.
Outcome Operation::begin() {
  state = staging ? Fetching : Queued;
  bool now = !staging || isDirect();
  Outcome taken = now ? takeOperands() : Outcome();
  return taken && staging ? staging->fetch() : taken;
}

Outcome Operation::takeOperands() {
  for (const Conversion &each : plan.widen)
    if (data)
      if (Outcome done = work->convert(request.accumulation, each.to, request.type, each.from, each.count); !done)
        return done;
  return execute(plan.before);
}

/// All ranks have said whether they could. True: it goes on; else they have not agreed yet, or operands are brought first.
bool Operation::decide() {
  bool is = false;
  if (!comm.decided(*this, *direct, is))
    return false;
  undecided = false;
  if (is && plan.widen.empty() && plan.before.empty())
    return true;
  if (is || report(stageFrom(request)))
    report(begin());
  return false;
}

/// The connections that its path asks for carry its lanes, in turn; without a path all go over the one of each pair of ranks.
void Operation::route() {
  static const algorithms::Paths none;
  const algorithms::Paths &path = request.options.path ? *request.options.path : none;
  auto take = [&](int from, int to, size_t index, int on) {
    std::vector<algorithms::Paths::Connection> all = path.between(from, to);
    size_t which = index * all.size() / lane.size();
    std::string why = all.empty() ? transport->route(from == request.me ? to : from, on, from == request.me, 0, -1)
                                  : transport->route(from == request.me ? to : from, on, from == request.me,
                                                     all[which].port, int(which));
    if (!why.empty())
      comm.fail(BRAID_INVALID, request.title() + ": " + why);
  };
  for (size_t i = 0; i < lane.size(); ++i) {
    for (const Outbox &outbox : plan.lanes[i].outboxes)
      take(request.me, outbox.peer, i, peerLane[size_t(outbox.peer)] + int(i));
    for (int peer = 0; peer < int(peerLane.size()); ++peer)
      if (peer != request.me)
        take(peer, request.me, i, firstLane + int(i));
  }
}

/// The operation is next on its lanes: counts from here.
void Operation::launch() {
  if (byEngine) {
    state = Running;
    if (Outcome launched = byEngine->launch(); !launched)
      comm.fail(launched.status, request.title() + ": engine '" + request.engine + "': " + launched.text);
    return;
  }
  if (transport->hasPaths() && !request.pointToPoint())
    route();
  Clock *clock = transport->clock();
  double launched = clock ? clock->launched() : 0;
  inFlight = clock != nullptr;
  comm.inFlight() += inFlight;
  if (uint64_t steps = comm.stepsBegun(); inStep != steps) {
    inStep = steps;
    executions = 0;
  }
  MessagePlace here;
  here.step = inStep ? comm.stepNumber() : executions;
  here.operation = place | (inStep ? executions << 32 : 0);
  for (size_t i = 0; i < lane.size(); ++i) {
    LaneState &l = lane[i];
    l.next = 0;
    l.done = false;
    l.notBefore = launched;
    here.number = firstPlace + uint32_t(i);
    for (size_t o = 0; o < l.out.size(); ++o) {
      int peer = plan.lanes[i].outboxes[o].peer, there = peerLane[size_t(peer)] + int(i);
      l.out[o] = {0, 0, transport->accepted(peer, there), there};
      transport->mark(peer, there, here);
    }
  }
  ++executions;
  state = Running;
}

bool Operation::progress() {
  bool moved = false;
  if (state == Fetching) {
    bool there = false;
    report(staging->fetched(there));
    if (!there)
      return false;
    if (!direct)
      report(takeOperands());
    state = Queued;
    moved = true;
  }
  if (state == Queued) {
    if (turnOf || !comm.hasTurn(*this))
      return moved;
    state = Agreeing;
    moved = true;
  }
  if (state == Agreeing) {
    if (!agreed && !comm.agreedOn(*this, agreement))
      return moved;
    agreed = true;
    if (undecided && !decide())
      return moved || state != Agreeing;
    if (byEngine && !comm.mayLaunch(*this))
      return moved;
    launch();
    moved = true;
  }
  if (state != Running)
    return moved;
  if (byEngine)
    return progressByEngine() || moved;
  for (size_t i = 0; i < lane.size(); ++i)
    if (!lane[i].done)
      moved |= progressLane(i);
  if (copied < plan.during.size()) { // messages first: others wait for them
    report(execute(plan.during[copied++]));
    moved = true;
  }
  if (lanesLeft == 0 && state == Running) {
    finish();
    return true;
  }
  return moved;
}

bool Operation::progressByEngine() {
  bool ended = false;
  if (!comm.works()) // it was not launched
    return false;
  if (Outcome went = byEngine->progress(ended); !went)
    comm.fail(went.status, request.title() + ": engine '" + request.engine + "': " + went.text);
  else if (ended)
    finish();
  return ended;
}

Outcome Operation::handOver(void *stream) {
  return staging ? staging->handOver(stream) : byEngine ? byEngine->handOver(stream) : Outcome();
}

/// Whether the device has done what the lane's steps have told it; messages that they have read are accepted then.
bool Operation::quiet(size_t index) {
  LaneState &l = lane[index];
  if (!l.busy)
    return true;
  bool done = false;
  if (!report(work->done(index, done)) || !done)
    return false;
  l.busy = false;
  for (int peer : l.due)
    transport->accept(peer, firstLane + int(index));
  l.due.clear();
  return true;
}

/// Work was told something for a step of the lane. False: it was refused.
bool Operation::told(size_t index, const Outcome &outcome) {
  if (!work->later())
    return report(outcome);
  lane[index].busy = true;
  return report(outcome) && report(work->mark(index));
}

bool Operation::awaitsDevice() const {
  return state == Fetching ||
         (state == Running && std::any_of(lane.begin(), lane.end(), [](const LaneState &l) { return l.busy; }));
}

bool Operation::progressLane(size_t index) {
  LaneState &l = lane[index];
  const PlannedLane &planned = plan.lanes[index];
  bool moved = l.busy && quiet(index);
  if (l.notBefore > 0) {
    if (transport->clock()->now() < l.notBefore)
      return false;
    l.notBefore = 0;
  }
  for (size_t o = 0; o < l.out.size(); ++o)
    if (l.out[o].offered < l.out[o].sent)
      moved |= pump(index, o);
  while (l.next < planned.steps.size() && l.notBefore == 0) {
    const PlannedStep &step = planned.steps[l.next];
    if (step.kind == PlannedStep::Send) {
      if (step.to && data && !report(work->copy(step.to, nullptr, step.mine, step.bytes, false)))
        return moved;
      if (!quiet(index)) // what is sent is not there yet
        return moved;
      ++l.out[size_t(step.outbox)].sent;
      pump(index, size_t(step.outbox));
      if (lane.size() > 1 && l.next + 1 < planned.steps.size() && planned.steps[l.next + 1].kind == PlannedStep::Send) {
        ++l.next; // lanes that could go on sending take turns
        return true;
      }
    } else if (step.kind == PlannedStep::Copy) {
      if (data && !told(index, work->copy(step.to, nullptr, step.mine, step.bytes, false)))
        return moved;
    } else if (!take(index, step)) {
      return moved;
    }
    ++l.next;
    moved = true;
  }
  if (l.next < planned.steps.size() || !quiet(index))
    return moved;
  for (size_t o = 0; o < l.out.size(); ++o) {
    const Outbox &outbox = planned.outboxes[o];
    if (l.out[o].offered < outbox.messages.size() ||
        transport->accepted(outbox.peer, l.out[o].lane) < l.out[o].base + outbox.messages.size())
      return moved;
  }
  if (l.notBefore > 0)
    return moved; // the last reduction takes its time
  l.done = true;
  --lanesLeft;
  return true;
}

/// Offers what steps have sent, as far as the transport takes it.
bool Operation::pump(size_t index, size_t outbox) {
  OutState &out = lane[index].out[outbox];
  const Outbox &planned = plan.lanes[index].outboxes[outbox];
  bool moved = false;
  while (out.offered < out.sent) {
    const OutMessage &message = planned.messages[out.offered];
    if (out.offered + 1 < planned.messages.size() && planned.messages[out.offered + 1].step == message.step)
      transport->join(planned.peer, out.lane);
    if (!transport->offer(planned.peer, out.lane, message.data, message.bytes, request.note())) {
      if (direct)
        report(direct->transport().problem());
      break;
    }
    ++out.offered;
    moved = true;
  }
  return moved;
}

/// Whether everybody has read what the step overwrites.
bool Operation::clear(size_t index, const PlannedStep &step) {
  const LaneState &l = lane[index];
  for (int i = step.firstHazard; i < step.firstHazard + step.hazards; ++i) {
    const Hazard &hazard = plan.hazards[size_t(i)];
    const OutState &out = l.out[size_t(hazard.outbox)];
    int peer = plan.lanes[index].outboxes[size_t(hazard.outbox)].peer;
    if (transport->accepted(peer, out.lane) < out.base + hazard.messages)
      return false;
  }
  return true;
}

bool Operation::take(size_t index, const PlannedStep &step) {
  LaneState &l = lane[index];
  if (step.kind == PlannedStep::Combine) {
    if (!clear(index, step))
      return false;
    if (step.count && data && !told(index, work->combine(plan.reducer, step, step.mine, step.other)))
      return false;
    if (Clock *clock = transport->clock())
      l.notBefore = clock->reduced(step.bytes);
    return true;
  }
  if (std::find(l.due.begin(), l.due.end(), step.peer) != l.due.end() && !quiet(index))
    return false; // the one before it is still read
  Message message;
  if (lands && step.kind == PlannedStep::Receive && step.bytes == step.whole && data && clear(index, step))
    transport->land(step.peer, firstLane + int(index), step.to, step.bytes, request.note());
  if (!transport->peek(step.peer, firstLane + int(index), message)) {
    if (direct && !direct->transport().problem() && !transport->fault()) { // memory goes with who has died or given up
      Outcome problem = direct->transport().problem();
      problem.text += " (memory of " + comm.named(step.peer) + ")";
      report(problem);
    }
    return false;
  }
  if (!clear(index, step) || !checkMessage(step, message))
    return false;
  if (step.count && data) {
    const char *theirs = static_cast<const char *>(message.data) + step.at;
    if (step.kind == PlannedStep::Receive && theirs == step.to) { // it has landed there
      if (!report(work->landed()) ||
          (step.also && !told(index, work->copy(step.also, nullptr, step.to, step.bytes, false))))
        return false;
    } else if (!told(index, step.kind == PlannedStep::Receive
                                ? work->copy(step.to, step.also, theirs, step.bytes, step.stream)
                                : work->combine(plan.reducer, step, theirs, step.mine)))
      return false;
  }
  if (!step.more && l.busy)
    l.due.push_back(step.peer);
  else if (!step.more)
    transport->accept(step.peer, firstLane + int(index));
  if (step.kind == PlannedStep::Reduce)
    if (Clock *clock = transport->clock())
      l.notBefore = clock->reduced(step.bytes);
  return true;
}

/// "f32[4]" for 16 bytes of a message; of an unknown type: the bytes.
static std::string contents(size_t bytes, unsigned note) {
  size_t size = note > 0 && note <= unsigned(BRAID_F64) + 1 ? sizeOf(braid_type(note - 1)) : 0;
  if (size == 0 || bytes % size)
    return std::to_string(bytes) + " bytes" + (note ? " of a type of number " + std::to_string(note) : "");
  return std::string(name(braid_type(note - 1))) + "[" + std::to_string(bytes / size) + "]";
}

bool Operation::checkMessage(const PlannedStep &step, const Message &message) {
  if (message.bytes == step.whole && message.note == request.note())
    return true;
  std::string where = request.pointToPoint() ? "" : ", step " + std::to_string(step.number);
  comm.fail(BRAID_MISMATCH, request.title() + where + ": expected " + contents(step.whole, request.note()) + " from " +
                                comm.named(step.peer) + ", got " + contents(message.bytes, message.note) +
                                "; do the ranks ask for the same?");
  return false;
}

void Operation::land() { comm.inFlight() -= std::exchange(inFlight, false); }

void Operation::finish() {
  if (!report(settle()))
    return;
  land();
  endedAt = comm.now();
  state = Done;
}

/// From where steps have left results to where they are wanted.
Outcome Operation::settle() {
  Outcome done;
  for (; done && copied < plan.during.size(); ++copied)
    done = execute(plan.during[copied]);
  if (done)
    done = execute(plan.settle);
  for (const Quotient &quotient : plan.averages)
    if (done && data)
      done = work->divide(request.accumulation, quotient.data, quotient.count, request.ranks);
  if (done)
    done = execute(plan.after);
  for (const Conversion &each : plan.narrow)
    if (done && data)
      done = work->convert(request.type, each.to, request.accumulation, each.from, each.count);
  return done && staging ? staging->giveBack() : done;
}

std::string Operation::waitsFor(int *peer, int *onLane) const {
  int none;
  int &whom = peer ? *peer : none, &where = onLane ? *onLane : none;
  whom = where = -1;
  if (state == Fetching)
    return "the device has not done what comes before it in its stream";
  if (state == Queued)
    return turnOf ? "waits for an earlier " + turnOf->request.title() : comm.waitsForTurn(*this);
  if (state == Agreeing && undecided && agreed) {
    int rank = whom = direct->silent(); // whom and where may be one
    where = comm.directLane;
    return rank < 0 ? "nothing" : comm.named(rank) + " has not said whether it reaches the others' devices";
  }
  if (state == Agreeing && agreed)
    return "waits for an earlier operation of engine '" + request.engine + "'";
  if (byEngine && state == Running) {
    std::string what = byEngine->waitsFor();
    return "engine '" + request.engine + "' " + (what.empty() ? "has not ended it" : "says: " + what);
  }
  if (state == Agreeing) {
    where = 0;
    return comm.notAgreed(agreement, whom);
  }
  for (size_t i = 0; i < lane.size(); ++i) {
    const LaneState &l = lane[i];
    if (l.done)
      continue;
    if (l.busy)
      return "the device has not done what comes before step " + std::to_string(l.next);
    if (l.next < plan.lanes[i].steps.size()) {
      const PlannedStep &step = plan.lanes[i].steps[l.next];
      Message message;
      if ((step.kind == PlannedStep::Receive || step.kind == PlannedStep::Reduce) &&
          !transport->peek(step.peer, firstLane + int(i), message)) {
        whom = step.peer;
        where = firstLane + int(i);
        return "step " + std::to_string(step.number) + ": nothing from " + comm.named(step.peer);
      }
    }
    for (size_t o = 0; o < l.out.size(); ++o) {
      int to = plan.lanes[i].outboxes[o].peer;
      if (transport->accepted(to, l.out[o].lane) < l.out[o].base + l.out[o].sent) {
        whom = to;
        where = firstLane + int(i);
        return comm.named(to) + " has not taken what was sent to it";
      }
    }
  }
  return "nothing";
}

double Operation::wakeTime() const {
  double earliest = -1;
  if (state == Running)
    for (const LaneState &l : lane)
      if (!l.done && l.notBefore > 0 && (earliest < 0 || l.notBefore < earliest))
        earliest = l.notBefore;
  return earliest;
}

} // namespace braid::runtime
