//===- Environment.h - names variables of the environment in errors --------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_ENVIRONMENT_H
#define BRAID_RUNTIME_CORE_ENVIRONMENT_H

#include <cstdlib>
#include <string>

namespace braid::runtime {

/// " (BRAID_ENGINE)" if that variable holds this text, which an option may have given instead; else nothing.
inline std::string byVariable(const char *variable, const std::string &text) {
  const char *set = std::getenv(variable);
  return set && text == set ? " (" + std::string(variable) + ")" : "";
}

} // namespace braid::runtime

#endif
