//===- Family.cpp - what the communicators of one rank share ------------------------------------------------------===//
#include "core/Family.h"
#include "core/Communicator.h"
#include <algorithm>
#include <chrono>
#include <thread>

namespace braid::runtime {

using Lock = std::lock_guard<std::recursive_mutex>;

void Family::join(Communicator &member) {
  Lock lock(mutex);
  members.push_back(&member);
  member.failuresBefore = failures.size();
  count = members.size();
}

void Family::leave(Communicator &member) {
  Lock lock(mutex);
  members.erase(std::remove(members.begin(), members.end(), &member), members.end());
  count = members.size();
  for (auto &[number, queue] : queues)
    for (const std::unique_ptr<Operation> &operation : member.operations)
      queue.erase(std::remove(queue.begin(), queue.end(), operation.get()), queue.end());
}

/// Locks go from a communicator to the family to another communicator, and the last is only tried: nobody waits in a circle.
template <typename Body> void Family::eachOther(const Communicator &caller, Body body) {
  Lock lock(mutex);
  for (Communicator *member : members)
    if (member != &caller && member->mutex.try_lock()) {
      if (!member->active.empty() && member->failure)
        body(*member);
      member->mutex.unlock();
    }
}

bool Family::progressOthers(const Communicator &caller) {
  bool moved = false;
  eachOther(caller, [&](Communicator &member) { moved |= member.progressOwn(); });
  return moved;
}

void Family::armOthers(const Communicator &caller, Clock &clock) {
  eachOther(caller, [&](Communicator &member) { member.armOwn(clock); });
}

void Family::started(const Operation &operation) {
  if (!operation.queue)
    return;
  Lock lock(mutex);
  queues[operation.queue].push_back(&operation);
}

void Family::ended(const Operation &operation) {
  if (!operation.queue)
    return;
  Lock lock(mutex);
  std::deque<const Operation *> &queue = queues[operation.queue];
  queue.erase(std::remove(queue.begin(), queue.end(), &operation), queue.end());
}

bool Family::hasTurn(const Operation &operation) {
  if (!operation.queue)
    return true;
  Lock lock(mutex);
  return queues[operation.queue].front() == &operation;
}

std::string Family::waitsFor(const Operation &operation) {
  Lock lock(mutex);
  std::deque<const Operation *> &queue = queues[operation.queue];
  return queue.empty() ? "nothing" : "waits for an earlier " + queue.front()->request.title();
}

void Family::begin(uint64_t number) {
  Lock lock(mutex);
  step = number;
  ++begun;
}

void Family::failed(const std::string &why) {
  Lock lock(mutex);
  failures.push_back(why);
}

void Family::farewell(bool good) {
  constexpr int patience = 100; // ms for a thread that is just using a member; it may be the one that ends the process
  Lock lock(mutex);
  for (Communicator *member : members)
    for (int round = 0; round < patience; ++round) {
      if (member->mutex.try_lock()) {
        bool affected = member->failuresBefore < failures.size();
        member->farewell(good, !member->failure ? member->failure.text
                               : affected       ? failures[member->failuresBefore]
                                                : "");
        member->mutex.unlock();
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace braid::runtime
