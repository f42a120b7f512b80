//===- RuntimeLibrary.cpp - the runtime's C ABI, loaded -------------------------------------------------------------===//
#include "RuntimeLibrary.h"
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <type_traits>
#include <unistd.h>

namespace braid::bench {

/// bin/braid-bench and lib/libbraid_rt.so, in the build and when installed.
static std::string besideThisProgram() {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  std::string path(self, size_t(length > 0 ? length : 0));
  for (int up = 0; up < 2; ++up)
    path = path.substr(0, path.rfind('/'));
  return path + "/lib/libbraid_rt.so";
}

std::string RuntimeLibrary::load(std::string path) {
  if (const char *set = getenv("BRAID_RT_LIBRARY"); path.empty() && set && *set)
    path = set;
  if (path.empty())
    path = besideThisProgram();
  void *library = dlopen(path.c_str(), RTLD_NOW);
  if (!library)
    return dlerror();
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  bool all = find(lastError, "braid_last_error") && find(create, "braid_comm_create") &&
             find(rank, "braid_comm_rank") && find(destroy, "braid_comm_destroy") && find(now, "braid_now") &&
             find(alloc, "braid_alloc") && find(free, "braid_free") && find(plan, "braid_op_plan") &&
             find(start, "braid_op_start") && find(wait, "braid_op_wait") && find(destroyOp, "braid_op_destroy");
  return all ? "" : path + ": not Braid's runtime, or of another release";
}

} // namespace braid::bench
