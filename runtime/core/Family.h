//===- Family.h - what the communicators of one rank share --------------------------------------------------------===//
//
// A communicator, its subsets and theirs are one family on each rank. Whoever waits on one of them drives the others too:
// else an operation started on a subset would stand still while its rank waits, or computes, elsewhere. A member that
// another thread is using is left to that thread.
//
// Queues: operations planned with one queue and on one fabric run one after another, in the order of their starts, which
// is the same on all ranks. That is the rule that plans are priced by: one collective at a time on a fabric.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_FAMILY_H
#define BRAID_RUNTIME_CORE_FAMILY_H

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace braid::runtime {

class Clock;
class Communicator;
class Operation;

class Family {
public:
  void join(Communicator &member);
  void leave(Communicator &member);
  bool alone() const { return count.load(std::memory_order_relaxed) == 1; }

  /// The caller holds its own lock.
  bool progressOthers(const Communicator &caller);
  void armOthers(const Communicator &caller, Clock &clock);

  void started(const Operation &operation);
  void ended(const Operation &operation);
  bool hasTurn(const Operation &operation);
  std::string waitsFor(const Operation &operation);

  /// A step begins.
  void begin(uint64_t number);
  std::atomic<uint64_t> begun{0}; ///< steps; 0: none is announced
  std::atomic<uint64_t> step{0};  ///< the number of this one
  /// Operations that have been launched and have not ended: inside a host, between hosts. Counted where the transport has a clock.
  std::atomic<int> inFlight[2] = {};

  /// A member has failed, or could not be made. Those that are made from now on know it.
  void failed(const std::string &why);
  /// The process ends. In good order: all members tell their peers; else, if one has failed, those that were there then say why.
  void farewell(bool good);

private:
  template <typename Body> void eachOther(const Communicator &caller, Body body);

  /// Recursive: an operation that progresses asks for its turn.
  std::recursive_mutex mutex;
  std::vector<Communicator *> members;
  std::atomic<size_t> count{0};
  std::map<int, std::deque<const Operation *>> queues;
  std::vector<std::string> failures; ///< of members, in the order of time
};

} // namespace braid::runtime

#endif
