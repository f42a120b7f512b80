//===- Counters.h - what a port has counted of losses, retries, congestion and pauses ------------------------*- C++ -*-===//
#ifndef BRAID_DOCTOR_COUNTERS_H
#define BRAID_DOCTOR_COUNTERS_H

#include "Ports.h"

namespace braid::doctor {

struct Counter {
  enum Concern {
    Lost,  ///< packets were lost or sent again
    Slowed ///< senders were told to wait
  } concern;
  const char *path; ///< below the port's folder; "pauses": of its network interface
  const char *meaning, *fix;
  int bits = 64; ///< after which it begins again at 0
  /// "out_of_sequence"
  std::string name() const;
};

struct Count {
  const Counter *counter;
  double value;
};

/// One that the device has, and that says nothing.
struct Unknown {
  std::string path; ///< as Counter::path; "packets"
  std::string why;  ///< "expected a number, got '-5'"
};

/// Of one port, at a time or in a time.
struct Counts {
  bool packetsKnown = false; ///< the device counts packets
  double packets = 0;        ///< sent and received
  std::vector<Count> all;    ///< of those counters that the device has
  std::vector<Unknown> unknown;
  std::optional<double> of(const Counter *counter) const;
  bool empty() const { return !packetsKnown && all.empty() && unknown.empty(); }
};

Counts readCounts(Tree &tree, const Port &port);

/// What was counted between two times, by counters that could be read at both and have not fallen: of others nobody knows it, and
/// they are among the unknown.
Counts grown(const Counts &after, const Counts &before);

} // namespace braid::doctor

#endif
