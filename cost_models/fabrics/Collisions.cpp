//===- Collisions.cpp - flows hashed over equal uplinks: balls into bins ----------------------------------------===//
//
// A leaf switch with U uplinks spreads the flows of its hosts over them by a hash of addresses and ports. Two line-rate
// flows on one uplink get half of it each, for as long as the job lives, and a synchronised collective runs at the pace
// of its slowest flow. A flow that is split over q queue pairs with source ports of their own is q balls of 1/q the
// rate: more balls, more even bins. Slowest flow, mean over jobs, 16 uplinks: q = 1 32 %, 4 51 %, 16 68 %.
//
// Of thousands of leaves only the fullest uplink of all counts, which is drawn from its distribution: an uplink gets a binomial number
// of its leaf's n balls, and that rarely one has more than m happens to so many uplinks as to independent ones, e^(-uplinks P(more than m)).
//===------------------------------------------------------------------------------------------------------------===//
#include "fabrics/Draws.h"
#include <algorithm>
#include <cmath>
#include <vector>

namespace braid::cost {

double drawJobCollision(const FabricProfile &profile, int flows, uint64_t seed, uint64_t job) {
  // A leaf that is not oversubscribed has at most as many line-rate flows as uplinks: more flows are more leaves.
  return drawJobCollision(profile, flows, 0, {double(flows), 1}, seed, job);
}

/// Most balls on an uplink of any of `leaves` leaves, each of which throws `balls` at its `uplinks`: the smallest number that is not
/// passed with probability `quantile`.
static int fullestOf(double leaves, int balls, int uplinks, double quantile) {
  if (uplinks == 1)
    return balls;
  double hit = 1.0 / uplinks, above = 0, least = -std::log(quantile) / (leaves * uplinks);
  double mean = balls * hit;
  // setting: from where nothing is above that a double would tell
  for (int m = int(std::min(double(balls), mean + 16 * std::sqrt(mean) + 64)); m > 0; --m) {
    above += std::exp(std::lgamma(balls + 1.0) - std::lgamma(m + 1.0) - std::lgamma(balls - m + 1.0) +
                      m * std::log(hit) + (balls - m) * std::log1p(-hit));
    if (above > least)
      return m;
  }
  return 1;
}

double drawJobCollision(const FabricProfile &profile, int flows, int flowsPerLeaf, const HashedUplinks &up,
                        uint64_t seed, uint64_t job) {
  int uplinks = profile.collisionUplinks, split = std::max(1, profile.collisionFlowsPerNic);
  if (uplinks <= 0 || flows <= 1)
    return 1;
  DrawPlace place;
  place.seed = seed;
  place.job = job;
  place.purpose = purpose::jobCollision;
  uint64_t here = draws::bits(place);
  int perLeaf = flowsPerLeaf > 0 ? flowsPerLeaf : uplinks;
  int worst = 1;
  constexpr double many = 8192; // setting: balls, above which the draw of all would take longer than what it is for
  bool drawn = double(flows) * split > many && flows >= 16 * perLeaf; // setting: leaves
  if (drawn)
    worst =
        fullestOf(double(flows) / perLeaf, perLeaf * split, uplinks, std::max(uniform(place), 1e-12)); // setting: not 0
  std::vector<int> balls(uplinks);
  for (int first = 0; first < flows && !drawn; first += perLeaf) {
    std::fill(balls.begin(), balls.end(), 0);
    for (int flow = first; flow < std::min(first + perLeaf, flows); ++flow)
      for (int part = 0; part < split; ++part) {
        uint64_t bits = draws::mix(here, uint64_t(flow) << 32 | uint64_t(part));
        int bin = int((unsigned __int128)(bits) * unsigned(uplinks) >> 64);
        worst = std::max(worst, ++balls[bin]);
      }
  }
  // `worst` balls of 1 / split of a line each are on the fullest uplink. 26 flows on 8 lines get 0.31 of a line each, shared
  // evenly. Hashed over 32 uplinks of a quarter line with 4 on the fullest, the slowest get 0.25 / 4 = 0.06: a fifth.
  double slowest = std::min(1.0, up.rate * split / worst), even = std::min(1.0, up.lines / std::max(1, flowsPerLeaf));
  return std::min(1.0, slowest / even);
}

} // namespace braid::cost
