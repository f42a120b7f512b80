//===- Inner.cpp - communicators inside an engine of another one -------------------------------------------------------===//
//
// The engine of islands runs collectives of smaller communicators, whose operations it drives while its own is driven. Their locks are
// only tried then: whoever has one may be waiting for the family, which this rank may have.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Communicator.h"

namespace braid::runtime {

Outcome Communicator::makeInner(const std::vector<int> &ranks, const std::string &engine,
                                std::unique_ptr<Communicator> &inner) {
  CommunicatorOptions wanted = settings;
  wanted.islands.clear();
  wanted.engine = engine;
  return connectSubset(ranks, wanted, inner);
}

Outcome Communicator::agreeOnInner(const std::string &what, const Outcome &mine) {
  return exchange->agree(key + "/islands/" + what, members, mine, settings.deadline);
}

Outcome Communicator::driveInner(Operation &operation, bool &done) {
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  done = false;
  if (!lock.owns_lock())
    return {};
  if (!failure)
    return failure;
  if (operation.state == Operation::Idle)
    if (Outcome begun = begin(operation, nullptr); !begun)
      return begun;
  progressOwn();
  done = operation.state == Operation::Done && carrier->settled() && failure;
  if (done)
    operation.state = Operation::Idle;
  return failure;
}

Outcome Communicator::innerFault() {
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  for (auto each = engines.begin(); lock.owns_lock() && each != engines.end(); ++each)
    if (Outcome reported = each->second->fault(); !reported)
      return reported;
  return {};
}

void Communicator::endInner() {
  std::lock_guard<std::mutex> lock(mutex);
  if (failure)
    fail(BRAID_ABORTED, "the communicator that it is part of has failed", false);
  parted = true; // by that one
}

} // namespace braid::runtime
