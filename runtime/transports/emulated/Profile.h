//===- Profile.h - what the emulated fabric knows of a cluster --------------------------------------------------===//
//
// Links, the links that a message takes from one rank to another, the noise of the two classes of links, two charges of the
// device, and what becomes of computation. Compiled from a cluster file by `braid-sim emit-profile`; the runtime reads no YAML.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_PROFILE_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_PROFILE_H

#include "braid/runtime/draws/Draws.h"
#include <cstdint>
#include <string>
#include <vector>

namespace braid::runtime {

enum class LinkClass { Intra, Inter }; ///< inside a host; anything on the way between hosts

struct EmulatedLink {
  double bandwidth = 0; ///< bytes per second
  double latency = 0;   ///< seconds
  LinkClass of = LinkClass::Inter;
  int spine = -1; ///< of a link between leaf and spine: which spine
};

struct EmulatedProfile {
  static constexpr int longestPath = 8;
  std::string cluster; ///< name
  int ranks = 0;
  std::vector<int> device;                ///< of a rank; a place of draws
  std::vector<int> host;                  ///< of a rank
  std::vector<double> launch;             ///< of a rank: seconds that launching an operation takes
  std::vector<double> reduction;          ///< of a rank: bytes of one operand per second; 0: reductions take no time
  draws::Noise noise[2];                  ///< of each class of links
  double skewPerJob = 0, skewPerStep = 0; ///< sigma of ln(factor on a rank's computation), mean 1
  double slowdown[2] = {1, 1}; ///< factor on computation while operations on links of this class are in flight
  std::vector<EmulatedLink> links;
  /// source * ranks + target -> the paths over which a message is dealt in equal parts, each its links in order.
  std::vector<std::vector<std::vector<int>>> ways;

  const std::vector<std::vector<int>> &waysOf(int source, int target) const {
    return ways[size_t(source) * ranks + target];
  }
  /// The first of them.
  const std::vector<int> &path(int source, int target) const { return waysOf(source, target)[0]; }
  /// While operations of these classes are in flight.
  double slowdownOf(bool intra, bool inter) const {
    return (intra ? slowdown[int(LinkClass::Intra)] : 1) * (inter ? slowdown[int(LinkClass::Inter)] : 1);
  }
  bool crossesHosts(int source, int target) const { return host[source] != host[target]; }
  /// Latency of a message without noise: the sum over its links.
  double latency(int source, int target) const;
  /// The shortest latency from one rank to another; what a wall clock stretches to something that can be slept.
  double shortestLatency() const;

  /// Returns an error, or an empty string and the profile.
  static std::string parse(const std::string &text, EmulatedProfile &profile);
  static std::string read(const std::string &path, EmulatedProfile &profile);
};

} // namespace braid::runtime

#endif
