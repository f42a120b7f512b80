//===- HierarchicalRing.cpp - all_reduce in rings inside hosts and rings between hosts ---------------------------===//
//
// Links inside a host are faster than those between hosts, so the long way is taken inside and each byte crosses between
// hosts only once per host:
//
//   1. inside each host, a ring reduce_scatter: member i of the L ranks of a host holds part i of the host's sum
//   2. between hosts, a ring all_reduce of part i among the i-th members of the H hosts
//   3. inside each host, a ring all_gather
//
// The hosts come from the options. If they are not known, or do not have the same number of ranks each, ranks are dealt
// in hosts of L consecutive ones, L the largest divisor of n with L^2 <= n; a prime n gives L = 1, the plain ring.
//
// n = L H ranks, k channels: L parts of H blocks of k chunks.
//
//               steps (chain of messages)   chunks on the wire               bytes sent per rank, buffer of m bytes
//   all_reduce  2 (L-1) + 2 (H-1)           2 k n ((L-1) H + (H-1))          2 m (L-1)/L inside, 2 m (H-1)/n between
//
// Worked example, n = 4, hosts {0, 1} and {2, 3}, buffer p0 p1 of two blocks each: ranks 0 and 1 exchange so that 0 holds
// p0 of a+b and 1 holds p1; ranks 0 and 2 add p0, ranks 1 and 3 add p1, block by block; ranks 0 and 1 exchange again.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Hosts.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::AllReduce; }

namespace {

/// One rank's program as it grows.
struct Rings {
  StepProgram &program;

  /// A turn in the ring of `members`, where this rank has index `me`: n-1 steps in which it sends piece first - s and takes
  /// the one before. Piece i is `width` chunks from base + i * width on, shared out over the channels.
  void turn(const std::vector<int> &members, int me, int first, int base, int width, Action take) {
    int n = int(members.size()), k = program.channels;
    for (int s = 0; s < n - 1; ++s) {
      int sent = ((first - s) % n + n) % n, taken = (sent + n - 1) % n;
      for (int block = 0; block < width / k; ++block)
        for (int channel = 0; channel < k; ++channel)
          program.steps.push_back(
              {Action::Send, members[(me + 1) % n], base + sent * width + block * k + channel, 1, channel});
      for (int block = 0; block < width / k; ++block)
        for (int channel = 0; channel < k; ++channel)
          program.steps.push_back(
              {take, members[(me + n - 1) % n], base + taken * width + block * k + channel, 1, channel});
    }
  }
};

} // namespace

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  std::vector<std::vector<int>> hosts = Hosts(ranks, options, true).members;
  int H = int(hosts.size()), L = int(hosts[0].size()), host = 0, member = 0;
  for (int h = 0; h < H; ++h)
    for (int l = 0; l < L; ++l)
      if (hosts[h][l] == rank) {
        host = h;
        member = l;
      }
  std::vector<int> across;
  for (const std::vector<int> &other : hosts)
    across.push_back(other[member]);
  StepProgram result;
  int k = options.channels, part = H * k;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = k;
  result.chunks = L * part;
  Rings rings{result};
  rings.turn(hosts[host], member, member - 1, 0, part, Action::ReceiveReduce);
  rings.turn(across, host, host - 1, member * part, k, Action::ReceiveReduce);
  rings.turn(across, host, host, member * part, k, Action::Receive);
  rings.turn(hosts[host], member, member, 0, part, Action::Receive);
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  std::vector<std::vector<int>> hosts = Hosts(ranks, options, true).members;
  return 2 * (int64_t(hosts[0].size()) - 1) + 2 * (int64_t(hosts.size()) - 1);
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  std::vector<std::vector<int>> hosts = Hosts(ranks, options, true).members;
  int64_t H = int64_t(hosts.size()), L = int64_t(hosts[0].size());
  return 2 * options.channels * ranks * ((L - 1) * H + (H - 1));
}

Algorithm hierarchicalRing() { return {"hierarchical_ring", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
