//===- RankSets.h - groups of device ids, each expanded once ----------------------------------------------------===//
//
// A program of hundreds of collectives has a handful of groups. Each distinct attribute is expanded once, its ids are
// mapped to ranks (id spaces), and groups that mean the same get the same number however they are written.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_RANKSETS_H
#define BRAID_PASSES_ANALYSIS_RANKSETS_H

#include "analysis/ModuleRanks.h"
#include "braid/cost_models/Price.h"
#include "braid/dialect/BraidOps.h"
#include <map>
#include <memory>

namespace mlir::braid {

namespace cost = ::braid::cost;

/// The order of ids inside a group decides what a rank gets.
bool orderMatters(CollectiveKind kind);

/// Equal pointers mean equal groups: the order of groups never says anything.
struct RankSet {
  std::shared_ptr<const cost::RankGroups> groups;    ///< of ranks, in each the order of the program
  std::shared_ptr<const cost::RankGroups> unordered; ///< the same with the ids of each group sorted
  int meaning = -1;                                  ///< equal for groups of equal sets of ranks
  int orderedMeaning = -1;                           ///< equal only if the order inside each group is equal too

  /// The groups that a collective of this kind runs on: where order says nothing, sets of ranks.
  const std::shared_ptr<const cost::RankGroups> &communicator(CollectiveKind kind) const {
    return orderMatters(kind) ? groups : unordered;
  }
};

class RankSets {
public:
  explicit RankSets(ProgramRanks ranks) : ranks(std::move(ranks)) {}

  /// The set of a collective. Emits an error on it for an id out of range, given twice or missing.
  FailureOr<RankSet> of(CollectiveOpInterface op);

private:
  FailureOr<RankSet> expand(CollectiveOpInterface op);
  std::shared_ptr<const cost::RankGroups> canonical(std::vector<std::vector<int>> rows);
  int number(const std::vector<std::vector<int>> &rows, std::map<std::vector<std::vector<int>>, int> &known);

  ProgramRanks ranks;
  std::map<std::pair<const void *, int>, RankSet> sets; ///< by attribute and id space
  std::map<std::vector<std::vector<int>>, int> meanings, orderedMeanings;
  std::map<std::vector<std::vector<int>>, std::shared_ptr<const cost::RankGroups>> shared;
};

/// Rows of ids of one space as rows of ranks: one row may stand for several (a group of replicas exists once per
/// partition).
std::vector<std::vector<int>> rankRows(ArrayRef<SmallVector<int64_t>> rows, IdSpace space, const ProgramRanks &ranks);

/// Some group of `a` and some group of `b` have two ranks or more in common; pairs of a permute count as groups.
bool shareTwoRanks(const cost::RankGroups &a, const cost::RankGroups &b);

} // namespace mlir::braid

#endif
