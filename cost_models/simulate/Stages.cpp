//===- Stages.cpp - ranks that run different programs and send each other messages ---------------------------------===//
#include "braid/cost_models/Stages.h"
#include "simulate/Flatten.h"

using namespace braid::cost;

namespace {

constexpr double unknown = -1; // setting: no time

/// What the collectives of a stage do.
struct Ties {
  std::vector<int> sends, receives; ///< of each bucket of the entry block: a message, or -1
};

class StagesPlayer {
public:
  StagesPlayer(const std::vector<Stage> &stages, const std::vector<Message> &messages, const Pricer &pricer)
      : stages(stages), messages(messages), arrival(messages.size(), unknown) {
    for (const Stage &stage : stages) {
      size_t buckets = stage.schedule.blocks.back().buckets.size();
      flat.push_back(flatten(stage.program, stage.schedule, pricer, /*merge=*/true));
      ties.push_back({std::vector<int>(buckets, -1), std::vector<int>(buckets, -1)});
    }
  }

  Result<StagesPlayed> play() {
    for (size_t m = 0; m < messages.size(); ++m)
      if (!tie(messages[m].from, messages[m].sent, int(m), true) ||
          !tie(messages[m].to, messages[m].received, int(m), false))
        return Error{"message " + std::to_string(m) + ", expected a bucket of its own on both stages", ""};
    StagesPlayed played;
    played.stages.resize(stages.size());
    // A message that arrives lets one stage go on, whose messages let others. Up and down, for they go both ways.
    size_t known = 0, left = stages.size();
    for (bool down = true;; down = !down) {
      size_t before = known;
      left = stages.size();
      for (size_t i = 0; i < stages.size(); ++i) {
        size_t stage = down ? i : stages.size() - 1 - i;
        bool ended = playOne(stage, played.stages[stage], known);
        left -= ended;
      }
      if (left == 0)
        break;
      if (known == before)
        return Error{"stages, expected an order in which all can run, got " + std::to_string(left) +
                         " of which each waits for a message of another",
                     ""};
    }
    for (const Played &stage : played.stages)
      played.total = std::max(played.total, stage.total);
    return played;
  }

private:
  bool tie(int stage, int task, int message, bool sends) {
    const std::vector<Bucket> &buckets = stages[size_t(stage)].schedule.blocks.back().buckets;
    for (size_t b = 0; b < buckets.size(); ++b)
      if (buckets[b].tasks == std::vector<int>{task})
        return (sends ? ties[size_t(stage)].sends : ties[size_t(stage)].receives)[b] = message, true;
    return false;
  }

  /// Plays a stage as far as messages are known; true: to its end.
  bool playOne(size_t stage, Played &played, size_t &known) {
    int entry = int(flat[stage].blocks.size()) - 1;
    bool stopped = false;
    auto time = [&](int block, const FlatEvent &event, const Candidate &, uint64_t, double begin) {
      if (block != entry)
        return event.value;
      int sent = ties[stage].sends[size_t(event.index)], received = ties[stage].receives[size_t(event.index)];
      if (sent < 0 && received < 0)
        return event.value;
      if (sent >= 0 && !stopped && arrival[size_t(sent)] == unknown) {
        arrival[size_t(sent)] = begin + messages[size_t(sent)].time.value;
        ++known;
      }
      if (received < 0)
        return 0.0;
      stopped |= arrival[size_t(received)] == unknown; // nothing after this is true
      return std::max(0.0, arrival[size_t(received)] - begin);
    };
    NoWatcher nobody;
    FlatTimes times = StepPlayer<decltype(time), NoWatcher>(flat[stage], time, nobody).step();
    played.total = {times.total};
    played.compute = {times.compute};
    played.exposed = {times.exposed};
    played.slowed = {times.slowed};
    return !stopped;
  }

  const std::vector<Stage> &stages;
  const std::vector<Message> &messages;
  std::vector<FlatProgram> flat;
  std::vector<Ties> ties;
  std::vector<double> arrival; // of each message
};

} // namespace

Result<StagesPlayed> braid::cost::playStages(const std::vector<Stage> &stages, const std::vector<Message> &messages,
                                             const Pricer &pricer) {
  return StagesPlayer(stages, messages, pricer).play();
}
