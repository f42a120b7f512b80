//===- CalibratedMessages.cpp - collectives of a message-passing library, with fitted constants ------------------===//
//
// n ranks, V bytes each. Capital constants are fitted.
//
//   message(s, buffer) = LATENCY (1 + RENDEZVOUS s / (s + 8 KiB)) + s / (rate BANDWIDTH) + s / MEMORY cold(buffer)
//   cold(b) = 1 / (1 + (CACHE / b)^2)     the part that has left the cache before the processor reads it
//   reduce(s) = s / REDUCTION
//
//   recursive_doubling  floor(log2 n) messages of V, received into a buffer of V, and as many reductions of V; other
//                       than powers of two: 2 messages and a reduction more
//   rabenseifner        messages of V/2, V/4, ... twice, received into a buffer of V, reduced once; other than powers of
//                       two: 2 messages of V/2, one of V, a reduction of V/2 more
//   ring                2 (n - 1) messages of V/n, received into a buffer of V/n: to the next rank, whose latency is
//                       NEIGHBOUR of a distant one's, at the rate of the slowest link, n^-SLOWEST of a link's
//   segmented_ring      the same in segments of 1 MiB
//   nonoverlapping      a binomial tree up, reducing, and one down: 2 ceil(log2 n) messages of V
//   linear              n - 1 messages of V into the root, reduced, and n - 1 out of it
//
// Formulas of steps and bytes: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", 2005; coll/tuned of Open MPI for what is done where n is not a power of two.
//
// What decides between rings and the others on hosts' memory (Leonardo, MareNostrum 5; 64 MiB and more): they receive
// into a buffer as large as the operand, which has left the cache when it is reduced; a ring's does not. And a ring's
// rate falls with n, since one slow link is enough.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/CalibratedMessages.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

const std::vector<std::string> &messageAlgorithms() {
  static const std::vector<std::string> names = {"recursive_doubling", "ring",           "rabenseifner",
                                                 "segmented_ring",     "nonoverlapping", "linear"};
  return names;
}

namespace {

// assumption: where half of a long message's agreement on its buffer shows; of the order of eager limits (4 to 64 KiB)
constexpr double rendezvousBytes = 8192;
// source: Open MPI coll/tuned, coll_tuned_allreduce_decision_fixed: the segments of its segmented ring
constexpr double segmentBytes = 1 << 20;

/// Adds up messages and reductions that follow each other.
class Sum {
public:
  Sum(const MessageQuestion &question, const FittedConstants &fitted) : q(question), c(fitted) {}

  /// `count` messages of `bytes`, received into a buffer of `buffer` bytes; `near`: to the next rank.
  void messages(double count, double bytes, double buffer, bool near = false) {
    double latency =
        c[messagefit::Latency] * (1 + c[messagefit::Rendezvous] * bytes / (bytes + rendezvousBytes)) * q.rebase;
    double rate = q.rate.value * c[messagefit::Bandwidth];
    if (near) {
      latency *= c[messagefit::Neighbour];
      rate *= std::pow(q.ranks, -c[messagefit::SlowestLink]);
    }
    double ratio = c[messagefit::Cache] / std::max(buffer, 1.0), cold = 1 / (1 + ratio * ratio);
    parts.latency += microseconds(count * latency);
    parts.transfer += Seconds{count * bytes * (1 / rate + cold / (c[messagefit::Memory] * 1e9))};
    parts.messages += count;
  }
  void reductions(double count, double bytes) {
    parts.reduction += Seconds{count * bytes / (c[messagefit::Reduction] * 1e9)};
  }

  MessageParts parts;

private:
  const MessageQuestion &q;
  const FittedConstants &c;
};

} // namespace

MessageParts calibratedMessages(const std::string &algorithm, const MessageQuestion &q, const FittedConstants &fitted) {
  Sum sum(q, fitted);
  double bytes = double(q.bytes.value);
  int n = q.ranks, levels = int(std::floor(std::log2(n))), power = 1 << levels;
  bool rest = n > power;
  if (n <= 1)
    return sum.parts;
  if (algorithm == "recursive_doubling") {
    sum.messages(levels + (rest ? 2 : 0), bytes, bytes);
    sum.reductions(levels + rest, bytes);
  } else if (algorithm == "rabenseifner") {
    for (double part = 2; part <= power; part *= 2) {
      sum.messages(2, bytes / part, bytes);
      sum.reductions(1, bytes / part);
    }
    if (rest) {
      sum.messages(2, bytes / 2, bytes);
      sum.messages(1, bytes, bytes);
      sum.reductions(1, bytes / 2);
    }
  } else if (algorithm == "ring" || algorithm == "segmented_ring") {
    double block = bytes / n, segments = algorithm == "ring" ? 1 : std::max(1.0, std::ceil(block / segmentBytes));
    sum.messages(2 * (n - 1) * segments, block / segments, block / segments, /*near=*/true);
    sum.reductions(n - 1, block);
  } else if (algorithm == "nonoverlapping") {
    sum.messages(2 * (levels + rest), bytes, bytes);
    sum.reductions(levels + rest, bytes);
  } else { // linear
    sum.messages(2 * (n - 1), bytes, bytes);
    sum.reductions(n - 1, bytes);
  }
  return sum.parts;
}

BytesPerSecond messageRate(const GroupShape &shape, const Cluster &cluster) {
  if (shape.hosts <= 1)
    return cluster.intra.bandwidth;
  return cluster.inter.bandwidth * std::min(1.0, std::max(1.0, shape.nics) / shape.perHost);
}

std::vector<Candidate> calibratedMessageCandidates(Bytes bytes, const GroupShape &shape, const Cluster &cluster) {
  std::vector<Candidate> all;
  MessageQuestion q{bytes, shape.ranks, messageRate(shape, cluster)};
  for (const std::string &algorithm : messageAlgorithms()) {
    MessageParts parts = calibratedMessages(algorithm, q, cluster.messageFit);
    Candidate c;
    c.algorithm = algorithm;
    c.noisePerMessage = neighbourNoise(cluster.inter.profile.bulkSigma);
    // Fits are of medians, which hold the mean noise of messages; the price without noise does not.
    parts.latency = parts.latency / (1 + cluster.inter.profile.bulkMean * c.noisePerMessage);
    c.nodes = shape.hosts;
    c.why.name = algorithm;
    c.why.how =
        text("messages and reductions with this cluster's calibration; %d ranks on %d hosts", shape.ranks, shape.hosts);
    addTerm(c, &Candidate::latency, "messages", parts.latency, text("%g, one after another", parts.messages));
    addTerm(c, shape.hosts > 1 ? &Candidate::wire : &Candidate::fixed, "transfer", parts.transfer,
            text("%s of a link of %s, and what passes through memory",
                 text("%.3g", cluster.messageFit[messagefit::Bandwidth]).c_str(), toString(q.rate).c_str()));
    addTerm(c, &Candidate::fixed, "reduction", parts.reduction,
            text("%.3g GB/s", cluster.messageFit[messagefit::Reduction]));
    c.serialMessages = parts.messages;
    sumUp(c);
    all.push_back(std::move(c));
  }
  return all;
}

} // namespace braid::cost
