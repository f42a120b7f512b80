//===- Bucketize.cpp - which collectives are one launch, by the rules people use --------------------------------===//
// Legality is by dependence, not by adjacency: collectives of one key may share a bucket if neither reaches the other
// in the graph in which every bucket formed so far is one node. Looking at single tensors would not do: with a1 after
// b0 and b1 after a0, the buckets {a0, a1} and {b0, b1} hold no dependent pair, and wait for each other.
//
// The two rules, from the sources:
//   XLA  (collective_combiner_utils.h) Walk the program; one bucket is open. It closes before the first collective that
//        would make it larger than the threshold, and at the first that depends on it. A collective larger than the
//        threshold is left alone.
//   DDP  (c10d/reducer.cpp) Walk in the order of readiness; the tensor that reaches the cap is the bucket's last. The
//        first bucket has a smaller cap, so that communication begins early.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Contraction.h"
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

using namespace braid::cost;

CollectiveSpec braid::cost::mergedSpec(const Block &block, const Bucket &bucket) {
  CollectiveSpec merged = block.tasks[bucket.tasks.front()].spec;
  for (size_t i = 1; i < bucket.tasks.size(); ++i) {
    const CollectiveSpec &spec = block.tasks[bucket.tasks[i]].spec;
    merged.bytes += spec.bytes;
    merged.tensors += spec.tensors;
  }
  return merged;
}

namespace {

/// Which collectives reach which, kept closed while buckets are formed. Rows of bits over the block's collectives.
class Reach {
public:
  Reach(const Block &block, const std::vector<int> &collectives)
      : count(collectives.size()), words((count + 63) / 64), above(count * words), below(count * words) {
    std::vector<int> number(block.tasks.size(), -1), before = chainOf(block);
    for (size_t c = 0; c < count; ++c)
      number[collectives[c]] = int(c);
    std::vector<uint64_t> reaching(block.tasks.size() * words); // of each task: the collectives it or its operands are
    for (size_t i = 0; i < block.tasks.size(); ++i) {
      uint64_t *row = &reaching[i * words];
      auto include = [&](int task) { merge(row, &reaching[task * words]); };
      for (int operand : block.tasks[i].operands)
        include(operand);
      if (before[i] >= 0)
        include(before[i]);
      if (number[i] < 0)
        continue;
      merge(&above[number[i] * words], row);
      set(row, number[i]);
    }
    for (size_t c = 0; c < count; ++c)
      for (size_t a = 0; a < count; ++a)
        if (test(&above[c * words], a))
          set(&below[a * words], c);
  }

  bool related(int a, int b) const { return test(&above[a * words], b) || test(&below[a * words], b); }

  /// `members` (all of one bucket) and `added` become one node.
  void contract(std::vector<int> members, int added) {
    std::vector<uint64_t> self(words), up(words), down(words);
    for (int m : {members.front(), added}) { // the rows of a bucket's members are equal
      merge(up.data(), &above[m * words]);
      merge(down.data(), &below[m * words]);
    }
    members.push_back(added);
    for (int m : members)
      set(self.data(), m);
    for (size_t c = 0; c < count; ++c) {
      if (test(up.data(), c)) {
        merge(&below[c * words], self.data());
        merge(&below[c * words], down.data());
      }
      if (test(down.data(), c)) {
        merge(&above[c * words], self.data());
        merge(&above[c * words], up.data());
      }
    }
    for (int m : members) {
      std::copy(up.begin(), up.end(), &above[m * words]);
      std::copy(down.begin(), down.end(), &below[m * words]);
    }
  }

private:
  static bool test(const uint64_t *row, size_t bit) { return row[bit / 64] >> (bit % 64) & 1; }
  static void set(uint64_t *row, size_t bit) { row[bit / 64] |= uint64_t(1) << (bit % 64); }
  void merge(uint64_t *into, const uint64_t *from) const {
    for (size_t w = 0; w < words; ++w)
      into[w] |= from[w];
  }
  size_t count, words;
  std::vector<uint64_t> above, below;
};

} // namespace

std::vector<Bucket> braid::cost::bucketize(const Block &block, const BucketRule &rule) {
  std::vector<int> collectives; // tasks
  for (size_t i = 0; i < block.tasks.size(); ++i)
    if (block.tasks[i].kind == Task::Collective)
      collectives.push_back(int(i));
  bool ddp = rule.firstCap.value > 0;

  // The walk, one per key: collectives by number, in the order of the text or of readiness. (The operands of a
  // dependent collective come later than those of the one it depends on, so both orders respect dependence.)
  std::vector<int> segments = segmentsOf(block), walk(collectives.size());
  for (size_t c = 0; c < walk.size(); ++c)
    walk[c] = int(c);
  if (ddp || rule.byReadiness) {
    auto readiness = [&](int c) {
      const Task &task = block.tasks[collectives[c]];
      return std::make_tuple(segments[collectives[c]], task.operands.empty() ? -1 : task.operands.back(), c);
    };
    std::sort(walk.begin(), walk.end(), [&](int a, int b) { return readiness(a) < readiness(b); });
  }
  std::map<int, std::vector<int>> walkOfKey;
  for (int c : walk) {
    const Task &task = block.tasks[collectives[c]];
    if (task.key >= 0 && task.asynchronous)
      walkOfKey[task.key].push_back(c);
  }

  std::vector<Bucket> buckets;
  std::vector<char> taken(collectives.size());
  std::set<int> begun; // keys whose first bucket is formed
  std::map<int, size_t> cursor;
  bool any = rule.cap.value > 0 && rule.countCap > 1 && !walkOfKey.empty();
  std::optional<Reach> reach;
  if (any)
    reach.emplace(block, collectives);
  for (int seed : walk) {
    if (taken[seed])
      continue;
    taken[seed] = 1;
    const Task &first = block.tasks[collectives[seed]];
    std::vector<int> members{seed};
    Bytes size = first.spec.bytes;
    int key = first.asynchronous ? first.key : -1;
    Bytes cap = ddp && begun.insert(key).second ? rule.firstCap : rule.cap;
    bool open = any && key >= 0 && (ddp ? size < cap : size <= cap);
    if (open) {
      const std::vector<int> &same = walkOfKey[key];
      size_t &from = cursor[key]; // everything before it is taken
      while (from < same.size() && taken[same[from]])
        ++from;
      for (size_t i = from; i < same.size() && open; ++i) {
        int c = same[i];
        const Task &task = block.tasks[collectives[c]];
        if (taken[c] || (!ddp && task.spec.bytes > cap))
          continue;
        if (segments[collectives[c]] != segments[collectives[seed]])
          break;
        if (reach->related(seed, c)) {
          if (rule.scanPastDependents)
            continue;
          break;
        }
        if (!ddp && size + task.spec.bytes > cap)
          break;
        reach->contract(members, c);
        members.push_back(c);
        taken[c] = 1;
        size += task.spec.bytes;
        open = int(members.size()) < rule.countCap && (!ddp || size < cap);
      }
    }
    std::sort(members.begin(), members.end());
    Bucket bucket;
    for (int c : members)
      bucket.tasks.push_back(collectives[c]);
    buckets.push_back(std::move(bucket));
  }
  std::sort(buckets.begin(), buckets.end(), [](const Bucket &a, const Bucket &b) { return a.tasks < b.tasks; });
  return buckets;
}
