//===- LowerBound.cpp - a step time that no schedule beats ------------------------------------------------------===//
// For one block without barriers, with heads (what must pass before a task begins) and tails (what must follow it):
//
//   critical path   longest path, collectives at the cheapest price of each alone. A bucket is no faster than any of
//                   its members alone, since prices are monotone in bytes, and a bucket is copied if any of its members
//                   would be.
//   compute         the compute stream does one thing at a time: Jackson's preemptive schedule of its tasks.
//   channel         each fabric's channel serves one collective at a time, however many are queued. A set of collectives
//                   needs at least its smallest head, the time of its bytes and its smallest tail. The bytes of a key
//                   that may share a bucket count as one message, no pack, pad or unpack, or as several if those are
//                   cheaper. Jackson's preemptive schedule at the price of a byte in one message of all bytes finds the
//                   set; the set is then priced. Collectives without a key are served one by one. And where several
//                   share a channel in buckets, every bucket has a start-up: the best buckets of their heads (Batches.h).
//
// Heads and tails: Heads.h. Nested blocks run with nothing in flight: their own bound times their trips counts in the
// paths, on the stream and on the channels.
//
// Of a loop whose trips may overlap (Block::carried), in n trips: no trip of its steady state is shorter than what it computes, than
// what it keeps a channel busy for, or than a recurrence (Cycles.h); so n times each of these. What runs in the next trip leaves a part of
// one trip in front of the loop and behind it, which may run beside other work there: n - 1 trips count in paths and
// on channels.
//
// Where collectives in flight slow kernels (Cluster::compute), all this holds, and more. Let a clock run at 1 / F, F the product of the
// factors of the fabrics on which something is in flight. By that clock a kernel takes what it takes alone, a collective at least its
// price / F, and everything else holds as before: so a step takes the bounds above, of collectives that are so much shorter, by that
// clock, and by the true one what the clock loses, 1 - 1 / F of the time that collectives are in flight: together, if two fabrics
// are, at best, since (1 - 1/f) + (1 - 1/g) is more than 1 - 1 / (f g). Example: kernels of C, hiding collectives of M: C + M (1 - 1/f).
//
// A barrier is a full stop: the bounds of the parts it cuts add up. lowerBound counts no noise; where its mean is above
// zero, expected times are larger still. At the prices of a draw: QuantileBound.cpp.
//===------------------------------------------------------------------------------------------------------------===//
#include "bounds/Batches.h"
#include "bounds/Cycles.h"
#include "bounds/Heads.h"
#include "bounds/LeastPrices.h"
#include "bounds/OneMachine.h"
#include "pricing/PriceLine.h"
#include "schedule/Contraction.h"
#include "simulate/Slowdown.h"
#include <algorithm>
#include <map>
#include <optional>

using namespace braid::cost;

namespace {

/// Prices without noise: monotone in bytes, so that others in a bucket don't matter.
class PlainPrices : public LeastPrices {
public:
  explicit PlainPrices(const Pricer &pricer) : pricer(pricer) {}
  Seconds of(const CollectiveSpec &spec, Bytes) override { return pricer.cheapestTime(spec); }

private:
  const Pricer &pricer;
};

/// A loop in its steady state.
struct Steady {
  Seconds compute, channel[2];
  Seconds slowed; ///< with what collectives in flight take from computing
  Recurrence recurrence;
  std::string witness; ///< of the trip
  Seconds trip() const {
    return {std::max({compute.value, slowed.value, channel[0].value, channel[1].value, recurrence.perTrip()})};
  }
};

struct BlockBounds {
  Bound alone;                  ///< of one run, which nothing else overlaps
  std::optional<Steady> steady; ///< if it is a loop whose trips may overlap
};

class BlockBound {
public:
  BlockBound(const Block &block, const Pricer &pricer, LeastPrices &prices, double computeFactor, int batches,
             const std::vector<BlockBounds> &callees)
      : block(block), pricer(pricer), prices(prices), batches(batches), callees(callees),
        slowdown(pricer.cluster().compute) {
    for (const Task &task : block.tasks)
      if (sharesBuckets(task))
        ofKey[keyOf(task)] += task.spec.bytes;
    for (const Task &task : block.tasks) {
      if (task.kind == Task::Collective)
        durations.push_back(prices.of(task.spec, sharesBuckets(task) ? ofKey[keyOf(task)] : task.spec.bytes));
      else if (task.kind == Task::Nested)
        durations.push_back(overlaps(task) ? (task.trips - 1) * callees[task.block].steady->trip()
                                           : task.trips * callees[task.block].alone.time);
      else
        durations.push_back(computeFactor * task.duration);
    }
  }

  Bound compute() {
    std::vector<int> segments = segmentsOf(block);
    Bound total;
    Seconds largest;
    for (int first = 0, count = int(segments.size()); first < count;) {
      int last = first;
      while (last < count && segments[last] == segments[first])
        ++last;
      Bound part = segmentBound(first, last);
      total.time += part.time;
      if (part.time > largest || total.witness.empty()) {
        largest = part.time;
        total.witness = part.witness;
      }
      first = last;
    }
    if (!segments.empty() && segments.back() > 0)
      total.witness = "parts between barriers, the largest: " + total.witness;
    for (size_t i = 0; i < block.tasks.size(); ++i) { // what a nested block says explains more
      const Task &task = block.tasks[i];
      if (task.kind != Task::Nested || !(total.time.value > 0))
        continue;
      Seconds time = overlaps(task) ? Seconds{longestLoad(task)} : durations[i];
      if (time >= 0.5 * total.time) {
        const BlockBounds &callee = callees[task.block];
        std::string inner = overlaps(task) ? steadyWitness(task, *callee.steady) : callee.alone.witness;
        int share = int(100 * (time / total.time) + 0.5);
        total.witness = share == 100 ? inner : std::to_string(share) + " % in " + task.name + ": " + inner;
        break;
      }
    }
    return total;
  }

  Steady steady() const {
    Steady loop;
    for (size_t i = 0; i < block.tasks.size(); ++i)
      if (onStream(block.tasks[i]))
        loop.compute += streamTime(int(i), durations);
    loop.witness = "the compute stream, busy for " + toString(loop.compute);
    for (Fabric fabric : {Fabric::Intra, Fabric::Inter}) {
      Load load;
      for (size_t i = 0; i < block.tasks.size(); ++i)
        if (block.tasks[i].kind == Task::Nested ||
            (block.tasks[i].kind == Task::Collective && pricer.fabric(block.tasks[i].spec) == fabric))
          add(load, int(i), durations);
      loop.channel[int(fabric)] = {busy(load)};
      if (loop.channel[int(fabric)] == loop.trip() && loop.channel[int(fabric)] > loop.compute)
        loop.witness = describe(fabric, load, busy(load));
    }
    double before = loop.trip().value;
    loop.recurrence = longestRecurrence(block, durations);
    if (loop.recurrence.perTrip() > before * (1 + 1e-9))
      loop.witness = describe(loop.recurrence);
    slow(loop);
    return loop;
  }

private:
  //===- what collectives in flight take from computing -----------------------------------------------------------===//

  struct Loss {
    double seconds = 0;
    double share = 1; ///< of a collective's time, by the clock that stands still for the rest of it
    std::string text() const {
      char factor[32];
      std::snprintf(factor, sizeof(factor), "%.3g", 1 / share);
      return "; counting collectives at 1/" + std::string(factor) + " of their time, and " +
             toString(Seconds{seconds}) + " that they take from computing";
    }
  };
  /// Of all collectives among these tasks.
  Loss lossOf(int first, int last) const {
    Loss loss;
    if (slowdown.absent())
      return loss;
    double busyFor[2] = {0, 0};
    for (Fabric fabric : {Fabric::Intra, Fabric::Inter}) {
      Load load;
      for (int i = first; i < last; ++i)
        if (block.tasks[i].kind == Task::Collective && pricer.fabric(block.tasks[i].spec) == fabric)
          add(load, i, durations);
      busyFor[int(fabric)] = busy(load);
      if (!load.empty())
        loss.share /= slowdown.of(int(fabric));
    }
    int longer = busyFor[1] > busyFor[0];
    double both = busyFor[1 - longer];
    loss.seconds = both * (1 - loss.share) + (busyFor[longer] - both) * (1 - 1 / slowdown.of(longer));
    return loss;
  }
  /// By the clock that loses so much.
  std::vector<Seconds> shortened(const Loss &loss) const {
    std::vector<Seconds> shorter = durations;
    for (size_t i = 0; i < shorter.size(); ++i)
      if (block.tasks[i].kind == Task::Collective)
        shorter[i] = loss.share * shorter[i];
    return shorter;
  }
  void slow(Steady &loop) const {
    Loss loss = lossOf(0, int(block.tasks.size()));
    if (loss.seconds <= 0)
      return;
    std::vector<Seconds> shorter = shortened(loss);
    Seconds stream;
    for (size_t i = 0; i < block.tasks.size(); ++i)
      if (onStream(block.tasks[i]))
        stream += streamTime(int(i), shorter);
    double before = loop.trip().value;
    Recurrence recurrence = longestRecurrence(block, shorter);
    loop.slowed = {loss.seconds + std::max(stream.value, recurrence.perTrip())};
    if (loop.slowed.value > before * (1 + 1e-9))
      loop.witness = (stream.value >= recurrence.perTrip() ? "the compute stream, busy for " + toString(stream)
                                                           : describe(recurrence)) +
                     loss.text();
  }

  bool overlaps(const Task &task) const {
    return task.kind == Task::Nested && callees[task.block].steady && task.trips >= 2;
  }
  /// What a task keeps the compute stream busy for, as that is when a nested block runs: with what stands in front of it and behind it.
  Seconds streamTime(int number, const std::vector<Seconds> &durations) const {
    const Task &task = block.tasks[number];
    return overlaps(task) ? durations[number] + callees[task.block].steady->compute : durations[number];
  }
  /// Whether nothing else of this block can share a message with the parts of one trip that leave the loop.
  bool communicatesAlone(const Task &loop) const {
    return std::none_of(block.tasks.begin(), block.tasks.end(), [&](const Task &other) {
      return other.kind == Task::Collective || (&other != &loop && overlaps(other));
    });
  }
  /// All trips of a loop that overlap.
  double longestLoad(const Task &task) const {
    const Steady &loop = *callees[task.block].steady;
    double load = std::max(task.trips * loop.compute.value, loop.recurrence.of(task.trips));
    if (communicatesAlone(task))
      load = std::max({load, task.trips * loop.channel[0].value, task.trips * loop.channel[1].value});
    return std::max(load, (task.trips - 1) * loop.trip().value);
  }
  std::string steadyWitness(const Task &task, const Steady &loop) const {
    char trips[32];
    std::snprintf(trips, sizeof(trips), "%.0f", task.trips);
    return std::string("steady state, ") + trips + " trips of at least " + toString(loop.trip()) + ": " + loop.witness;
  }
  std::string describe(const Recurrence &recurrence) const {
    int collectives = 0;
    for (int task : recurrence.tasks)
      collectives += block.tasks[task].kind == Task::Collective;
    std::string text = "a recurrence of " + toString(Seconds{recurrence.time});
    if (recurrence.trips > 1)
      text += " in " + std::to_string(recurrence.trips) + " trips";
    if (recurrence.tasks.empty())
      return text;
    return text + " from '" + block.tasks[recurrence.tasks.front()].name + "' to '" +
           block.tasks[recurrence.tasks.back()].name + "', through " + std::to_string(collectives) +
           (collectives == 1 ? " collective" : " collectives") + ", which the next trip begins with";
  }

  Bound segmentBound(int first, int last) {
    Bound best{{}, "nothing to do"};
    auto offer = [&](double time, auto witness) {
      if (time > best.time.value * (1 + 1e-9)) // of equal ones the first
        best = {{time}, witness()};
    };
    offerAll(first, last, durations, 1, offer);
    if (Loss loss = lossOf(first, last); loss.seconds > 0)
      offerAll(first, last, shortened(loss), loss.share,
               [&](double time, auto witness) { offer(time + loss.seconds, [&] { return witness() + loss.text(); }); });
    return best;
  }

  /// `share`: of their time that messages count for in `durations`.
  template <class Offer>
  void offerAll(int first, int last, const std::vector<Seconds> &durations, double share, Offer offer) {
    Heads heads = headsAndTails(block, first, last, durations);
    double stream = 0;
    for (int i = first; i < last; ++i)
      stream += onStream(block.tasks[i]) ? streamTime(i, durations).value : 0;
    offer(stream, [] { return std::string("sum of compute"); });
    for (int i = first; i < last; ++i)
      offer(heads.head[i - first] + durations[i].value + heads.tail[i - first],
            [&] { return pathThrough(i, heads.from, first); });
    for (int i = first; i < last; ++i)
      if (overlaps(block.tasks[i]))
        offer(longestLoad(block.tasks[i]), [] { return std::string(); });
    streamBound(first, last, heads, durations, offer);
    for (Fabric fabric : {Fabric::Intra, Fabric::Inter})
      channelBound(fabric, first, last, heads, durations, share, offer);
  }

  template <class Offer>
  void streamBound(int first, int last, const Heads &heads, const std::vector<Seconds> &durations, Offer offer) {
    std::vector<Job> jobs;
    for (int i = first; i < last; ++i)
      if (onStream(block.tasks[i]))
        jobs.push_back({heads.head[i - first], durations[i].value, heads.tail[i - first]});
    for (int i = first; i < last; ++i)
      if (overlaps(block.tasks[i])) // of the trip that leaves the loop
        jobs.push_back({0, callees[block.tasks[i].block].steady->compute.value, 0});
    OneMachineBound bound = jacksonBound(jobs);
    offer(bound.time, [&] {
      return std::to_string(bound.jobs.size()) + " tasks of the compute stream in " +
             toString(Seconds{bound.time - bound.head - bound.tail}) + ", after " + toString(Seconds{bound.head}) +
             " and before " + toString(Seconds{bound.tail}) + " of the rest";
    });
  }

  std::string pathThrough(int task, const std::vector<int> &from, int first) const {
    int collectives = 0, last = task;
    for (int i = task; i >= first; i = from[i - first]) {
      collectives += block.tasks[i].kind == Task::Collective;
      last = i;
      if (from[i - first] == -2)
        return "critical path: all compute before '" + block.tasks[i].name + "', then through '" +
               block.tasks[task].name + "'";
    }
    if (last == task)
      return "critical path from '" + block.tasks[task].name + "' on";
    return "critical path from '" + block.tasks[last].name + "' through '" + block.tasks[task].name + "', " +
           std::to_string(collectives) + " collectives up to there";
  }

  static bool sharesBuckets(const Task &task) {
    return task.kind == Task::Collective && task.key >= 0 && task.asynchronous;
  }
  // Keys are bucketed within a kind and group; a key that holds several anyway is cut by them.
  using Key = std::tuple<int, int, const RankGroups *, std::string>;
  static Key keyOf(const Task &task) {
    return {task.key, int(task.spec.kind), task.spec.groups.get(), task.spec.elementType};
  }

  /// The cheapest way to send the bytes of `spec`, of a key, as equal messages one after another.
  Seconds cheapestOfAllBytes(CollectiveSpec spec, int parts, const Key &key) const {
    spec.tensors = 0;
    Bytes all = spec.bytes, most = ofKey.at(key);
    Seconds cheapest = prices.of(spec, most);
    for (int split = 2; split <= std::min(parts, 16); split *= 2) {
      spec.bytes = {all.value / split};
      cheapest = std::min(cheapest, double(split) * prices.of(spec, most));
    }
    return cheapest;
  }

  /// What a set of collectives keeps a channel busy for: bytes that may share a bucket as the cheapest messages.
  struct Load {
    struct Sum {
      CollectiveSpec spec;
      int count = 0;
    };
    std::map<Key, Sum> keys;
    double single = 0; ///< seconds of those that are served one by one, and of nested blocks
    int singles = 0;
    Bytes bytes;
    bool empty() const { return keys.empty() && singles == 0; }
  };
  void add(Load &load, int number, const std::vector<Seconds> &durations) const {
    const Task &task = block.tasks[number];
    if (task.kind == Task::Nested) {
      load.single += durations[number].value;
      return;
    }
    load.bytes += task.spec.bytes;
    if (task.key < 0 || !task.asynchronous) {
      load.single += durations[number].value;
      ++load.singles;
      return;
    }
    Load::Sum &sum = load.keys[keyOf(task)];
    if (sum.count++ == 0)
      sum.spec = task.spec;
    else
      sum.spec.bytes += task.spec.bytes;
  }
  double busy(const Load &load, double share = 1) const {
    double sum = load.single;
    for (auto &[key, all] : load.keys)
      sum += share * cheapestOfAllBytes(all.spec, all.count, key).value;
    return sum;
  }

  template <class Offer>
  void channelBound(Fabric fabric, int first, int last, const Heads &heads, const std::vector<Seconds> &durations,
                    double share, Offer offer) {
    std::vector<int> tasks;
    Load whole;
    bool any = false;
    for (int i = first; i < last; ++i) {
      const Task &task = block.tasks[i];
      bool served = task.kind == Task::Collective && pricer.fabric(task.spec) == fabric;
      if (!served && task.kind != Task::Nested)
        continue;
      any |= served;
      tasks.push_back(i);
      add(whole, i, durations);
    }
    if (!any)
      return;
    std::map<Key, double> ofByte;
    for (auto &[key, all] : whole.keys)
      ofByte[key] =
          share * cheapestOfAllBytes(all.spec, all.count, key).value / std::max(1.0, double(all.spec.bytes.value));
    std::vector<Job> jobs;
    for (int i : tasks) {
      const Task &task = block.tasks[i];
      bool alone = task.kind == Task::Nested || task.key < 0 || !task.asynchronous;
      double duration = alone ? durations[i].value : ofByte[keyOf(task)] * double(task.spec.bytes.value);
      jobs.push_back({heads.head[i - first], duration, heads.tail[i - first]});
    }
    OneMachineBound found = jacksonBound(jobs);
    Load critical;
    for (int job : found.jobs)
      add(critical, tasks[job], durations);
    double whenAll = 1e300, tailOfAll = 1e300;
    for (const Job &job : jobs) {
      whenAll = std::min(whenAll, job.head);
      tailOfAll = std::min(tailOfAll, job.tail);
    }
    offerLoad(fabric, critical, found.head, found.tail, share, offer);
    offerLoad(fabric, whole, whenAll, tailOfAll, share, offer);
    if (batches && whole.keys.size() == 1 && whole.singles == 0 && whole.single == 0 && tasks.size() > 1 &&
        tasks.size() <= 2000)
      batchBound(fabric, first, tasks, heads, whole.keys.begin()->second.spec, tailOfAll, share, offer);
  }

  template <class Offer>
  void batchBound(Fabric fabric, int first, const std::vector<int> &tasks, const Heads &heads,
                  const CollectiveSpec &all, double tail, double share, Offer offer) {
    std::vector<int> wanted(block.tasks.size()); // of each computation, the number of collectives that need it
    for (int task : tasks)
      heads.eachAbove(task - first, [&](int above) { ++wanted[first + above]; });
    std::vector<Arrival> arrivals;
    for (int task : tasks) {
      Arrival arrival{double(block.tasks[task].spec.bytes.value), heads.head[task - first], 0, 0};
      heads.eachAbove(task - first, [&](int above) {
        if (onStream(block.tasks[first + above]))
          (wanted[first + above] == 1 ? arrival.own : arrival.shared) += durations[first + above].value;
      });
      arrivals.push_back(arrival);
    }
    double end = 0;
    if (batches == fineBatches) {
      PriceLine line(pricer, all, /*ideal=*/true);
      // setting: between the sizes that are asked for a price may lie a little below the line.
      end = earliestEndOfBatches(arrivals, [&](double bytes) { return share * 0.999 * line(bytes, false); });
    } else {
      CollectiveSpec some = all;
      some.tensors = 0;
      auto price = [&](double bytes) {
        some.bytes = {int64_t(bytes)};
        return share * prices.of(some, all.bytes).value;
      };
      end = earliestEndOfBatches(arrivals, price, batches);
    }
    offer(end + tail, [&] {
      return std::string(name(fabric)) + ": the best messages of together " + toString(all.bytes) +
             ", none begun before its bytes are ready, and " + toString(Seconds{tail}) + " after them";
    });
  }

  template <class Offer>
  void offerLoad(Fabric fabric, const Load &load, double head, double tail, double share, Offer offer) {
    double time = busy(load, share);
    offer(head + time + tail, [&] {
      return describe(fabric, load, time) + ", after " + toString(Seconds{head}) + " and before " +
             toString(Seconds{tail}) + " of the rest";
    });
  }
  std::string describe(Fabric fabric, const Load &load, double time) const {
    size_t messages = load.keys.size() + size_t(load.singles);
    std::string text = std::string(name(fabric)) + ": ";
    text += messages == 1 ? "one message of " : std::to_string(messages) + " messages of together ";
    return text + toString(load.bytes) + " in " + toString(Seconds{time});
  }

  const Block &block;
  const Pricer &pricer;
  LeastPrices &prices;
  const int batches;
  const std::vector<BlockBounds> &callees;
  const Slowdown slowdown;
  std::vector<Seconds> durations;
  std::map<Key, Bytes> ofKey; ///< of all tasks that may share buckets
};

} // namespace

Bound braid::cost::boundAt(const Program &program, const Pricer &pricer, LeastPrices &prices, int batches,
                           double computeFactor) {
  std::vector<BlockBounds> bounds;
  for (const Block &block : program.blocks) {
    BlockBound bound(block, pricer, prices, computeFactor, batches, bounds);
    BlockBounds own{bound.compute(), std::nullopt};
    if (!block.carried.empty())
      own.steady = bound.steady();
    bounds.push_back(std::move(own));
  }
  return bounds.empty() ? Bound{} : bounds.back().alone;
}

Bound braid::cost::lowerBound(const Program &program, const Pricer &pricer) {
  PlainPrices prices(pricer);
  return boundAt(program, pricer, prices, fineBatches);
}
