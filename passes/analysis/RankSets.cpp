//===- RankSets.cpp - expands groups, maps id spaces, compares by meaning ---------------------------------------===//
#include "analysis/RankSets.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::braid {

bool orderMatters(CollectiveKind kind) { return kind != CollectiveKind::AllReduce; }

int RankSets::number(const std::vector<std::vector<int>> &rows, std::map<std::vector<std::vector<int>>, int> &known) {
  return known.try_emplace(rows, int(known.size())).first->second;
}

/// Ids of one space as ranks: one row may stand for several groups (a group of replicas exists once per partition).
static void appendRanks(ArrayRef<int64_t> ids, IdSpace space, const ProgramRanks &ranks,
                        std::vector<std::vector<int>> &rows) {
  int64_t partitions = ranks.partitions, replicas = ranks.replicas;
  switch (space) {
  case IdSpace::Flattened:
    rows.emplace_back(ids.begin(), ids.end());
    return;
  case IdSpace::Replica:
    for (int64_t partition = 0; partition < partitions; ++partition) {
      std::vector<int> &row = rows.emplace_back();
      for (int64_t id : ids)
        row.push_back(int(id * partitions + partition));
    }
    return;
  case IdSpace::Partition:
    for (int64_t replica = 0; replica < replicas; ++replica) {
      std::vector<int> &row = rows.emplace_back();
      for (int64_t id : ids)
        row.push_back(int(replica * partitions + id));
    }
    return;
  case IdSpace::ReplicaAndPartition: {
    std::vector<int> &row = rows.emplace_back();
    for (int64_t id : ids)
      for (int64_t partition = 0; partition < partitions; ++partition)
        row.push_back(int(id * partitions + partition));
    return;
  }
  }
}

static int64_t idsInSpace(IdSpace space, const ProgramRanks &ranks) {
  switch (space) {
  case IdSpace::Flattened:
    return ranks.ranks();
  case IdSpace::Partition:
    return ranks.partitions;
  case IdSpace::Replica:
  case IdSpace::ReplicaAndPartition:
    return ranks.replicas;
  }
  return ranks.ranks();
}

std::vector<std::vector<int>> rankRows(ArrayRef<SmallVector<int64_t>> rows, IdSpace space, const ProgramRanks &ranks) {
  std::vector<std::vector<int>> expanded;
  for (ArrayRef<int64_t> row : rows)
    appendRanks(row, space, ranks, expanded);
  return expanded;
}

FailureOr<RankSet> RankSets::expand(CollectiveOpInterface op) {
  IdSpace space = op.getIdSpace();
  int64_t limit = idsInSpace(space, ranks);
  auto pairs = std::make_shared<cost::RankGroups>();
  std::vector<std::vector<int>> rows;
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation())) {
    for (auto [source, target] : permute.getPairList()) {
      for (int64_t id : {source, target})
        if (id < 0 || id >= limit)
          return op.emitError() << "pairs: expected ids from 0 to " << limit - 1 << " (" << ranks.source << "), got "
                                << id;
      appendRanks({source, target}, space, ranks, rows);
    }
    for (const std::vector<int> &row : rows)
      pairs->pairs.emplace_back(row[0], row[1]);
  } else {
    SmallVector<SmallVector<int64_t>> expanded;
    op.getGroupsAttr().expand(expanded);
    if (expanded.empty()) {
      expanded.emplace_back();
      for (int64_t id = 0; id < limit; ++id)
        expanded.back().push_back(id);
    }
    std::vector<char> seen(limit, 0);
    for (ArrayRef<int64_t> ids : expanded) {
      for (int64_t id : ids) {
        if (id < 0 || id >= limit)
          return op.emitError() << "groups: expected ids from 0 to " << limit - 1 << " (" << ranks.source << "), got "
                                << id;
        if (seen[id]++)
          return op.emitError() << "groups: expected each id once, got " << id << " twice";
      }
      appendRanks(ids, space, ranks, rows);
    }
    for (int64_t id = 0; id < limit; ++id)
      if (!seen[id])
        return op.emitError() << "groups: expected every id from 0 to " << limit - 1 << " (" << ranks.source
                              << "), got no " << id;
  }
  // The order of groups never means anything; the order of ids does for some kinds.
  llvm::sort(rows);
  RankSet set;
  set.orderedMeaning = number(rows, orderedMeanings);
  std::vector<std::vector<int>> ordered = rows;
  if (!isa<PermuteOp>(op.getOperation()))
    for (std::vector<int> &row : rows)
      llvm::sort(row);
  llvm::sort(rows);
  set.meaning = number(rows, meanings);
  if (isa<PermuteOp>(op.getOperation())) {
    rows.push_back({-1}); // pairs are not groups of two
    auto &known = shared[rows];
    if (!known)
      known = pairs;
    set.groups = set.unordered = known;
  } else {
    set.groups = canonical(std::move(ordered));
    set.unordered = canonical(std::move(rows));
  }
  return set;
}

std::shared_ptr<const cost::RankGroups> RankSets::canonical(std::vector<std::vector<int>> rows) {
  auto &known = shared[rows];
  if (!known) {
    auto groups = std::make_shared<cost::RankGroups>();
    groups->groups = std::move(rows);
    known = groups;
  }
  return known;
}

FailureOr<RankSet> RankSets::of(CollectiveOpInterface op) {
  const void *attr = nullptr;
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation()))
    attr = permute.getPairsAttr().getAsOpaquePointer();
  else if (op.getGroupsAttr())
    attr = op.getGroupsAttr().getAsOpaquePointer();
  else
    return op.emitError() << "groups: expected groups or pairs, got neither";
  auto key = std::make_pair(attr, int(op.getIdSpace()));
  if (auto it = sets.find(key); it != sets.end())
    return it->second;
  FailureOr<RankSet> set = expand(op);
  if (succeeded(set))
    sets[key] = *set;
  return set;
}

bool shareTwoRanks(const cost::RankGroups &a, const cost::RankGroups &b) {
  auto rowsOf = [](const cost::RankGroups &set) {
    std::vector<std::vector<int>> rows = set.groups;
    for (auto [source, target] : set.pairs)
      if (source != target)
        rows.push_back({source, target});
    return rows;
  };
  // Ranks may be in several pairs of a permute, so each row of `a` is looked at on its own.
  std::vector<std::vector<int>> rowsA = rowsOf(a), rowsB = rowsOf(b);
  llvm::DenseMap<int, SmallVector<int, 2>> rowsOfRank;
  for (auto [index, row] : llvm::enumerate(rowsB))
    for (int rank : row)
      rowsOfRank[rank].push_back(int(index));
  for (const std::vector<int> &row : rowsA) {
    llvm::DenseMap<int, int> common;
    for (int rank : row)
      if (auto it = rowsOfRank.find(rank); it != rowsOfRank.end())
        for (int other : it->second)
          if (++common[other] >= 2)
            return true;
  }
  return false;
}

} // namespace mlir::braid
