//===- Placement.cpp - which rank is on which device ------------------------------------------------------------===//
#include "braid/cost_models/Cluster.h"
#include <climits>
#include <cstdlib>

namespace braid::cost {

static Error fail(const std::string &message) { return Error{"placement: " + message, {}}; }

/// Reads digits from `at` on; -1: there are none, or the number is too large.
static long readNumber(const std::string &text, size_t &at) {
  size_t begin = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9')
    ++at;
  if (at == begin || at - begin > 9)
    return -1;
  return std::strtol(text.substr(begin, at - begin).c_str(), nullptr, 10);
}

static Result<Placement> packed(int ranks, const Cluster &cluster) {
  if (ranks > cluster.ranks())
    return fail("expected at most " + std::to_string(cluster.ranks()) + " ranks, the devices of cluster " +
                cluster.name + ", got a program of " + std::to_string(ranks));
  if (ranks < cluster.ranks())
    return fail("expected " + std::to_string(cluster.ranks()) + " ranks, the devices of cluster " + cluster.name +
                ", got a program of " + std::to_string(ranks) +
                "; for fewer say which: placement=0:0,0:1,... (host:device of each rank; braid-sim: --placement)");
  Placement placement;
  for (int rank = 0; rank < ranks; ++rank)
    placement.deviceOf.push_back(rank);
  return placement;
}

Result<Placement> readPlacement(const std::string &text, int ranks, const Cluster &cluster) {
  if (text.empty() || text == "packed")
    return packed(ranks, cluster);
  Placement placement;
  std::vector<int> rankOn(cluster.ranks(), -1);
  size_t at = 0;
  while (true) {
    size_t begin = at;
    int rank = int(placement.deviceOf.size());
    long host = readNumber(text, at);
    bool colon = at < text.size() && text[at] == ':';
    at += colon;
    long device = colon ? readNumber(text, at) : -1;
    if (host < 0 || device < 0 || (at < text.size() && text[at] != ',')) {
      size_t end = text.find(',', begin);
      return fail("expected packed or host:gpu,host:gpu,..., got \"" +
                  text.substr(begin, end == std::string::npos ? std::string::npos : end - begin) + "\" for rank " +
                  std::to_string(rank));
    }
    std::string entry = std::to_string(host) + ":" + std::to_string(device);
    int devices = host < cluster.hosts ? cluster.devicesIn(int(host)) : cluster.devicesPerHost;
    if (host >= cluster.hosts || device >= devices)
      return fail("expected a host below " + std::to_string(cluster.hosts) + " and a gpu below " +
                  std::to_string(devices) + " for rank " + std::to_string(rank) + ", got " + entry);
    int number = cluster.firstDevice(int(host)) + int(device);
    if (rankOn[number] >= 0)
      return fail("expected a device for each rank, got " + entry + " for ranks " + std::to_string(rankOn[number]) +
                  " and " + std::to_string(rank));
    rankOn[number] = rank;
    placement.deviceOf.push_back(number);
    if (at == text.size())
      break;
    ++at; // the comma
  }
  if (int(placement.deviceOf.size()) != ranks)
    return fail("expected " + std::to_string(ranks) + " entries, one for each rank, got " +
                std::to_string(placement.deviceOf.size()));
  return placement;
}

} // namespace braid::cost
