//===- PlayedDelay.cpp - how the noise of a step program's messages adds up, by plays --------------------------------===//
#include "pricing/PlayedDelay.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace braid::cost {

/// setting: so many messages are played for one size: of 1,024 plays, 10 are beyond the p99.
static constexpr int64_t playedMessages = 65536;
static constexpr size_t playsForMean = 128; // a standard error of 3 % of the mean
static constexpr int64_t fewestPlays = 128, mostPlays = 1024;

PlayedNoise::PlayedNoise(std::shared_ptr<const PlayedCollective> collective, const Topology &topology,
                         const Placement &placement, BytesPerSecond reduction)
    : collective(std::move(collective)), topology(topology), placement(placement), reduction(reduction) {}

std::vector<double> PlayedNoise::play(Bytes bytes, size_t plays) const {
  PlayedNetwork network(topology, placement);
  network.helpers = collective->helpers();
  auto time = [&](const PlayOptions &options) {
    Result<Seconds> played = collective->play(bytes, network, options);
    return played ? played->value : 0; // the checker proves that programs end
  };
  PlayOptions options;
  options.reduction = reduction;
  double quiet = time(options);
  std::vector<double> late(plays);
  for (size_t i = 0; i < late.size(); ++i) {
    DrawPlace place;
    place.operation = i;
    addMessageNoise(options, place, topology, placement);
    late[i] = std::max(0.0, time(options) - quiet);
  }
  std::sort(late.begin(), late.end());
  return late;
}

void PlayedNoise::playFrom(Bytes bytes, const DrawPlace &place, std::vector<double> &clocks) const {
  PlayedNetwork network(topology, placement);
  network.helpers = collective->helpers();
  PlayOptions options;
  options.reduction = reduction;
  addMessageNoise(options, place, topology, placement);
  double first =
      *std::min_element(clocks.begin(), clocks.end()); // times that a player counts exactly are short (Ticks.h)
  std::vector<double> begins, ends;
  for (double clock : clocks)
    begins.push_back(clock - first);
  options.begins = &begins;
  options.ends = &ends;
  if (collective->play(bytes, network, options))
    for (size_t rank = 0; rank < clocks.size(); ++rank)
      clocks[rank] = std::max(clocks[rank], first + ends[rank]);
}

Seconds PlayedNoise::quiet(Bytes bytes) const {
  PlayedNetwork network(topology, placement);
  network.helpers = collective->helpers();
  PlayOptions options;
  options.reduction = reduction;
  Result<Seconds> played = collective->play(bytes, network, options);
  return played ? *played : Seconds();
}

Seconds PlayedNoise::mean(Bytes bytes) const {
  std::vector<double> late = play(bytes, playsForMean);
  return {std::accumulate(late.begin(), late.end(), 0.0) / double(late.size())};
}

Seconds PlayedNoise::quantile(Bytes bytes, double q) const {
  std::lock_guard<std::mutex> lock(mutex); // played once for each size; the second to ask waits
  auto at = [&](int level) {
    std::vector<double> &late = levels[level];
    if (late.empty())
      // setting: sizes that are played
      late = play({int64_t(1024) << 2 * level},
                  size_t(std::clamp(playedMessages / collective->messages(), fewestPlays, mostPlays)));
    double place = std::clamp(q, 0.0, 1.0) * double(late.size() - 1);
    size_t below = std::min(size_t(place), late.size() - 2);
    return late[below] + (place - double(below)) * (late[below + 1] - late[below]);
  };
  double place = std::log2(std::max(1.0, double(bytes.value) / 1024)) / 2; // setting: as above
  int below = int(place);
  double low = at(below);
  return {place == below ? low : low + (place - below) * (at(below + 1) - low)};
}

bool PlayedDelay::play(const DrawPlace &place, std::vector<double> &clocks) const {
  if (noise->messages() > mostMessages)
    return false;
  noise->playFrom(bytes, place, clocks);
  return true;
}

Seconds PlayedDelay::quiet() const {
  std::call_once(playedQuietly, [this] { withoutNoise = noise->quiet(bytes); });
  return withoutNoise;
}

} // namespace braid::cost
