//===- Waiting.cpp - who waits drives, and learns why nothing comes -------------------------------------------------===//
//
// Deaths, ranks that have left, what engines and the launcher report, and the deadline.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Waiting.h"
#include "core/Communicator.h"
#include "core/Staging.h"
#include "core/SystemError.h"
#include "transports/Clock.h"
#include <algorithm>

namespace braid::runtime {

namespace {

constexpr unsigned spinsBetweenLooks = 16;
constexpr double timeBetweenFaults = 1e-3; ///< seconds; by time, since on a busy machine a turn given up takes long
constexpr double silentFor = 1;            ///< seconds that a rank waits before it says what for
constexpr double lateWait = 50e-6;         ///< seconds from start to wait that count as overlap

} // namespace

Outcome Communicator::drive(Operation &operation, std::unique_lock<std::mutex> &lock) {
  double since = 0, looked = 0;
  unsigned spins = 0;
  auto goesOn = [&] {
    spins = 0;
    since = 0;
    if (notes)
      notes->goOn();
  };
  while (operation.state != Operation::Done) {
    if (!failure)
      return failure;
    if (progress()) {
      goesOn();
      continue;
    }
    if (Clock *clock = carrier->clock())
      armClock(*clock);
    if (polls() && ++spins)
      std::this_thread::yield();
    else
      carrier->idle(spins++);
    if (aborting.load(std::memory_order_relaxed)) {
      lock.unlock();
      while (aborting)
        std::this_thread::yield();
      lock.lock();
    }
    if (spins % spinsBetweenLooks)
      continue;
    double now = seconds();
    if (since == 0)
      since = looked = now;
    if (now - looked < timeBetweenFaults)
      continue;
    looked = now;
    if (progress()) { // what a rank did before it died counts
      goesOn();
      continue;
    }
    lookForFaults();
    if (failure)
      waitedFor(operation, now - since);
  }
  goesOn();
  for (unsigned turns = 1; !carrier->settled() && failure; ++turns) { // others wait for it
    carrier->progress();
    carrier->idle(turns);
    if (turns % spinsBetweenFaults == 0)
      lookForFaults();
  }
  operation.state = Operation::Idle;
  return {};
}

void Communicator::waitedFor(const Operation &operation, double waited) {
  int peer = -1, lane = -1;
  std::string what = operation.request.title() + ": " + operation.waitsFor(&peer, &lane);
  Clock *clock = carrier->clock();
  bool speaks = !(clock && clock->isVirtual()); // there, a note would change the time of what it travels beside
  if (speaks && waited > std::min(settings.deadline / 2, clock ? settings.deadline : silentFor)) {
    if (!notes)
      notes = std::make_unique<WaitNotes>(*carrier, noteLane, me, size());
    if (peer >= 0)
      notes->wait(peer, what);
    notes->look();
  }
  // An engine does not say whom it waits for. Who has left has done its part, which is here soon, or has not and never will.
  for (int rank = 0; operation.byEngine && operation.state == Operation::Running && waited > silentFor && rank < size();
       ++rank)
    if (rank != me && carrier->left(rank, 0))
      return fail(BRAID_PEER_DIED, what + ": " + named(rank) +
                                       " has left: it destroyed its communicator, or its process ended in good order");
  if (waited <= settings.deadline)
    return;
  std::string theirs = notes && peer >= 0 ? notes->of(peer) : "";
  fail(BRAID_TIMEOUT, what + " within " + textOfSeconds(settings.deadline) +
                          (theirs.empty() ? "" : "; " + named(peer) + " waits itself, in " + theirs));
}

void Communicator::lookForFaults() {
  if (!failure || lookForLeavers() || !failure)
    return;
  Fault fault = carrier->fault();
  std::string who = fault.peer >= 0 ? named(fault.peer) : "the transport";
  std::string during = active.empty() ? "" : active[0]->request.title() + ": " + active[0]->waitsFor() + ": ";
  switch (fault.kind) {
  case Fault::None:
    for (auto &[name, engine] : engines)
      if (Outcome reported = engine->fault(); !reported)
        return fail(reported.status, during + "engine '" + name + "': " + reported.text);
    if (std::string why; exchange->ended(scope, why))
      fail(BRAID_ABORTED, during + "the launcher says: " + why);
    return;
  case Fault::PeerDied:
    return fail(BRAID_PEER_DIED, during + who + " died: " + fault.what, false);
  case Fault::Aborted:
    return fail(BRAID_ABORTED, during + who + " gave up: " + fault.what, false);
  default:
    return fail(BRAID_SYSTEM, during + who + ": " + fault.what);
  }
}

/// A rank that has left in good order is no fault, until something is wanted of it. True: something moved.
bool Communicator::lookForLeavers() {
  for (size_t i = 0; i < active.size(); ++i) {
    Operation *operation = active[i];
    int peer = -1, lane = -1;
    operation->waitsFor(&peer, &lane);
    if (peer < 0 || !carrier->left(peer, lane))
      continue;
    if (progress()) // what it did before it left counts
      return true;
    std::string what = operation->waitsFor(&peer, &lane);
    if (failure && peer >= 0 && carrier->left(peer, lane)) {
      fail(BRAID_PEER_DIED, operation->request.title() + ": " + what + ": " + named(peer) +
                                " has left: it destroyed its communicator, or its process ended in good order");
      return false;
    }
  }
  return false;
}

bool Communicator::polls() const {
  return std::any_of(active.begin(), active.end(), [](Operation *each) {
    return each->awaitsDevice() || (each->byEngine && each->state == Operation::Running);
  });
}

Outcome Communicator::wait(Operation &operation, void *stream) {
  std::unique_lock<std::mutex> lock(mutex);
  if (operation.state == Operation::Idle)
    return {BRAID_INVALID, named(me) + ": " + operation.request.title() + ": expected it to be started, got a wait"};
  if (operation.state != Operation::Done && size() > 1) {
    bool late = seconds() - operation.startedAt > lateWait;
    if (progress() && late) // steps had been waiting for somebody to take them
      operation.overlaps = true;
    else if (!late)
      operation.overlaps = false;
  }
  if (operation.byEngine)
    operation.byEngine->wanted();
  Outcome done = drive(operation, lock);
  return done ? operation.handOver(stream) : done;
}

Outcome Communicator::test(Operation &operation, bool &done) {
  std::lock_guard<std::mutex> lock(mutex);
  if (operation.state == Operation::Idle)
    return {BRAID_INVALID, named(me) + ": " + operation.request.title() + ": expected it to be started, got a test"};
  if (operation.byEngine)
    operation.byEngine->wanted();
  if ((operation.state != Operation::Done || !carrier->settled()) && failure && !progress() && ++tests % 64 == 0)
    lookForFaults();
  done = operation.state == Operation::Done && carrier->settled();
  if (done)
    operation.state = Operation::Idle;
  return done ? operation.handOver(nullptr) : failure;
}

} // namespace braid::runtime
