//===- HostIdentity.h - which ranks run on one host ----------------------------------------------------------------===//
//
// A host is its name and its boot id (containers may share one of them); two processes share memory if also /dev/shm is the
// same file system. Ranks exchange these and find their place among their neighbours; rank modulo anything is never right,
// since launchers place ranks as they like.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_HOSTIDENTITY_H
#define BRAID_RUNTIME_BOOTSTRAP_HOSTIDENTITY_H

#include "core/Outcome.h"
#include <cstdint>
#include <string>
#include <vector>

namespace braid::runtime {

struct HostIdentity {
  std::string host, bootId, memory;
  uint64_t hash = 0; ///< of all three; equal hashes alone prove nothing

  std::string encode() const;
  static bool decode(const std::string &text, HostIdentity &identity);
  /// Compares the hash first, then the strings.
  bool sameAs(const HostIdentity &other) const;
};

uint64_t hashOf(const HostIdentity &identity);
HostIdentity thisHost();

/// A rank's place among the ranks of its host.
struct LocalPlace {
  int rank = 0, ranks = 1; ///< among this host's, by rank of the job
  int host = 0, hosts = 1; ///< hosts are numbered by their lowest rank
};
LocalPlace localPlace(const std::vector<HostIdentity> &all, int rank);

} // namespace braid::runtime

#endif
