//===- Case.cpp - the combinations, and a small set that covers all pairs -------------------------------------------===//
#include "test/conformance/Case.h"
#include "braid/runtime/algorithms/PackedTrees.h"
#include "core/Request.h"
#include <algorithm>
#include <random>

namespace braid::test {

namespace {

enum Dimension { Way, Carrier, Ranks, Size, Type, Reduction, Memory, Placement, Bucket, Channels, Chunks, Exact };
constexpr size_t sizes[] = {0, 1, 17, 16383, 16384, 16385, 0 /* 4 MiB */};
constexpr size_t largest = 4 << 20;

} // namespace

bool Case::reduces() const {
  return collective == BRAID_ALL_REDUCE || collective == BRAID_REDUCE_SCATTER || collective == BRAID_REDUCE;
}

size_t Case::blockCount(int source, int target) const {
  size_t even = count / size_t(ranks);
  if (!ragged)
    return even;
  uint64_t draw = uint64_t(source) * 0x9e3779b97f4a7c15ull + uint64_t(target) * 0xd6e8feb86659fd93ull + count;
  draw ^= draw >> 29;
  draw *= 0xbf58476d1ce4e5b9ull;
  draw ^= draw >> 32;
  return draw % 4 == 0 ? 0 : size_t(draw >> 8) % (2 * even + 2); // as many as of equal blocks, about
}

bool Case::rooted() const {
  return collective == BRAID_BROADCAST || collective == BRAID_REDUCE || collective == BRAID_GATHER ||
         collective == BRAID_SCATTER;
}

std::string Case::spelling() const {
  if (algorithm.find("mesh") != std::string::npos) { // a ring with chords, one of its links through a switch
    algorithms::FabricGraph graph;
    graph.ranks = ranks;
    graph.nodes = ranks + 1;
    auto both = [&](int a, int b, double bandwidth) {
      graph.links.push_back({a, b, bandwidth, 1e-6});
      graph.links.push_back({b, a, bandwidth, 1e-6});
    };
    for (int rank = 0; rank < ranks && ranks > 1; ++rank)
      both(rank, rank ? (rank + 1) % ranks : ranks, 1e10 * (1 + rank % 3));
    if (ranks > 1)
      both(ranks, 1, 1e10);
    for (int rank = 0; rank + 3 < ranks; rank += 2)
      graph.links.push_back({rank, rank + 3, 2e10, 2e-6});
    return algorithms::Packing(graph, 65536).spelling();
  }
  size_t at = algorithm.find("scattered");
  if (at == std::string::npos)
    return algorithm;
  std::string order; // 1 0 3 2 ...
  for (int rank = 0; rank < ranks; ++rank)
    order += (rank ? "." : "") + std::to_string((rank ^ 1) < ranks ? rank ^ 1 : rank);
  return algorithm.substr(0, at) + order + ")";
}

std::string Case::text() const {
  std::string out = std::string(runtime::name(collective)) + " by " + (algorithm.empty() ? "default" : algorithm) +
                    " on " + transport + ", " + std::to_string(ranks) + " ranks, " + std::to_string(count) + " x " +
                    info(type).name;
  if (reduces())
    out += std::string(" ") + reductionName(reduction);
  if (rooted())
    out += ", root " + std::to_string(root);
  out += ragged ? ", ragged" : "";
  if (helpers)
    out += ", " + std::to_string(helpers) + " helpers";
  out += shared ? ", shared" : ", foreign";
  out += place == Apart ? "" : place == InPlace ? ", in place" : ", shifted";
  if (tensors > 1)
    out += ", " + std::to_string(tensors) + " tensors";
  out += ", channels " + std::to_string(channels) + ", chunks " + std::to_string(chunks) + (exact ? "" : ", inexact");
  return out;
}

Space::Space(std::vector<std::string> transports, int fewest, int most, bool byEngine)
    : transports(std::move(transports)), fewest(fewest), most(most), byEngine(byEngine) {
  for (int c = BRAID_ALL_REDUCE; c <= BRAID_BARRIER; ++c) {
    auto collective = braid_collective(c);
    if (collective == BRAID_RECV)
      continue; // with send
    routes.push_back({collective, ""});
    if (collective == BRAID_SEND)
      continue;
    if (collective == BRAID_ALL_TO_ALL)
      routes.push_back({collective, "", true});
    for (const algorithms::Algorithm &algorithm : algorithms::registry())
      for (int ranks = fewest; ranks <= most && !byEngine; ++ranks)
        if (algorithm.serves(runtime::kindOf(collective), ranks)) {
          addRoutes(collective, algorithm);
          break;
        }
  }
}

/// By an algorithm, and by what it takes beside the number of ranks.
void Space::addRoutes(braid_collective collective, const algorithms::Algorithm &algorithm) {
  if (algorithm.needs == algorithms::Needs::Nothing)
    routes.push_back({collective, algorithm.name});
  if (algorithm.hops && collective == BRAID_ALL_TO_ALL)
    routes.push_back({collective, algorithm.name, true});
  if (algorithm.ordered)
    routes.push_back({collective, algorithm.name + "(order=scattered)"}); // see Case::spelling
  if (algorithm.name == "parameter_server")
    for (int helpers : {1, 2})
      routes.push_back({collective, algorithm.name, false, helpers});
  if (algorithm.needs == algorithms::Needs::Topology)
    routes.push_back({collective, algorithm.name + "(links=mesh)"});
  if (algorithm.needs == algorithms::Needs::Switches) // one switch, and two below a third
    for (int helpers : {1, 3})
      routes.push_back({collective, algorithm.name, false, helpers});
}

int Space::values(int dimension) const {
  switch (dimension) {
  case Way:
    return int(routes.size());
  case Carrier:
    return int(transports.size());
  case Ranks:
    return most - fewest + 1;
  case Size:
    return int(std::size(sizes));
  case Type:
    return types;
  case Reduction:
    return reductions;
  case Placement:
    return 3;
  default:
    return 2;
  }
}

bool Space::make(const std::vector<int> &choice, Case &out) const {
  out = Case();
  const Route &route = routes[size_t(choice[Way])];
  out.collective = route.collective;
  out.algorithm = route.algorithm;
  out.ragged = route.ragged;
  out.helpers = route.helpers;
  out.transport = transports[size_t(choice[Carrier])];
  out.ranks = fewest + choice[Ranks];
  out.type = braid_type(choice[Type]);
  size_t bytes = info(out.type).bytes;
  bool last = choice[Size] + 1 == int(std::size(sizes));
  out.count = last ? largest / bytes : sizes[choice[Size]];
  out.reduction = braid_reduction(choice[Reduction]);
  out.shared = choice[Memory] == 0;
  out.place = Case::Place(choice[Placement]);
  out.tensors = choice[Bucket] ? 3 : 1;
  out.channels = choice[Channels] ? 3 : 1;
  out.chunks = choice[Chunks] ? 5 : 0;
  out.exact = choice[Exact] == 0;
  // What does not go together, or makes no difference: one value stands for all.
  std::string name = out.algorithm.substr(0, out.algorithm.find('('));
  if (!name.empty() && !algorithms::find(name)->serves(runtime::kindOf(out.collective), out.ranks))
    return false;
  if (out.ragged && out.tensors > 1)
    return false;
  if (byEngine && (choice[Channels] || choice[Chunks]))
    return false;
  if (out.ranks + out.helpers > most || (out.helpers == 3 && out.ranks < 2))
    return false;
  if (!out.reduces() && (choice[Reduction] || choice[Exact]))
    return false;
  if (out.reduces() && !allowed(out.type, out.reduction))
    return false;
  bool rounds = info(out.type).isFloat &&
                (out.reduction == BRAID_SUM || out.reduction == BRAID_PRODUCT || out.reduction == BRAID_AVERAGE);
  if (!out.exact && (!rounds || last))
    return false;
  if (out.collective == BRAID_BARRIER &&
      (choice[Size] || choice[Type] || choice[Memory] || choice[Placement] || choice[Bucket]))
    return false;
  if (out.collective == BRAID_SEND &&
      (choice[Placement] || choice[Bucket] || choice[Channels] || choice[Chunks] || out.ranks < 2))
    return false;
  bool blocks = out.collective == BRAID_ALL_GATHER || out.collective == BRAID_REDUCE_SCATTER ||
                out.collective == BRAID_GATHER || out.collective == BRAID_SCATTER;
  if (out.place == Case::Shifted && !out.ragged && (!blocks || out.ranks < 2))
    return false;
  return true;
}

std::vector<Case> Space::product(uint64_t seed) const {
  std::vector<Case> cases;
  uint64_t index = 0;
  for (int carrier = 0; carrier < values(Carrier); ++carrier)
    for (int ranks = 0; ranks < values(Ranks); ++ranks)
      for (int way = 0; way < values(Way); ++way)
        for (int size = 0; size < values(Size); ++size) {
          std::mt19937_64 random(seed * 1000003 + index++);
          Case made;
          for (int tries = 200; tries >= 0; --tries) { // the last one: first values, which go together with everything
            std::vector<int> choice(dimensions, 0);
            for (int d = 0; d < dimensions && tries; ++d)
              choice[size_t(d)] = int(random() % uint64_t(values(d)));
            choice[Carrier] = carrier;
            choice[Ranks] = ranks;
            choice[Way] = way;
            choice[Size] = size;
            if (!make(choice, made))
              continue;
            made.root = int(random() % uint64_t(made.ranks));
            cases.push_back(made);
            break;
          }
        }
  return cases;
}

std::vector<Case> Space::allPairs(uint64_t seed) const {
  // covered[pair of dimensions][value][value]
  std::vector<std::vector<char>> covered(size_t(dimensions) * dimensions);
  auto at = [&](int a, int x, int b, int y) -> char & {
    std::vector<char> &table = covered[size_t(a * dimensions + b)];
    if (table.empty())
      table.resize(size_t(values(a)) * size_t(values(b)));
    return table[size_t(x) * size_t(values(b)) + size_t(y)];
  };
  std::mt19937_64 random(seed);
  auto below = [&](int n) { return int(random() % uint64_t(n)); };
  std::vector<Case> cases;
  std::vector<std::vector<int>> choices;
  auto gain = [&](const std::vector<int> &choice) {
    int fresh = 0;
    for (int a = 0; a < dimensions; ++a)
      for (int b = a + 1; b < dimensions; ++b)
        fresh += !at(a, choice[size_t(a)], b, choice[size_t(b)]);
    return fresh;
  };
  for (int a = 0; a < dimensions; ++a)
    for (int b = a + 1; b < dimensions; ++b)
      for (int x = 0; x < values(a); ++x)
        for (int y = 0; y < values(b); ++y) {
          if (at(a, x, b, y))
            continue;
          std::vector<int> best;
          int most = 0;
          Case made;
          // Of some random completions of this pair, the one that covers most. Most random ones do not go together, so that
          // there are many tries before a pair counts as impossible.
          for (int tries = 0, found = 0; tries < 3000 && found < 25; ++tries) {
            std::vector<int> choice(dimensions);
            for (int d = 0; d < dimensions; ++d)
              choice[size_t(d)] = tries % 4 == 3 && below(2) ? 0 : below(values(d));
            choice[size_t(a)] = x;
            choice[size_t(b)] = y;
            if (!make(choice, made))
              continue;
            ++found;
            if (int fresh = gain(choice); fresh > most) {
              most = fresh;
              best = choice;
            }
          }
          if (best.empty())
            continue; // impossible
          for (int c = 0; c < dimensions; ++c)
            for (int d = c + 1; d < dimensions; ++d)
              at(c, best[size_t(c)], d, best[size_t(d)]) = 1;
          make(best, made);
          made.root = below(made.ranks);
          cases.push_back(made);
        }
  return cases;
}

} // namespace braid::test
