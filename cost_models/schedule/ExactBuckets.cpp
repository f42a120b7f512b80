//===- ExactBuckets.cpp - the best contiguous buckets of one channel --------------------------------------------===//
#include "schedule/ExactBuckets.h"
#include "pricing/PriceLine.h"
#include "schedule/Contraction.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace braid::cost;

namespace {

/// setting: of looking for cycles, each as long as the block.
constexpr int kMostTries = 64;

struct Member {
  int task = 0;
  double ready = 0, bytes = 0;
  double after = 0; ///< seconds of computation that reads the result
};

/// Where buckets end, as numbers of members; empty if no buckets end by `deadline`.
std::vector<size_t> cut(const std::vector<Member> &members, const std::vector<std::vector<double>> &prices,
                        double deadline, double &end) {
  size_t count = members.size();
  std::vector<double> through(count + 1, 1e300), ends(count + 1, 1e300), after(count + 1, 0);
  std::vector<size_t> from(count + 1, 0);
  for (size_t i = count; i-- > 0;)
    after[i] = after[i + 1] + members[i].after;
  through[0] = ends[0] = 0;
  for (size_t i = 1; i <= count; ++i)
    for (size_t j = 0; j < i; ++j) {
      if (through[j] >= 1e300)
        continue;
      double f = std::max(through[j], members[i - 1].ready) + prices[i - 1][i - 1 - j];
      if (f + after[j] <= deadline && f < through[i]) {
        through[i] = f;
        ends[i] = std::max(ends[j], f + after[j]);
        from[i] = j;
      }
    }
  end = ends[count];
  std::vector<size_t> cuts;
  if (through[count] < 1e300)
    for (size_t i = count; i > 0; i = from[i])
      cuts.push_back(i);
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

std::vector<Bucket> bucketsOf(std::vector<Member> members, PriceLine price) {
  std::stable_sort(members.begin(), members.end(), [](const Member &a, const Member &b) { return a.ready < b.ready; });
  // prices[i][k]: of members i-k .. i.
  std::vector<std::vector<double>> prices(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    double bytes = 0;
    for (size_t k = 0; k <= i; ++k)
      prices[i].push_back(price(bytes += members[i - k].bytes, k > 0));
  }
  double end, low = 0;
  std::vector<size_t> best = cut(members, prices, 1e299, end);
  for (int halving = 0; halving < 30 && end - low > 1e-4 * end; ++halving) { // setting: tolerance
    double middle = (low + end) / 2, found;
    std::vector<size_t> cuts = cut(members, prices, middle, found);
    if (cuts.empty()) {
      low = middle;
      continue;
    }
    best = std::move(cuts);
    end = found;
  }
  std::vector<Bucket> buckets;
  size_t first = 0;
  for (size_t last : best) {
    Bucket bucket;
    for (; first < last; ++first)
      bucket.tasks.push_back(members[first].task);
    std::sort(bucket.tasks.begin(), bucket.tasks.end());
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

/// Adds to `result` the buckets of each key, in order, that with all before make no bucket wait for itself. A cycle stays one
/// when more is merged, so keys that go together are looked at once, and halves where they do not.
void addWithoutCycle(const Block &block, const std::vector<std::vector<Bucket>> &keys, size_t first, size_t last,
                     std::vector<Bucket> &result, int &tries) {
  if (first == last || tries-- <= 0)
    return;
  std::vector<Bucket> with = result;
  for (size_t key = first; key < last; ++key)
    with.insert(with.end(), keys[key].begin(), keys[key].end());
  Contraction graph(block, with);
  if (graph.programOrder().size() == graph.nodes.size()) {
    result = std::move(with);
  } else if (last - first > 1) {
    size_t middle = (first + last) / 2;
    addWithoutCycle(block, keys, first, middle, result, tries);
    addWithoutCycle(block, keys, middle, last, result, tries);
  }
}

} // namespace

std::vector<Bucket> braid::cost::exactBuckets(const Block &block, const std::vector<int> &runs, const Pricer &pricer) {
  std::vector<double> ends(block.tasks.size());
  double clock = 0;
  for (int task : runs)
    ends[task] = clock += block.tasks[task].duration.value;
  std::vector<double> after(block.tasks.size());
  for (const Task &task : block.tasks)
    for (int operand : task.operands)
      if (task.kind == Task::Compute && block.tasks[operand].kind == Task::Collective)
        after[operand] += task.duration.value;

  std::vector<int> segments = segmentsOf(block);
  std::map<std::tuple<int, int, int, std::string>, std::vector<Member>> keys; // groups of a key are equal by meaning
  for (size_t i = 0; i < block.tasks.size(); ++i) {
    const Task &task = block.tasks[i];
    if (task.kind != Task::Collective)
      continue;
    for (int operand : task.operands)
      ends[i] = std::max(ends[i], ends[operand]);
    if (task.key < 0 || !task.asynchronous)
      continue;
    keys[{segments[i], task.key, int(task.spec.kind), task.spec.elementType}].push_back(
        {int(i), ends[i], double(task.spec.bytes.value), after[i]});
  }
  std::vector<std::vector<Bucket>> cuts;
  for (auto &[key, members] : keys)
    if (members.size() >= 2 && members.size() <= size_t(mostExactMembers))
      cuts.push_back(bucketsOf(members, PriceLine(pricer, block.tasks[members.front().task].spec)));
  std::vector<Bucket> result;
  int tries = kMostTries;
  addWithoutCycle(block, cuts, 0, cuts.size(), result, tries);
  return result;
}
