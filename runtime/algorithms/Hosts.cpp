//===- Hosts.cpp - the ranks of each host -----------------------------------------------------------------------===//
#include "Hosts.h"
#include "braid/runtime/algorithms/Levels.h"
#include <algorithm>
#include <unordered_map>

namespace braid::algorithms {

Hosts::Hosts(int ranks, const StepOptions &options, bool even) {
  bool known = int(options.hosts.size()) == ranks;
  if (known) {
    std::unordered_map<int, size_t> index;
    for (int rank = 0; rank < ranks; ++rank) {
      auto [found, isNew] = index.try_emplace(options.hosts[rank], members.size());
      if (isNew)
        members.emplace_back();
      members[found->second].push_back(rank);
    }
    for (const std::vector<int> &host : members)
      known &= !even || host.size() == members[0].size();
  }
  if (!known) {
    int perHost = dealtPerHost(ranks);
    members.assign(ranks / perHost, {});
    for (int rank = 0; rank < ranks; ++rank)
      members[rank / perHost].push_back(rank);
  }
  rails = ranks;
  for (const std::vector<int> &host : members)
    rails = std::min(rails, int(host.size()));
}

int Hosts::hostOf(int rank) const {
  for (int host = 0; host < count(); ++host)
    if (std::binary_search(members[host].begin(), members[host].end(), rank))
      return host;
  return -1;
}

int Hosts::placeOf(int rank) const {
  const std::vector<int> &host = members[hostOf(rank)];
  return int(std::lower_bound(host.begin(), host.end(), rank) - host.begin());
}

} // namespace braid::algorithms
