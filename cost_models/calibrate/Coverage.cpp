//===- Coverage.cpp - which prices a fit changes, and which of them were measured ---------------------------------===//
#include "braid/cost_models/Fit.h"
#include <map>
#include <set>

namespace braid::cost {

static std::string listed(const std::set<std::string> &words, const char *between) {
  std::string all;
  for (const std::string &word : words)
    all += (all.empty() ? "" : between) + word;
  return all;
}

/// Engine nccl: trees for an all_reduce alone, rings for what passes through all ranks (CalibratedNccl.cpp).
static std::map<CollectiveKind, std::set<std::string>> reachOf(CalibratedModel model) {
  if (model == CalibratedModel::Messages)
    return {{CollectiveKind::AllReduce, {}}};
  return {{CollectiveKind::AllReduce, {"ring", "tree"}},
          {CollectiveKind::AllGather, {"ring"}},
          {CollectiveKind::ReduceScatter, {"ring"}},
          {CollectiveKind::Broadcast, {"ring"}}};
}

std::vector<std::string> coverageOf(const FitResult &fit) {
  if (fit.constants.empty()) // the published formula has none of its own
    return {};
  std::map<CollectiveKind, std::set<std::string>> measured;
  for (const Residual &residual : fit.residuals)
    if (!residual.heldOut)
      measured[residual.row.kind].insert(residual.row.algorithm.empty() ? "the library's choice"
                                                                        : residual.row.algorithm);
  std::vector<std::string> lines;
  for (const auto &[kind, algorithms] : measured)
    lines.push_back(std::string("fitted to: ") + algorithms::name(kind) + " by " + listed(algorithms, " and "));
  std::set<std::string> unmeasured;
  for (const auto &[kind, algorithms] : reachOf(fit.model)) {
    std::set<std::string> missing;
    const std::set<std::string> &seen = measured[kind];
    if (!seen.count("the library's choice"))
      for (const std::string &algorithm : algorithms)
        if (!seen.count(algorithm))
          missing.insert(algorithm);
    if (!missing.empty())
      unmeasured.insert(std::string(algorithms::name(kind)) + " by " + listed(missing, " and "));
  }
  if (!unmeasured.empty())
    lines.push_back("priced by the same constants, though no row is of it: " + listed(unmeasured, ", "));
  lines.push_back(fit.model == CalibratedModel::Nccl
                      ? "not covered: all_to_all, permute, send and recv of engine nccl, and engine braid; priced as "
                        "without the fit"
                      : "not covered: prices of braid-sim, whose engines do not use these constants; braid-bench probe "
                        "does, for an all_reduce");
  return lines;
}

} // namespace braid::cost
