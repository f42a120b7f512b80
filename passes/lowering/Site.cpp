//===- Site.cpp - the constants of a call site ------------------------------------------------------------------===//
//
// The numbers are those of braid_rt.h. They are spelled out here, since the compiler does not include the runtime; a unit
// test compares them.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "lowering/Site.h"

#include "analysis/RankSets.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::braid {

static constexpr int64_t siteVersion = 4, unsignedByte = 5;

std::optional<int64_t> runtimeType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return 0;
    case 8:
      return isUnsigned ? 5 : 1;
    case 16:
      return isUnsigned ? 6 : 2;
    case 32:
      return isUnsigned ? 7 : 3;
    case 64:
      return isUnsigned ? 8 : 4;
    default:
      return std::nullopt;
    }
  }
  if (element.isIndex())
    return 4;
  if (isa<Float8E4M3FNType>(element))
    return 9;
  if (isa<Float8E5M2Type>(element))
    return 10;
  if (element.isF16())
    return 11;
  if (element.isBF16())
    return 12;
  if (element.isF32())
    return 13;
  if (element.isF64())
    return 14;
  return std::nullopt;
}

std::optional<int64_t> runtimeMemory(BaseMemRefType type) {
  Attribute space = type.getMemorySpace();
  auto number = dyn_cast_or_null<IntegerAttr>(space);
  auto named = dyn_cast_or_null<gpu::AddressSpaceAttr>(space);
  if (!space || (number && number.getInt() == 0))
    return hostMemory;
  if ((number && number.getInt() == 1) || (named && named.getValue() == gpu::AddressSpace::Global))
    return deviceMemory;
  return std::nullopt;
}

FailureOr<int64_t> runtimeMemory(LaunchOp launch) {
  std::optional<int64_t> all;
  for (Value tensor : llvm::concat<Value>(launch.getInputs(), launch.getInits())) {
    auto type = dyn_cast<BaseMemRefType>(tensor.getType());
    if (!type)
      continue;
    std::optional<int64_t> memory = runtimeMemory(type);
    if (!memory)
      return launch.emitOpError("memory space, expected that of the host (none) or global memory of a device (1, "
                                "#gpu.address_space<global>), got ")
             << type;
    if (all && *all != *memory)
      return launch.emitOpError("buffers, expected all in one memory, got some of the host and some of a device");
    all = memory;
  }
  return all.value_or(hostMemory);
}

bool movesBytes(LaunchOp launch) {
  if (launch.getReduction())
    return false;
  llvm::SmallPtrSet<Type, 4> types;
  for (Value tensor : llvm::concat<Value>(launch.getInputs(), launch.getInits()))
    types.insert(getElementTypeOrSelf(tensor.getType()));
  return types.size() > 1;
}

/// Kinds whose ranks are all those of the program.
static bool isAmongAll(CollectiveKind kind) {
  return kind == CollectiveKind::Permute || kind == CollectiveKind::Send || kind == CollectiveKind::Recv;
}

FailureOr<SmallVector<int64_t>> siteWords(LaunchOp launch, const ProgramRanks &ranks, int64_t number) {
  CollectiveKind kind = launch.getCollective();
  ValueRange tensors = launch.getInits().empty() ? ValueRange(launch.getInputs()) : ValueRange(launch.getInits());
  Type element = tensors.empty() ? Type() : getElementTypeOrSelf(tensors.front().getType());
  int64_t type = 0;
  int64_t accumulation = 0;
  if (movesBytes(launch)) {
    type = unsignedByte;
  } else if (element) {
    std::optional<int64_t> found = runtimeType(element);
    if (!found)
      return launch.emitOpError("element type, expected one of the runtime (f64 f32 f16 bf16 f8 i8 to i64, i1), got ")
             << element;
    type = *found;
    if (std::optional<Type> accumulate = launch.getAccumulate(); accumulate && *accumulate != element) {
      found = runtimeType(*accumulate);
      if (!found)
        return launch.emitOpError("attribute 'accumulate', expected a type of the runtime, got ") << *accumulate;
      accumulation = *found + 1;
    }
  }
  PlanAttr plan = launch.getPlanAttr();
  if (plan && plan.getEngine() == EngineKind::Xla)
    return launch.emitOpError("plan, expected one for an engine of the runtime (braid, nccl, mpi), got '")
           << stringifyEngineKind(plan.getEngine()) << "'";

  FailureOr<int64_t> memory = runtimeMemory(launch);
  if (failed(memory))
    return failure();

  std::vector<std::vector<int>> rows;
  SmallVector<std::pair<int, int>> pairs;
  if (!isAmongAll(kind)) {
    SmallVector<SmallVector<int64_t>> ids;
    launch.getGroupsAttr().expand(ids);
    if (ids.empty() && launch.getIdSpace() != IdSpace::Flattened) {
      int64_t count = launch.getIdSpace() == IdSpace::Partition ? ranks.partitions : ranks.replicas;
      ids.push_back(llvm::to_vector(llvm::seq<int64_t>(0, count)));
    }
    rows = rankRows(ids, launch.getIdSpace(), ranks);
  } else if (std::optional<DenseIntElementsAttr> list = launch.getPairs()) {
    SmallVector<SmallVector<int64_t>> ids;
    auto values = list->getValues<int64_t>();
    for (auto value = values.begin(); value != values.end(); ++value) {
      int64_t source = *value++;
      ids.push_back({source, *value});
    }
    for (const std::vector<int> &row : rankRows(ids, launch.getIdSpace(), ranks))
      pairs.emplace_back(row[0], row[1]);
  }

  int64_t idCount = 0;
  for (const std::vector<int> &row : rows)
    idCount += row.size();
  SmallVector<int64_t> words = {
      siteVersion,
      number,
      int64_t(kind),
      type,
      launch.getReduction() ? int64_t(*launch.getReduction()) : int64_t(0),
      int64_t(launch.getRoot().value_or(0)),
      int64_t(launch.getPeer().value_or(0)),
      int64_t(launch.getTag().value_or(0)),
      plan ? plan.getChannels() : 0,
      plan ? plan.getChunks() : 0,
      accumulation,
      *memory,
      plan ? int64_t(plan.getEngine()) + 1 : 0,
      int64_t(rows.size()),
      idCount,
      int64_t(pairs.size()),
  };
  for (const std::vector<int> &row : rows)
    words.push_back(row.size());
  for (const std::vector<int> &row : rows)
    words.append(row.begin(), row.end());
  for (auto [source, target] : pairs)
    words.append({source, target});
  return words;
}

} // namespace mlir::braid
