//===- Log.h - whether the environment wants to be told ------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_LOG_H
#define BRAID_RUNTIME_CORE_LOG_H

#include <cstdlib>
#include <string>

namespace braid::runtime {

/// BRAID_LOG is set, and not to off or 0.
inline bool logs() {
  const char *set = std::getenv("BRAID_LOG");
  std::string said = set ? set : "";
  return !said.empty() && said != "off" && said != "0";
}

} // namespace braid::runtime

#endif
