//===- Options.h - structs that programs of other versions pass ----------------------------------------------------===//
//
// An options struct starts with its size. A program that was compiled with an older header passes a shorter one: what it does
// not know is 0, the default. One that was compiled with a newer header passes a longer one, which is fine as long as it asks
// for nothing that this library does not know.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_OPTIONS_H
#define BRAID_RUNTIME_CORE_OPTIONS_H

#include "core/Outcome.h"
#include <algorithm>
#include <cstring>

namespace braid::runtime {

/// `oldest`: size in the first version of the header.
template <typename Options>
Outcome readOptions(const Options &given, size_t oldest, const char *name, Options &options) {
  if (given.size < oldest)
    return {BRAID_INVALID, std::string(name) + ": expected its size in the first member, at least " +
                               std::to_string(oldest) + ", got " + std::to_string(given.size)};
  const char *bytes = reinterpret_cast<const char *>(&given);
  for (size_t at = sizeof options; at < given.size; ++at)
    if (bytes[at])
      return {BRAID_UNSUPPORTED, std::string(name) + ": expected 0 in what this library (version " +
                                     std::to_string(BRAID_RT_VERSION) + ", " + std::to_string(sizeof options) +
                                     " bytes) does not know, got " + std::to_string(int(bytes[at])) + " at byte " +
                                     std::to_string(at) + "; the program was built for a newer one"};
  options = {};
  std::memcpy(&options, &given, std::min(given.size, sizeof options));
  options.size = sizeof options;
  return {};
}

} // namespace braid::runtime

#endif
