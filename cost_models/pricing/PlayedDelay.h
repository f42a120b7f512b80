//===- PlayedDelay.h - how the noise of a step program's messages adds up, by plays ----------------------------------===//
//
// For what has no closed form (Noise.h): several ranks of a host behind one NIC, hierarchies, segments. The program is played with
// noise at powers of four of its size, and what it is late by is read between them: small messages add up more noise than large
// ones, which wait for links anyway.
//
// Example: 4 hosts of 2, 17.5 KiB by naive exchange. Each rank waits for the last of six messages from other hosts, and the
// collective for the last of all ranks: its delay is larger than a message's noise, as a maximum is, and varies less beside its mean.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PLAYEDDELAY_H
#define BRAID_COST_MODELS_PRICING_PLAYEDDELAY_H

#include "Delay.h"
#include "Played.h"
#include <map>

namespace braid::cost {

/// Of one collective's programs at any size. Plays when first asked for a size; thread-safe.
class PlayedNoise {
public:
  /// setting: programs of more messages take too long to play. All groups count, since a step waits for the slowest.
  static constexpr int64_t mostMessages = 1024;

  PlayedNoise(std::shared_ptr<const PlayedCollective> collective, const Topology &topology, const Placement &placement,
              BytesPerSecond reduction);
  Seconds quantile(Bytes bytes, double q) const;
  Seconds mean(Bytes bytes) const; ///< of some plays at this very size: a mean needs few
  /// One play in which ranks begin at different times: a rank waits for those alone whose messages it needs.
  void playFrom(Bytes bytes, const DrawPlace &place, std::vector<double> &clocks) const;
  Seconds quiet(Bytes bytes) const;
  int64_t messages() const { return collective->messages(); }

private:
  std::vector<double> play(Bytes bytes, size_t plays) const; ///< how late they were, in order

  std::shared_ptr<const PlayedCollective> collective;
  const Topology &topology;
  const Placement &placement;
  BytesPerSecond reduction;
  mutable std::mutex mutex;
  mutable std::map<int, std::vector<double>> levels; ///< at 1 KiB x 4^key
};

/// Of one candidate.
class PlayedDelay : public Delay {
public:
  PlayedDelay(std::shared_ptr<const PlayedNoise> noise, Bytes bytes) : noise(std::move(noise)), bytes(bytes) {}
  Seconds quantile(double q) const override { return noise->quantile(bytes, q); }
  Seconds mean() const override { return noise->mean(bytes); }
  bool closed() const override { return false; }
  bool play(const DrawPlace &place, std::vector<double> &clocks) const override;
  Seconds quiet() const override;

private:
  static constexpr int64_t mostMessages = 64; ///< setting: that are played for each draw: some microseconds

  std::shared_ptr<const PlayedNoise> noise;
  Bytes bytes;
  mutable std::once_flag playedQuietly;
  mutable Seconds withoutNoise;
};

} // namespace braid::cost

#endif
