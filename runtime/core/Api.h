//===- Api.h - what the opaque handles are, and ranks as threads or fibers -----------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_API_H
#define BRAID_RUNTIME_CORE_API_H

#include "core/Communicator.h"
#include "core/Forks.h"

struct braid_comm {
  std::unique_ptr<braid::runtime::Communicator> comm;
  unsigned forks = braid::runtime::forksBefore();
};

struct braid_op {
  braid::runtime::Communicator *comm = nullptr;
  braid::runtime::Operation *operation = nullptr;
  unsigned forks = braid::runtime::forksBefore();
};

namespace braid::runtime {

/// A communicator of all ranks of an exchange; with InProcessExchange.h, each rank a thread.
Outcome createInProcess(std::shared_ptr<Exchange> exchange, const CommunicatorOptions &options, braid_comm **comm);

/// braid_sleep; `slowed` as of Communicator::sleep.
braid_status compute(braid_comm *comm, double seconds, double *slowed);

/// All ranks as fibers of the calling thread (transports/emulated/FiberRanks.cpp).
Outcome runFibers(int ranks, const CommunicatorOptions &options, braid_rank_body body, void *context);

} // namespace braid::runtime

#endif
