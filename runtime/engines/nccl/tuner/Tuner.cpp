//===- Tuner.cpp - choices for one communicator -----------------------------------------------------------------===//
//
// A choice is taken where NCCL says that it is possible (a cost that is not -1) and nothing speaks against it:
// - What NCCL itself finds cheapest may be an algorithm that the cost model has no price for; the file lists them (NVLS, CollNet, PAT).
//   It stays: a price that is not known is no reason to take something else.
// - NCCL multiplies the cost of a cell by 1024 that would lose accuracy (rings of 8-bit floats over more than 8 ranks), and does not
//   say here what the elements are. A cell at 256 times its best one is left alone.
// - Collectives of a group call run one after another in one launch; the file's prices are of single ones.
//===------------------------------------------------------------------------------------------------------------===//
#include "engines/nccl/tuner/Tuner.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace braid::nccl {

static constexpr float shunned = 256;

#define BRAID_LOG(level, subsystems, ...)                                                                              \
  do {                                                                                                                 \
    if (logger)                                                                                                        \
      logger(level, subsystems, __FILE_NAME__, __LINE__, "braid tuner: " __VA_ARGS__);                                 \
  } while (0)

Tuner::Tuner(size_t ranks, size_t nodes, Logger logger, ConstantsV5 *constants)
    : ranks(ranks), nodes(nodes), logger(logger) {
  const char *path = std::getenv("BRAID_TUNER_FILE");
  if (!path || !*path) {
    BRAID_LOG(Warn, All,
              "BRAID_TUNER_FILE: expected a file of braid-sim emit nccl-tuner, got none; NCCL chooses by itself");
    return;
  }
  std::string error = Table::read(path, table);
  if (!error.empty()) {
    BRAID_LOG(Warn, All, "BRAID_TUNER_FILE: %.900s; NCCL chooses by itself", error.c_str());
    return;
  }
  shape = table.find(ranks, nodes);
  if (!shape) {
    BRAID_LOG(Info, Init | Tuning,
              "BRAID_TUNER_FILE: %.300s: expected a communicator of %zu ranks on %zu nodes, got %.1000s; NCCL chooses "
              "by itself here",
              path, ranks, nodes, table.shapes().c_str());
    return;
  }
  BRAID_LOG(Info, Init | Tuning, "%.300s: choices of cluster %.200s (%.16s) for %zu ranks on %zu nodes", path,
            table.cluster.c_str(), table.hash.c_str(), ranks, nodes);
  replace(constants);
}

void Tuner::replace(ConstantsV5 *constants) const {
  if (shape->constants.empty())
    return;
  if (!constants) {
    BRAID_LOG(Info, Init | Tuning, "constants need version 5 of the interface (NCCL 2.28); NCCL's own stay");
    return;
  }
  static_assert(std::is_trivially_copyable_v<ConstantsV5>);
  for (const Constant &constant : shape->constants) // every place is below sizeof(ConstantsV5) / sizeof(double)
    std::memcpy(reinterpret_cast<char *>(constants) + constant.place * sizeof(double), &constant.value, sizeof(double));
  BRAID_LOG(Info, Init | Tuning, "%zu of NCCL's constants are those of cluster %.200s", shape->constants.size(),
            table.cluster.c_str());
}

const Range *Tuner::rangeOf(int function, size_t bytes) const {
  if (!shape || function < 0 || function >= functions)
    return nullptr;
  const std::vector<Range> &ranges = shape->ranges[function];
  auto after =
      std::upper_bound(ranges.begin(), ranges.end(), bytes, [](size_t size, const Range &r) { return size < r.from; });
  return after == ranges.begin() || bytes > (after - 1)->to ? nullptr : &*(after - 1);
}

/// The cheapest cell that is possible; its cost is `impossible` if there is none.
static Choice cheapestOf(const float *costs, int algorithmCount, int protocolCount, float &cost) {
  Choice best;
  cost = impossible;
  for (int a = 0; a < algorithmCount; ++a)
    for (int p = 0; p < protocolCount; ++p)
      if (float c = costs[a * protocolCount + p]; c >= 0 && (cost < 0 || c < cost)) {
        cost = c;
        best.algorithm = a;
        best.protocol = p;
      }
  return best;
}

void Tuner::decide(int function, size_t bytes, int operations, float *costs, int algorithmCount, int protocolCount,
                   int *channels) const {
  const Range *range = rangeOf(function, bytes);
  if (!range || !costs || algorithmCount <= 0 || protocolCount <= 0)
    return;
  const char *name = functionNames[function];
  if (operations > 1) {
    BRAID_LOG(Info, Tuning, "%s of %zu B, %d in one group call: NCCL chooses; prices are of single ones", name, bytes,
              operations);
    return;
  }
  float least = impossible;
  Choice own = cheapestOf(costs, algorithmCount, protocolCount, least);
  if (least >= 0 && own.algorithm < algorithms && table.kept[own.algorithm]) {
    BRAID_LOG(Info, Tuning, "%s of %zu B: NCCL's %s stays, of which cluster %.200s has no price", name, bytes,
              algorithmNames[own.algorithm], table.cluster.c_str());
    return;
  }
  auto usable = [&](const Choice &c) {
    if (c.algorithm >= algorithmCount || c.protocol >= protocolCount)
      return false;
    float cost = costs[c.algorithm * protocolCount + c.protocol];
    return cost >= 0 && (least <= 0 || cost < least * shunned);
  };
  auto chosen = std::find_if(range->choices.begin(), range->choices.end(), usable);
  if (chosen == range->choices.end()) {
    BRAID_LOG(Info, Tuning, "%s of %zu B: NCCL chooses; it takes none of the %zu choices from %zu B to %zu B here",
              name, bytes, range->choices.size(), range->from, range->to);
    return;
  }
  costs[chosen->algorithm * protocolCount + chosen->protocol] = 0;
  if (channels && chosen->channels > 0 && bytes >= chosen->channelsFrom)
    *channels = chosen->channels;
  auto next = std::find_if(chosen + 1, range->choices.end(), usable);
  std::string runnerUp = "none";
  if (next != range->choices.end())
    runnerUp = std::string(algorithmNames[next->algorithm]) + " " + protocolNames[next->protocol];
  BRAID_LOG(Info, Tuning,
            "%s of %zu B on %zu ranks, %zu nodes: %s %s%s, predicted %.4g us at %zu B to %.4g us at %zu B; next: %s, "
            "%.4g us to %.4g "
            "us; why: %s",
            name, bytes, ranks, nodes, algorithmNames[chosen->algorithm], protocolNames[chosen->protocol],
            chosen == range->choices.begin() ? "" : " (NCCL can't take what is better)", chosen->least, range->from,
            chosen->most, range->to, runnerUp.c_str(), next == range->choices.end() ? 0. : next->least,
            next == range->choices.end() ? 0. : next->most, range->why.c_str());
}

} // namespace braid::nccl
