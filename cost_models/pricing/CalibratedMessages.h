//===- CalibratedMessages.h - collectives of a message-passing library, with fitted constants --------------------===//
#ifndef BRAID_COST_MODELS_PRICING_CALIBRATEDMESSAGES_H
#define BRAID_COST_MODELS_PRICING_CALIBRATEDMESSAGES_H

#include "GroupShape.h"

namespace braid::cost {

/// An all_reduce of `bytes` per rank.
struct MessageQuestion {
  Bytes bytes;
  int ranks = 1;
  BytesPerSecond rate; ///< of one rank's link, each direction
  double rebase = 1;   ///< how much longer this job's messages take than the profile's
};

/// The part of the time that scales with the job's latency, and the rest.
struct MessageParts {
  Seconds latency, transfer, reduction;
  double messages = 0; ///< one after another
  Seconds time() const { return latency + transfer + reduction; }
};

/// The algorithms that the model knows, by the names that Open MPI and MPICH have for them: recursive_doubling, ring,
/// segmented_ring, rabenseifner, nonoverlapping (reduce, then broadcast, by binomial trees), linear.
const std::vector<std::string> &messageAlgorithms();

/// `algorithm` is one of messageAlgorithms(); `fitted` in the order of constantsOf(CalibratedModel::Messages).
MessageParts calibratedMessages(const std::string &algorithm, const MessageQuestion &question,
                                const FittedConstants &fitted);

/// What a rank's link carries in each direction: its share of the host's NICs, or the link inside the one host.
BytesPerSecond messageRate(const GroupShape &shape, const Cluster &cluster);

/// All algorithms as candidates with their terms; uses cluster.messageFit, which is not empty.
std::vector<Candidate> calibratedMessageCandidates(Bytes bytes, const GroupShape &shape, const Cluster &cluster);

} // namespace braid::cost

#endif
