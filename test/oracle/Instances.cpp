//===- Instances.cpp - scheduling problems for the oracle, by seed -------------------------------------------------===//
#include "Instances.h"
#include "unit/RandomProgram.h"
#include <cmath>

using namespace braid;
using namespace braid::cost;
using namespace braid::oracle;
using cost::testing::collective;
using cost::testing::compute;
using cost::testing::everyone;
using cost::testing::pairsInHosts;

namespace {

/// The same numbers with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed * 0x9e3779b97f4a7c15u + 1) {}
  double uniform() { return double(engine() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  int number(int low, int high) { return low + int(engine() % uint64_t(high - low + 1)); }
  double lognormal(double sigma) {
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return std::exp(sigma * radius * std::cos(6.283185307179586 * uniform()));
  }
  int64_t bytes(double mean, double sigma) {
    return std::max<int64_t>(256, int64_t(mean * lognormal(sigma)) / 256 * 256);
  }

private:
  std::mt19937_64 engine;
};

class Builder {
public:
  explicit Builder(uint64_t seed) : random(seed) {}

  int kernel(const std::string &name, double us, std::vector<int> operands) {
    return add(compute(name, us, sorted(std::move(operands))));
  }
  int network(const std::string &name, CollectiveKind kind, int64_t bytes, std::vector<int> operands, int key = -1) {
    return add(collective(name, bytes, sorted(std::move(operands)), key, kind, everyone()));
  }
  int host(const std::string &name, CollectiveKind kind, int64_t bytes, std::vector<int> operands, int key = -1) {
    return add(collective(name, bytes, sorted(std::move(operands)), key, kind, pairsInHosts()));
  }

  Instance finish(std::string name, const Pricer &pricer) {
    double load[2] = {0, 0}, work = 0;
    for (const Task &task : tasks)
      if (task.kind == Task::Collective)
        load[int(pricer.fabric(task.spec))] += pricer.candidates(task.spec).front().time.value;
      else
        work += task.duration.value;
    double busier = std::max(load[0], load[1]), contention = std::exp(random.between(-std::log(3), std::log(3)));
    for (Task &task : tasks)
      if (task.kind != Task::Collective)
        task.duration = (busier / contention / work) * task.duration;
    return {std::move(name), cost::testing::programOf(std::move(tasks)), contention};
  }

  Random random;

private:
  static std::vector<int> sorted(std::vector<int> operands) {
    operands.erase(std::remove(operands.begin(), operands.end(), -1), operands.end());
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    return operands;
  }
  int add(Task task) {
    tasks.push_back(std::move(task));
    return int(tasks.size()) - 1;
  }
  std::vector<Task> tasks;
};

std::string numbered(const char *name, int layer) { return std::string(name) + " " + std::to_string(layer); }

/// Forward, backward with input and weight gradients apart, all_reduce and update of each layer's weights.
void dataParallel(Builder &b, int layers, int key) {
  double spread = b.random.between(0.3, 1.0), message = std::exp(b.random.between(std::log(1e6), std::log(6e7)));
  std::vector<double> size(layers);
  std::vector<int64_t> bytes(layers);
  int last = -1;
  for (int i = 0; i < layers; ++i) {
    size[i] = 100 * b.random.lognormal(spread);
    bytes[i] = b.random.bytes(message, spread);
    last = b.kernel(numbered("forward", i), size[i], {last});
  }
  for (int i = layers - 1; i >= 0; --i) {
    int incoming = last;
    int weights = b.kernel(numbered("weight gradient", i), size[i] * b.random.between(0.8, 1.2), {incoming});
    if (i > 0)
      last = b.kernel(numbered("input gradient", i), size[i] * b.random.between(0.8, 1.2), {incoming});
    int reduced = b.network(numbered("reduce", i), CollectiveKind::AllReduce, bytes[i], {weights}, key);
    b.kernel(numbered("update", i), size[i] * 0.05, {reduced});
  }
}

/// Two half batches, whose all_reduces on the path hide behind each other; gradients of the weights are summed over both.
void tensorParallel(Builder &b, int layers, int key) {
  constexpr int halves = 2;
  double spread = b.random.between(0.2, 0.6);
  double message = std::exp(b.random.between(std::log(4e6), std::log(6e7))), weightShare = b.random.between(0.1, 0.6);
  std::vector<double> size(layers);
  std::vector<int64_t> bytes(layers);
  int last[halves] = {-1, -1};
  for (int i = 0; i < layers; ++i) {
    size[i] = 100 * b.random.lognormal(spread);
    bytes[i] = b.random.bytes(message, spread);
    for (int h = 0; h < halves; ++h) {
      last[h] = b.kernel(numbered("forward", i), size[i], {last[h]});
      last[h] = b.host(numbered("sum of outputs", i), CollectiveKind::AllReduce, bytes[i], {last[h]});
    }
  }
  for (int i = layers - 1; i >= 0; --i) {
    std::vector<int> gradients;
    for (int h = 0; h < halves; ++h) {
      int incoming = last[h];
      if (i > 0) {
        last[h] = b.kernel(numbered("input gradient", i), size[i] * b.random.between(0.8, 1.2), {incoming});
        last[h] = b.host(numbered("sum of input gradients", i), CollectiveKind::AllReduce, bytes[i], {last[h]});
      }
      gradients.push_back(b.kernel(numbered("weight gradient", i), size[i] * b.random.between(0.8, 1.2), {incoming}));
    }
    b.network(numbered("reduce", i), CollectiveKind::AllReduce, int64_t(double(bytes[i]) * weightShare), gradients,
              key);
  }
}

/// Parameters are gathered before both passes, their gradients scattered, each rank updates its shard.
void sharded(Builder &b, int layers, int gatherKey, int scatterKey) {
  double spread = b.random.between(0.2, 0.8), message = std::exp(b.random.between(std::log(1e6), std::log(3e7)));
  std::vector<double> size(layers);
  std::vector<int64_t> bytes(layers);
  int last = -1;
  for (int i = 0; i < layers; ++i) {
    size[i] = 100 * b.random.lognormal(spread);
    bytes[i] = b.random.bytes(message, spread) / 2048 * 2048 + 2048;
    int weights = b.network(numbered("gather", i), CollectiveKind::AllGather, bytes[i] / 8, {}, gatherKey);
    last = b.kernel(numbered("forward", i), size[i], {last, weights});
  }
  for (int i = layers - 1; i >= 0; --i) {
    int incoming = last;
    int weights = i + 1 == layers
                      ? -1 // still there
                      : b.network(numbered("gather again", i), CollectiveKind::AllGather, bytes[i] / 8, {}, gatherKey);
    if (i > 0)
      last = b.kernel(numbered("input gradient", i), size[i] * b.random.between(0.8, 1.2), {incoming, weights});
    int gradient = b.kernel(numbered("weight gradient", i), size[i] * b.random.between(0.8, 1.2), {incoming});
    int shard = b.network(numbered("scatter", i), CollectiveKind::ReduceScatter, bytes[i], {gradient}, scatterKey);
    b.kernel(numbered("update", i), size[i] * 0.02, {shard});
  }
}

/// Attention, router, tokens to experts and back, in two half batches; a shared expert beside; backward likewise.
void experts(Builder &b, int layers) {
  constexpr int halves = 2;
  double spread = b.random.between(0.2, 0.6), message = std::exp(b.random.between(std::log(2e6), std::log(2e7)));
  std::vector<double> attention(layers), expert(layers);
  std::vector<int64_t> bytes(layers);
  int last[halves] = {-1, -1};
  for (int i = 0; i < layers; ++i) {
    attention[i] = 100 * b.random.lognormal(spread);
    expert[i] = 100 * b.random.lognormal(spread);
    bytes[i] = b.random.bytes(message, spread);
    for (int &path : last) {
      int routed = b.kernel(numbered("attention", i), attention[i], {path});
      int there = b.network(numbered("dispatch", i), CollectiveKind::AllToAll, bytes[i], {routed});
      int shared = b.kernel(numbered("shared expert", i), 0.3 * expert[i], {routed});
      int done = b.kernel(numbered("experts", i), expert[i], {there});
      int back = b.network(numbered("combine", i), CollectiveKind::AllToAll, bytes[i], {done});
      path = b.kernel(numbered("sum", i), 0.05 * expert[i], {shared, back});
    }
  }
  for (int i = layers - 1; i >= 0; --i) {
    std::vector<int> gradients;
    for (int &path : last) {
      int there = b.network(numbered("gradient dispatch", i), CollectiveKind::AllToAll, bytes[i], {path});
      int inner = b.kernel(numbered("experts' input gradient", i), expert[i] * b.random.between(0.8, 1.2), {there});
      b.kernel(numbered("experts' weight gradient", i), expert[i] * b.random.between(0.8, 1.2), {there});
      int back = b.network(numbered("gradient combine", i), CollectiveKind::AllToAll, bytes[i], {inner});
      gradients.push_back(
          b.kernel(numbered("attention's weight gradient", i), attention[i] * b.random.between(0.4, 0.6), {back}));
      path = b.kernel(numbered("attention's input gradient", i), attention[i] * b.random.between(0.8, 1.2), {back});
    }
    b.network(numbered("reduce", i), CollectiveKind::AllReduce, bytes[i] / 2, gradients);
  }
}

} // namespace

Instance braid::oracle::orderInstance(uint64_t seed, const Pricer &pricer) {
  Builder b(seed);
  int wanted = int(std::exp(b.random.between(std::log(20), std::log(300)))); // tasks
  switch (seed % 4) {
  case 0:
    dataParallel(b, std::max(4, wanted / 5), -1);
    return b.finish("data-parallel-" + std::to_string(seed), pricer);
  case 1:
    tensorParallel(b, std::max(2, wanted / 11), -1);
    return b.finish("tensor-parallel-" + std::to_string(seed), pricer);
  case 2:
    sharded(b, std::max(3, wanted / 7), -1, -1);
    return b.finish("sharded-" + std::to_string(seed), pricer);
  default:
    experts(b, std::max(1, wanted / 25));
    return b.finish("experts-" + std::to_string(seed), pricer);
  }
}

Instance braid::oracle::bucketInstance(uint64_t seed, const Pricer &pricer) {
  Builder b(seed + 1000000);
  switch (seed % 3) {
  case 0:
    dataParallel(b, b.random.number(4, 12), 0);
    return b.finish("data-parallel-buckets-" + std::to_string(seed), pricer);
  case 1:
    tensorParallel(b, b.random.number(3, 5), 0);
    return b.finish("tensor-parallel-buckets-" + std::to_string(seed), pricer);
  default:
    sharded(b, b.random.number(2, 4), 1, 2);
    return b.finish("sharded-buckets-" + std::to_string(seed), pricer);
  }
}

Instance braid::oracle::tinyInstance(uint64_t seed, const Pricer &pricer, int tasks) {
  Builder b(seed + 2000000);
  for (int i = 0; i < tasks; ++i) {
    std::vector<int> operands;
    for (int k = b.random.number(0, 2); k > 0 && i > 0; --k)
      operands.push_back(b.random.number(0, i - 1));
    if (b.random.uniform() < 0.5 && i > 0)
      b.random.uniform() < 0.7
          ? b.network(numbered("reduce", i), CollectiveKind::AllReduce, b.random.bytes(4e6, 1), operands, 0)
          : b.host(numbered("sum", i), CollectiveKind::AllReduce, b.random.bytes(4e6, 1), operands,
                   b.random.number(-1, 1) < 0 ? -1 : 1);
    else
      b.kernel(numbered("kernel", i), 100 * b.random.lognormal(0.5), operands);
  }
  return b.finish("tiny-" + std::to_string(seed), pricer);
}
