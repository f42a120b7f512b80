//===- Library.cpp - finds libnccl ----------------------------------------------------------------------------------===//
#include "engines/nccl/Library.h"
#include <cstdlib>
#include <dlfcn.h>

namespace braid::runtime::nccl {

namespace {

constexpr const char *otherwise =
    "; install NCCL (libnccl2, or pip install nvidia-nccl-cu13), name it in BRAID_NCCL, or "
    "use engine 'braid'";

/// Also of another library with the same functions (BRAID_NCCL), which tests put in its place. Where a program has loaded NCCL
/// already (a framework's own copy), the name finds that one.
Outcome load(Library &nccl) {
  const char *given = std::getenv("BRAID_NCCL");
  std::string name = given && *given ? given : "libnccl.so.2";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {BRAID_UNSUPPORTED, "no library: expected " + name + ", got '" + dlerror() + "'" + otherwise};
  std::string missing;
  auto find = [&](auto &function, const char *symbol, bool needed) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
    if (!function && needed && missing.empty())
      missing = symbol;
  };
  find(nccl.ncclGetVersion, "ncclGetVersion", true);
  find(nccl.ncclGetErrorString, "ncclGetErrorString", true);
  find(nccl.ncclGetLastError, "ncclGetLastError", true);
  if (nccl.ncclGetVersion && nccl.ncclGetVersion(&nccl.version) == ok && nccl.version < oldest)
    return {BRAID_UNSUPPORTED, "" + name + ": expected version " + Library::text(oldest) + " or later, got " +
                                   nccl.versionText() + otherwise};
#define BRAID_NCCL_LOAD(first, function, parameters)                                                                   \
  if (nccl.version >= first)                                                                                           \
    find(nccl.function, #function, first == 0);
  BRAID_NCCL_FUNCTIONS(BRAID_NCCL_LOAD)
#undef BRAID_NCCL_LOAD
  if (!missing.empty())
    return {BRAID_UNSUPPORTED, "" + name + ": expected a function " + missing + ", got none" + otherwise};
  return {};
}

} // namespace

const Library *Library::find(Outcome &why) {
  struct Found {
    Library library;
    Outcome outcome = load(library);
  };
  static const Found *found = new Found; // never unloaded: NCCL has threads
  why = found->outcome;
  return why ? &found->library : nullptr;
}

std::string Library::text(int version) {
  int major = version >= 10000 ? version / 10000 : version / 1000; // NCCL_VERSION
  int minor = version >= 10000 ? version / 100 % 100 : version / 100 % 10;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(version % 100);
}

Outcome Library::check(Result result, const std::string &what, Comm comm) const {
  if (result == ok || result == inProgress)
    return {};
  const char *more = ncclGetLastError(comm);
  std::string text = what + ": " + ncclGetErrorString(result) + " (result " + std::to_string(result) + ")";
  if (more && *more)
    text += std::string(": ") + more;
  return {result == remoteError ? BRAID_PEER_DIED : BRAID_SYSTEM, text + "; NCCL_DEBUG=WARN says more"};
}

} // namespace braid::runtime::nccl
