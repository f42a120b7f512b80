//===- StaleBandwidth.cpp - NCCL's bandwidth between hosts, left behind by a change of the NICs -----------------===//
#include "topology/StaleBandwidth.h"
#include <optional>
#include <sstream>

using namespace braid::cost;

namespace {

/// What NCCL's search reaches of the NICs' rate is more than this.
/// assumption: 0.96 in the files that ship for H100 and A100, 0.9 of what braid-topo writes
constexpr double leastOfNics = 0.7;

/// Where a key stands: in which layers, the file itself first.
struct Standing {
  std::vector<size_t> layers;
  std::vector<std::string> places; ///< "file:line"
};

/// "nccl.bus_bandwidth_inter", through mappings.
Standing standingOf(const std::vector<PlacedNode> &layers, const std::string &path) {
  Standing standing;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    std::optional<PlacedNode> at(
        layers[layer]); // made anew at each word: assigning a node of yaml-cpp changes its document
    std::istringstream words(path);
    std::string word;
    bool found = true;
    while (found && std::getline(words, word, '.')) {
      found = false;
      if (!at->node.IsMap())
        break;
      for (const auto &entry : YAML::Node(at->node))
        if (entry.first.IsScalar() && entry.first.Scalar() == word) {
          PlacedNode child{at->file, entry.second, entry.first};
          at.emplace(child);
          found = true;
          break;
        }
    }
    if (found) {
      standing.layers.push_back(layer);
      standing.places.push_back(at->line());
    }
  }
  return standing;
}

} // namespace

std::string braid::cost::staleBandwidth(const std::vector<PlacedNode> &layers, const Cluster &c) {
  Standing bus = standingOf(layers, "nccl.bus_bandwidth_inter");
  if (c.hosts < 2 || !c.ncclFit.empty() || bus.layers.empty())
    return {};
  BytesPerSecond nics = c.inter.bandwidth * double(c.nicsPerHost);
  bool fits =
      c.nccl.busBandwidthInter.value <= nics.value && c.nccl.busBandwidthInter.value >= leastOfNics * nics.value;
  // Of the keys that files above set, the one that is nearest to the caller.
  std::string key, place;
  size_t nearest = bus.layers.front();
  for (const char *word : {"nics_per_host", "host_groups", "inter.bandwidth"}) {
    Standing changed = standingOf(layers, word);
    bool replaces = changed.layers.size() > 1;
    if (!changed.layers.empty() && changed.layers.front() < nearest && (replaces || !fits)) {
      nearest = changed.layers.front();
      key = word;
      place = changed.places.front();
    }
  }
  if (key.empty())
    return {};
  return "nccl.bus_bandwidth_inter: expected to be set together with the NICs, got " +
         toString(c.nccl.busBandwidthInter) + " of " + bus.places.front() + " beside " + key + " of " + place +
         " (NICs of a host now carry " + toString(nics) +
         "): prices of engine nccl between hosts are those of other NICs";
}

std::string braid::cost::unreachableBandwidth(const std::vector<PlacedNode> &layers, const Cluster &c) {
  BytesPerSecond nics = c.inter.bandwidth * double(c.nicsPerHost);
  constexpr double rounding = 1 + 1e-6; // setting: "44.44 GB/s" beside "355.52 Gb/s"
  Standing bus = standingOf(layers, "nccl.bus_bandwidth_inter");
  if (c.hosts < 2 || bus.places.empty() || c.nccl.busBandwidthInter.value <= nics.value * rounding)
    return {};
  return bus.places.front() + ": nccl.bus_bandwidth_inter: expected at most what the NICs of a host carry, " +
         toString(nics) + " (" + std::to_string(c.nicsPerHost) + " x " + toString(c.inter.bandwidth) + "), got " +
         toString(c.nccl.busBandwidthInter) +
         ": it is that of a ring, of whose bytes 2 (n-1)/n cross them; trees and switches that add may be measured "
         "faster";
}
