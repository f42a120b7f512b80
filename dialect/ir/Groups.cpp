//===- Groups.cpp - what groups mean, whatever their spelling ---------------------------------------------------===//
#include "braid/dialect/Groups.h"
#include "braid/dialect/BraidOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::braid;

SmallVector<SmallVector<int64_t>> mlir::braid::expandGroups(GroupsAttrInterface groups, int64_t rankCount) {
  SmallVector<SmallVector<int64_t>> rows;
  groups.expand(rows);
  if (rows.empty() && rankCount > 0)
    rows.push_back(llvm::to_vector(llvm::seq<int64_t>(0, rankCount)));
  return rows;
}

bool mlir::braid::sameGroups(GroupsAttrInterface a, GroupsAttrInterface b, bool orderMatters, int64_t rankCount) {
  if (a == b)
    return true;
  if (!a || !b)
    return false;
  SmallVector<SmallVector<int64_t>> rowsOfA = expandGroups(a, rankCount), rowsOfB = expandGroups(b, rankCount);
  if (rowsOfA.size() != rowsOfB.size())
    return false;
  for (auto *rows : {&rowsOfA, &rowsOfB}) {
    if (!orderMatters)
      for (SmallVector<int64_t> &row : *rows)
        llvm::sort(row);
    llvm::sort(*rows);
  }
  return rowsOfA == rowsOfB;
}

/// One digit of a mixed-radix count: it takes `size` values, each `stride` from the last.
namespace {
struct Digit {
  int64_t size;
  int64_t stride;
};
} // namespace

/// Read a sequence of ids as an odometer whose fastest digit comes first in the result. The runs are taken as long as
/// possible; the caller checks by expansion that the reading is right for the whole sequence.
static SmallVector<Digit> digitsOf(ArrayRef<int64_t> ids) {
  SmallVector<Digit> digits;
  for (size_t block = 1; block < ids.size();) { // ids[0, block) are explained by the digits so far
    int64_t stride = ids[block] - ids[0];
    size_t size = 2;
    while ((size + 1) * block <= ids.size() && ids[size * block] - ids[0] == int64_t(size) * stride)
      ++size;
    // A longest run may end inside the next digit's range: fall back to the longest that divides what is left.
    while (size > 1 && (ids.size() / block) % size != 0)
      --size;
    if (size == 1 || stride <= 0)
      return {};
    digits.push_back({int64_t(size), stride});
    block *= size;
  }
  return digits;
}

GroupsAttrInterface mlir::braid::compressGroups(GroupsAttrInterface groups) {
  auto list = dyn_cast_or_null<GroupsAttr>(groups);
  if (!list || list.getIds().empty() || llvm::is_contained(list.getIds(), -1))
    return groups; // no list, all ranks, or rows of different length
  ArrayRef<int64_t> ids = list.getIds();
  int64_t count = ids.size();
  if (ids.front() != 0)
    return groups;
  SmallVector<Digit> digits = digitsOf(ids);
  if (count > 1 && digits.empty())
    return groups;
  // The numbers are counted with the largest stride slowest; the transposition says in which order the sequence reads
  // them.
  std::reverse(digits.begin(), digits.end());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, digits.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::make_pair(digits[b].stride, a) < std::make_pair(digits[a].stride, b);
  });
  SmallVector<int64_t> reshapeDims, transpose(digits.size());
  for (auto [place, digit] : llvm::enumerate(order)) {
    reshapeDims.push_back(digits[digit].size);
    transpose[digit] = place;
  }
  if (reshapeDims.empty())
    reshapeDims.push_back(1);
  if (llvm::is_sorted(transpose)) // nothing to transpose: then it counts straight on
    transpose.clear(), reshapeDims.assign(1, count);
  SmallVector<int64_t> shape = {count / list.getWidth(), list.getWidth()};
  auto iota = IotaGroupsAttr::get(groups.getContext(), shape, reshapeDims, transpose);
  SmallVector<int64_t> expanded;
  iota.expandFlat(expanded);
  return ArrayRef<int64_t>(expanded) == ids ? GroupsAttrInterface(iota) : groups;
}

//===------------------------------------------------------------------------------------------------------------===//
// How many ranks there are
//===------------------------------------------------------------------------------------------------------------===//

int64_t ModuleRanks::total() const {
  int64_t product;
  return __builtin_mul_overflow(replicas, partitions, &product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t ModuleRanks::idsIn(IdSpace space) const {
  switch (space) {
  case IdSpace::Flattened:
    return total();
  case IdSpace::Replica:
  case IdSpace::ReplicaAndPartition:
    return replicas;
  case IdSpace::Partition:
    return partitions;
  }
  llvm_unreachable("unknown id space");
}

ModuleRanks mlir::braid::moduleRanks(ModuleOp module) {
  ModuleRanks ranks;
  auto read = [&](StringRef name, int64_t &count) {
    auto number = module->getAttrOfType<IntegerAttr>(name);
    if (!number || number.getInt() <= 0)
      return;
    count = number.getInt();
    ranks.stated = true;
  };
  read("mhlo.num_replicas", ranks.replicas);
  read("mhlo.num_partitions", ranks.partitions);
  return ranks;
}

ModuleRanks mlir::braid::moduleRanksAround(Operation *op) {
  // The outermost module speaks for the program; nested ones (kernels) carry no such attributes.
  ModuleRanks ranks;
  for (auto module = op->getParentOfType<ModuleOp>(); module; module = module->getParentOfType<ModuleOp>())
    if (ranks = moduleRanks(module); ranks.stated)
      break;
  return ranks;
}

int64_t mlir::braid::rankCountOf(ModuleOp module, bool *exactly) {
  ModuleRanks stated = moduleRanks(module);
  if (exactly)
    *exactly = true;
  if (stated.total() > 1)
    return stated.total();
  int64_t count = 1, inPairs = 1;
  module.walk([&](CollectiveOpInterface collective) {
    if (GroupsAttrInterface groups = collective.getGroupsAttr())
      count = std::max(count, groups.getNumRanks());
    else if (auto permute = dyn_cast<PermuteOp>(collective.getOperation()))
      for (auto [source, target] : permute.getPairList())
        inPairs = std::max(inPairs, std::min(std::max(source, target), std::numeric_limits<int64_t>::max() - 1) + 1);
  });
  if (exactly)
    *exactly = count > 1 || inPairs == 1;
  return std::max(count, inPairs);
}
