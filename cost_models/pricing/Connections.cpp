//===- Connections.cpp - how many connections carry a flow where nobody knows the switches' hash ------------------===//
//
// Balls into bins (fabrics/Collisions.cpp): a flow of q connections with source ports of their own is q balls of 1 / q the rate, so
// that uplinks fill more evenly; and each message becomes q of them, which somebody has to post.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Connections.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

// setting: jobs that are drawn, of this seed
static constexpr int jobs = 199;
static constexpr uint64_t connectionSeed = 0x636f6e6e;

/// What the slowest flow gets, of an even share of the uplinks, in the job that is worse than this quantile of jobs.
static double fractionAt(const Candidate &c, FabricProfile profile, const HashedUplinks &up, int connections) {
  profile.collisionFlowsPerNic = std::min(128, connections * /* setting: balls */ std::max(1, c.streamsPerNic));
  std::vector<double> fractions;
  for (int job = 0; job < jobs; ++job)
    fractions.push_back(drawJobCollision(profile, c.flows, c.flowsPerLeaf, up, connectionSeed, uint64_t(job)));
  std::sort(fractions.rbegin(), fractions.rend());
  return fractions[size_t(std::lround(profile.defaultQuantile * (jobs - 1)))];
}

void chooseConnections(Candidate &c, const FabricProfile &profile, const HashedUplinks &up) {
  int least = std::max(1, profile.collisionFlowsPerNic);
  if (c.flows <= 1 || profile.collisionUplinks <= 0 || profile.mostFlowsPerNic <= least || c.wire.value <= 0)
    return;
  auto cost = [&](int connections) { return profile.flowCost * (double(connections - least) * c.serialMessages); };
  double given = fractionAt(c, profile, up, least);
  int best = least;
  double bestFraction = given;
  Seconds bestTime = c.wire / given;
  for (int connections = 2 * least; connections <= profile.mostFlowsPerNic; connections *= 2) {
    double fraction = fractionAt(c, profile, up, connections);
    if (Seconds time = c.wire / fraction + cost(connections); time < bestTime) {
      best = connections;
      bestTime = time;
      bestFraction = fraction;
    }
  }
  if (best == least)
    return;
  c.connections = c.channels = best;
  c.path = "x" + std::to_string(best);
  addTerm(c, &Candidate::fixed, "connections", cost(best),
          text("%d for each flow, of %d at most: %s for each more and each of %.3g messages; in a job at p%.3g of "
               "collisions a flow "
               "then gets %.0f %% of its rate instead of %.0f %%",
               best, profile.mostFlowsPerNic, toString(profile.flowCost).c_str(), c.serialMessages,
               profile.defaultQuantile * 100, 100 * bestFraction, 100 * given));
  sumUp(c);
}

} // namespace braid::cost
