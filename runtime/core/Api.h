//===- Api.h - what the opaque handles are, and ranks as threads or fibers -----------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_API_H
#define BRAID_RUNTIME_CORE_API_H

#include "core/Communicator.h"

struct braid_comm {
  std::unique_ptr<braid::runtime::Communicator> comm;
};

struct braid_op {
  braid::runtime::Communicator *comm = nullptr;
  braid::runtime::Operation *operation = nullptr;
};

namespace braid::runtime {

/// A communicator of all ranks of an exchange; with InProcessExchange.h, each rank a thread.
Outcome createInProcess(std::shared_ptr<Exchange> exchange, const CommunicatorOptions &options, braid_comm **comm);

/// All ranks as fibers of the calling thread (transports/emulated/FiberRanks.cpp).
Outcome runFibers(int ranks, const CommunicatorOptions &options, braid_rank_body body, void *context);

} // namespace braid::runtime

#endif
