//===- EventOrder.h - one block's schedule as an order that can be changed and undone ------------------------------===//
//
// Private part of the local search (Anneal.cpp). A state is an order of nodes (kernels, and starts of buckets), each as early as
// those before it allow; waits stand where something needs them, as in the list scheduler. Every schedule is such an order, and
// its time is what StepPlayer plays. A node is called by a task: a kernel's own, a bucket's first one.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_EVENTORDER_H
#define BRAID_COST_MODELS_SCHEDULE_EVENTORDER_H

#include "braid/cost_models/Schedule.h"
#include "pricing/PriceLine.h"
#include "simulate/Slowdown.h"
#include <initializer_list>
#include <map>
#include <utility>

namespace braid::cost {

class EventOrder {
public:
  /// `times`: of one run of each block that this one nests.
  EventOrder(const Block &block, const BlockSchedule &start, const Pricer &pricer, int inFlight,
             const std::vector<Seconds> &times);

  /// Plays the order, of which all before the first change is known. Seconds; more than `limit` as soon as that is certain:
  /// when what is left of the stream's or a channel's work cannot be done by then.
  double play(double limit);
  void accept(); ///< the change that was played
  void reject();

  /// Changes, each to be played and then accepted or rejected; false: nothing changed.
  /// Takes the node at place `at` to place `to`, or as near as its segment goes, along with what must stay before or behind it.
  bool shift(int at, int to);
  /// Makes one bucket of two, at the place of the later one.
  bool join(int one, int other);
  /// Takes a collective out of its bucket, and about `reach` places away (earlier if below 0).
  bool leave(int task, int reach);

  int size() const { return int(order.size()); }
  int place(int node) const { return places[node]; }
  int bucketOf(int task) const { return leader[task]; }
  size_t membersOf(int node) const { return members[node].size(); }
  /// Collectives that could share a bucket with another one, and of one of them all such.
  const std::vector<int> &mergeable() const { return shareable; }
  const std::vector<int> &like(int task) const { return keys.at({segments[task], block.tasks[task].key}); }
  /// From the last end back: what each node waited for on the stream, on its channel, or as operand.
  const std::vector<int> &criticalChain() const { return chain; }
  double meanDuration() const;
  int64_t looked() const { return work; } ///< events, the measure of effort

  struct State {
    std::vector<int> order, leader;
    std::vector<std::vector<int>> members;
    std::vector<double> durations;
    std::vector<int> candidates;
  };
  State state() const { return {order, leader, members, durations, candidates}; }
  /// Plays it, too.
  double restore(const State &state);
  BlockSchedule written() const;

  /// Bytes alive at the most, as the order is now, also if the change is not accepted yet. `peaks`: of each block that this one nests.
  Bytes peak(const std::vector<Bytes> &peaks);

private:
  enum Kind : char { Kernel, Alone, Start, Blocking }; // alone: with nothing in flight; blocking: awaited at once
  struct Played {
    double end = 0;
    int from = -1; // the node that it waited for
  };
  /// What the player knows at a place of the order.
  struct Moment {
    double clock = 0, last = 0;        // of the stream; the latest end
    double channel[2] = {0, 0};        // ends of what was started
    double work = 0, load[2] = {0, 0}; // still to do after this place
    int started[2] = {0, 0};           // buckets of each fabric
    int stream = -1, longest = -1;     // nodes: before it on the stream, of the latest end
  };

  bool isBucket(int node) const { return kinds[node] >= Start; }
  template <class Visit> void forEachEvent(Visit visit) const;
  void takeBuckets(const BlockSchedule &start);
  void set(const State &state);
  void save(std::initializer_list<int> nodes);
  void renumber();
  void reprice(int first);
  double pass(int until, double end);

  const Block &block;
  const Pricer &pricer;
  Slowdown slowdown;
  int inFlight;
  std::vector<int> segments;
  std::vector<Kind> kinds;                     // of each task
  std::vector<std::vector<int>> reads;         // collectives among its operands
  std::vector<std::vector<int>> before, after; // operands and the one before in the chain; the other way round
  std::vector<int> fabrics, shareable;
  std::map<std::pair<int, int>, std::vector<int>> keys; // segment and key: collectives that may share a bucket
  std::map<std::pair<int, int>, PriceLine> lines;       // key and kind
  // The state.
  std::vector<int> order, leader;
  std::vector<std::vector<int>> members; // of each node, ascending; of a task that leads none: empty
  std::vector<double> durations;
  std::vector<int> candidates;
  static constexpr int cheapest = -1; ///< setting: as a candidate: not looked up yet
  // As accepted, and as played after a change.
  std::vector<int> places, chain, history[2], keptHistory[2]; // history: nodes in the order of their starts
  std::vector<Played> played, kept;
  std::vector<Moment> moments, trial;
  // The change.
  int changed = 0, stopped = 0; // first place that changed; where playing it ended
  bool rebucketed = false;
  struct {
    std::vector<int> order, leader;
    std::vector<std::pair<int, std::vector<int>>> members; // of the nodes that change only
    std::vector<double> durations;
    std::vector<int> candidates;
  } saved;
  std::vector<int> window;
  std::vector<char> marked;
  int64_t work = 0;
};

} // namespace braid::cost

#endif
