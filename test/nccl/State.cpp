//===- State.cpp - what is written down, and what is refused --------------------------------------------------------===//
#include "test/nccl/State.h"
#include "test/nccl/Files.h"
#include <cstdlib>
#include <utility>

namespace braid::runtime::nccl {

namespace files = braid::test::files;

thread_local std::string callsFile, lastError;
static thread_local std::string unlogged;

int version() {
  const char *asked = std::getenv("BRAID_FAKE_NCCL_VERSION");
  return asked ? std::atoi(asked) : 22809;
}

std::string folder() {
  const char *asked = std::getenv("BRAID_FAKE_NCCL");
  return asked ? asked : "/tmp";
}

void record(const std::string &line, const std::string &to) {
  std::string text = line + "\n";
  if (to.empty())
    unlogged += text;
  else
    files::append(to, std::exchange(unlogged, {}) + text);
}

Result refuse(Result result, const std::string &text, Comm comm) {
  lastError = text;
  record("REFUSED: " + text, comm ? comm->log : callsFile);
  std::fprintf(stderr, "stand-in for nccl: %s\n", text.c_str());
  if (comm) {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->error = text;
  }
  return result;
}

bool tooOld(int first, const char *what, Result &result) {
  if (version() >= first)
    return false;
  result = refuse(internalError, std::string(what) + " is not in version " + std::to_string(version()));
  return true;
}

bool dead(Comm comm) { return !comm || comm->magic != Handle::alive; }

Result ready(Comm comm, const char *what) {
  if (dead(comm))
    return refuse(invalidArgument, std::string(what) + ": expected a communicator");
  std::lock_guard<std::mutex> lock(comm->mutex);
  if (comm->aborted || comm->revoked || comm->finalized)
    return invalidUsage;
  if (comm->state == inProgress) {
    comm->error =
        std::string(what) + ": attempt to use a communicator before the previous operation returned ncclSuccess";
    std::fprintf(stderr, "stand-in for nccl: %s\n", comm->error.c_str());
    return invalidArgument;
  }
  return comm->state;
}

} // namespace braid::runtime::nccl
