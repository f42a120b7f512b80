//===- LowerBound.cpp - a step time that no schedule beats ------------------------------------------------------===//
// For one block without barriers, with heads (what must pass before a task begins) and tails (what must follow it):
//
//   critical path   longest path, collectives at the cheapest price of each alone. A bucket is no faster than any of
//                   its members alone, since prices are monotone in bytes.
//   compute         the compute stream does one thing at a time: the sum of its tasks.
//   channel         each fabric's channel serves one collective at a time, however many are queued: the sum over the
//                   keys of one message of all bytes of a key, no pack or unpack counted, plus the smallest head and
//                   the smallest tail of those collectives. Merging costs no more than the cheapest way to split the
//                   same bytes, which is asked for at several splits, so the sum over any buckets of a key is at least
//                   this. Collectives without a key are served one by one.
//
// The head of a collective is also at least the compute of everything it depends on (one stream). Nested blocks run
// with nothing in flight: their own bound times their trips counts in the paths, on the stream and on the channels. A
// barrier is a full stop: the bounds of the parts it cuts add up. Noise is nowhere counted; where its mean is above
// zero, expected times are larger still.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Contraction.h"
#include <algorithm>
#include <map>

using namespace braid::cost;

namespace {

/// The cheapest way to send the bytes of `spec` as equal messages one after another.
Seconds cheapestOfAllBytes(const Pricer &pricer, CollectiveSpec spec, int parts) {
  spec.tensors = 1;
  Bytes all = spec.bytes;
  Seconds cheapest = pricer.candidates(spec).front().time;
  for (int split = 2; split <= std::min(parts, 16); split *= 2) {
    spec.bytes = {all.value / split};
    cheapest = std::min(cheapest, double(split) * pricer.candidates(spec).front().time);
  }
  return cheapest;
}

class BlockBound {
public:
  BlockBound(const Block &block, const Pricer &pricer, const std::vector<Bound> &callees)
      : block(block), pricer(pricer), callees(callees) {
    for (const Task &task : block.tasks) {
      if (task.kind == Task::Collective)
        durations.push_back(pricer.candidates(task.spec).front().time);
      else if (task.kind == Task::Nested)
        durations.push_back(task.trips * callees[task.block].time);
      else
        durations.push_back(task.duration);
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
    for (size_t i = 0; i < block.tasks.size(); ++i) // what a nested block says explains more
      if (block.tasks[i].kind == Task::Nested && durations[i] >= 0.5 * total.time && total.time.value > 0) {
        const std::string &inner = callees[block.tasks[i].block].witness;
        int share = int(100 * (durations[i] / total.time) + 0.5);
        total.witness = share == 100 ? inner : std::to_string(share) + " % in " + block.tasks[i].name + ": " + inner;
        break;
      }
    return total;
  }

private:
  bool onStream(int task) const {
    const Task &t = block.tasks[task];
    return t.kind != Task::Collective || !t.asynchronous; // a synchronous one holds the stream, too
  }

  /// Of each collective, the sum over the tasks on the compute stream that it depends on.
  std::vector<double> computeBefore(int first, int last) const {
    size_t words = size_t(last - first + 63) / 64;
    std::vector<uint64_t> above(size_t(last - first) * words);
    std::vector<double> sums(last - first);
    if (size_t(last - first) * words > (size_t(1) << 26)) // half a gigabyte: fall back on paths
      return sums;
    for (int i = first; i < last; ++i) {
      uint64_t *row = &above[size_t(i - first) * words];
      for (int operand : block.tasks[i].operands) {
        if (operand < first)
          continue;
        const uint64_t *other = &above[size_t(operand - first) * words];
        for (size_t w = 0; w < words; ++w)
          row[w] |= other[w];
        row[size_t(operand - first) / 64] |= uint64_t(1) << (size_t(operand - first) % 64);
      }
      if (block.tasks[i].kind != Task::Collective)
        continue;
      for (size_t w = 0; w < words; ++w)
        for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
          int ancestor = first + int(w * 64) + __builtin_ctzll(bits);
          if (onStream(ancestor))
            sums[i - first] += durations[ancestor].value;
        }
    }
    return sums;
  }

  Bound segmentBound(int first, int last) {
    int count = last - first;
    std::vector<double> head(count), tail(count), before = computeBefore(first, last);
    std::vector<int> from(count, -1);
    Bound best{{}, "nothing to do"};
    auto offer = [&](double time, auto witness) {
      if (time > best.time.value)
        best = {{time}, witness()};
    };
    double stream = 0;
    for (int i = first; i < last; ++i) {
      for (int operand : block.tasks[i].operands)
        if (operand >= first && head[operand - first] + durations[operand].value > head[i - first]) {
          head[i - first] = head[operand - first] + durations[operand].value;
          from[i - first] = operand;
        }
      if (before[i - first] > head[i - first]) {
        head[i - first] = before[i - first];
        from[i - first] = -2;
      }
      if (onStream(i))
        stream += durations[i].value;
    }
    for (int i = last - 1; i >= first; --i)
      for (int operand : block.tasks[i].operands)
        if (operand >= first)
          tail[operand - first] = std::max(tail[operand - first], tail[i - first] + durations[i].value);

    offer(stream, [] { return std::string("sum of compute"); });
    for (int i = first; i < last; ++i)
      offer(head[i - first] + durations[i].value + tail[i - first], [&] { return pathThrough(i, from, first); });
    for (Fabric fabric : {Fabric::Intra, Fabric::Inter})
      channelBound(fabric, first, last, head, tail, offer);
    return best;
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
    return "critical path from '" + block.tasks[last].name + "' through '" + block.tasks[task].name + "', " +
           std::to_string(collectives) + " collectives up to there";
  }

  template <class Offer>
  void channelBound(Fabric fabric, int first, int last, const std::vector<double> &head,
                    const std::vector<double> &tail, Offer offer) {
    // Keys are bucketed within a kind and group; a key that holds several anyway is cut by them.
    struct Sum {
      CollectiveSpec spec;
      int count = 0;
    };
    std::map<std::tuple<int, int, const RankGroups *, std::string>, Sum> keys;
    double busy = 0, earliest = 1e300, shortest = 1e300, nested = 0;
    Bytes bytes;
    int single = 0;
    for (int i = first; i < last; ++i) {
      const Task &task = block.tasks[i];
      if (task.kind == Task::Nested)
        nested += durations[i].value;
      if (task.kind != Task::Collective || pricer.fabric(task.spec) != fabric)
        continue;
      earliest = std::min(earliest, head[i - first]);
      shortest = std::min(shortest, tail[i - first]);
      bytes += task.spec.bytes;
      if (task.key < 0 || !task.asynchronous) {
        busy += durations[i].value;
        ++single;
        continue;
      }
      Sum &sum = keys[{task.key, int(task.spec.kind), task.spec.groups.get(), task.spec.elementType}];
      if (sum.count++ == 0)
        sum.spec = task.spec;
      else
        sum.spec.bytes += task.spec.bytes;
    }
    if (keys.empty() && single == 0)
      return;
    for (auto &[key, sum] : keys)
      busy += cheapestOfAllBytes(pricer, sum.spec, sum.count).value;
    // Nested blocks may lie before the first or after the last collective and be counted there: not twice.
    double ends = earliest + shortest;
    double time = std::max(busy + ends, busy + nested);
    offer(time, [&] {
      std::string text = std::string(name(fabric)) + ": ";
      text += keys.size() + single == 1 ? "one message of "
                                        : std::to_string(keys.size() + single) + " messages of together ";
      text += toString(bytes) + " in " + toString(Seconds{busy});
      if (ends > nested)
        text +=
            ", after " + toString(Seconds{earliest}) + " and before " + toString(Seconds{shortest}) + " of the rest";
      else if (nested > 0)
        text += ", beside " + toString(Seconds{nested}) + " of nested blocks";
      return text;
    });
  }

  const Block &block;
  const Pricer &pricer;
  const std::vector<Bound> &callees;
  std::vector<Seconds> durations;
};

} // namespace

Bound braid::cost::lowerBound(const Program &program, const Pricer &pricer) {
  std::vector<Bound> bounds;
  for (const Block &block : program.blocks)
    bounds.push_back(BlockBound(block, pricer, bounds).compute());
  return bounds.empty() ? Bound{} : bounds.back();
}
