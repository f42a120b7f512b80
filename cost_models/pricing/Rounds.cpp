//===- Rounds.cpp - which flows of a collective are under way at once ---------------------------------------------===//
//
// The step programs executed in logical time: a message that is sent in round r is there in round r + 1, and steps take no time. A
// ring of n ranks has one set of n flows in each of its rounds; recursive doubling another set of pairs in each round.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Played.h"
#include <algorithm>
#include <deque>

namespace braid::cost {

using algorithms::Action;
using algorithms::Step;

namespace {

struct LogicalLane {
  const PlayedRank *rank = nullptr;
  int number = 0; ///< of the rank
  std::vector<const Step *> steps;
  size_t next = 0;
  int round = 0;
};

class LogicalTime {
public:
  explicit LogicalTime(const std::vector<PlayedRank> &ranks) {
    for (const PlayedRank &rank : ranks)
      channels = std::max(channels, rank.program.channels);
    lanes.resize(ranks.size() * size_t(channels));
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      for (int channel = 0; channel < channels; ++channel) {
        lanes[rank * size_t(channels) + size_t(channel)].rank = &ranks[rank];
        lanes[rank * size_t(channels) + size_t(channel)].number = int(rank);
      }
      for (const Step &step : ranks[rank].program.steps)
        lanes[rank * size_t(channels) + size_t(step.channel)].steps.push_back(&step);
    }
  }

  /// Calls sent(round, from, to, part) for each message.
  template <typename Sent> void run(Sent sent) {
    std::deque<size_t> ready;
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      ready.push_back(lane);
    while (!ready.empty()) {
      size_t index = ready.front();
      ready.pop_front();
      LogicalLane &lane = lanes[index];
      while (lane.next < lane.steps.size()) {
        const Step &first = *lane.steps[lane.next];
        size_t length = 1;
        double chunks = first.count;
        for (; lane.steps[lane.next + length - 1]->more; ++length)
          chunks += lane.steps[lane.next + length]->count;
        int peer = (*lane.rank->group)[size_t(first.peer)];
        if (first.action == Action::Send) {
          size_t target = size_t(peer) * size_t(channels) + size_t(first.channel);
          arrivals[{lane.number, target}].push_back(lane.round + 1);
          sent(lane.round, lane.number, peer, chunks / lane.rank->program.chunks);
          ready.push_back(target);
        } else if (first.action != Action::Combine) {
          std::deque<int> &there = arrivals[{peer, index}];
          if (there.empty())
            break;
          lane.round = std::max(lane.round, there.front());
          there.pop_front();
        }
        lane.next += length;
      }
    }
  }

private:
  int channels = 1;
  std::vector<LogicalLane> lanes;
  std::map<std::pair<int, size_t>, std::deque<int>> arrivals; ///< (from rank, lane) -> rounds
};

} // namespace

std::vector<FlowRound> PlayedCollective::rounds(const PlayedNetwork &network) const {
  const Cluster &cluster = network.topology.cluster();
  int ranks = int(network.deviceOf.size());
  std::map<int, FlowRound> byTime;
  LogicalTime(programs).run([&](int round, int from, int to, double part) {
    if (from < ranks && to < ranks &&
        cluster.hostOf(network.deviceOf[size_t(from)]) != cluster.hostOf(network.deviceOf[size_t(to)]))
      byTime[round][{from, to}] += part;
  });
  std::map<std::vector<std::pair<int, int>>, FlowRound> byPairs;
  for (const auto &[time, round] : byTime) {
    std::vector<std::pair<int, int>> pairs;
    for (const auto &[ends, part] : round)
      pairs.push_back(ends);
    FlowRound &same = byPairs[pairs];
    for (const auto &[ends, part] : round)
      same[ends] += part;
  }
  std::vector<FlowRound> all;
  for (auto &[pairs, round] : byPairs)
    all.push_back(std::move(round));
  return all;
}

} // namespace braid::cost
