//===- Library.h - libnccl, opened when it is first wanted ----------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_LIBRARY_H
#define BRAID_RUNTIME_ENGINES_NCCL_LIBRARY_H

#include "core/Outcome.h"
#include "engines/nccl/Abi.h"

namespace braid::runtime::nccl {

struct Library {
#define BRAID_NCCL_MEMBER(version, name, parameters) Result(*name) parameters = nullptr;
  BRAID_NCCL_FUNCTIONS(BRAID_NCCL_MEMBER) ///< null: the library is older than it
#undef BRAID_NCCL_MEMBER
  Result (*ncclGetVersion)(int *version) = nullptr;
  const char *(*ncclGetErrorString)(Result) = nullptr;
  const char *(*ncclGetLastError)(Comm) = nullptr;
  int version = 0; ///< 22809 is 2.28.9

  /// The library of this process, loaded at the first call; null: why.
  static const Library *find(Outcome &why);

  /// "nccl: ncclAllReduce: invalid usage (result 5): ..." for a result that is an error; ncclInProgress is none.
  Outcome check(Result result, const std::string &what, Comm comm = nullptr) const;
  std::string versionText() const { return text(version); } ///< "2.28.9"
  static std::string text(int version);
};

} // namespace braid::runtime::nccl

#endif
