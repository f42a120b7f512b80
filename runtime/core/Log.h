//===- Log.h - whether the environment wants to be told ------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_LOG_H
#define BRAID_RUNTIME_CORE_LOG_H

#include <cstdlib>
#include <string>

namespace braid::runtime {

/// BRAID_LOG is on. `wrong`: what is wrong with it, or empty.
inline bool logs(std::string *wrong = nullptr) {
  const char *set = std::getenv("BRAID_LOG");
  std::string said = set ? set : "";
  bool on = said == "on" || said == "1" || said == "info";
  if (wrong && !on && !said.empty() && said != "off" && said != "0")
    *wrong = "BRAID_LOG: expected on or off, got '" + said + "'";
  return on;
}

} // namespace braid::runtime

#endif
