//===- State.h - what the calls of the stand-in share ---------------------------------------------------------------===//
#ifndef BRAID_TEST_NCCL_STATE_H
#define BRAID_TEST_NCCL_STATE_H

#include "test/nccl/Calls.h"

extern "C" {
#define STAND_IN_DECLARE(version, function, parameters) braid::runtime::nccl::Result function parameters;
namespace braid::runtime::nccl {
BRAID_NCCL_FUNCTIONS(STAND_IN_DECLARE)
}
}

namespace braid::runtime::nccl {

int version();        ///< that the library says it has
std::string folder(); ///< where ranks meet

/// Of this thread: the file of its calls, once it has a rank, and the last error.
extern thread_local std::string callsFile, lastError;
void record(const std::string &line, const std::string &to = callsFile);
/// The error of a call, in words.
Result refuse(Result result, const std::string &text, Comm comm = nullptr);
/// Whether this version is older than the function.
bool tooOld(int first, const char *what, Result &result);
bool dead(Comm comm);
/// As ncclCommEnsureReady has it.
Result ready(Comm comm, const char *what);
/// Puts what a group has called into its stream.
void enqueue(const std::shared_ptr<Batch> &batch);

} // namespace braid::runtime::nccl

#endif
