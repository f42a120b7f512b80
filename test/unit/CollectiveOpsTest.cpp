// What passes ask of collectives through the interface, and wrapping one in a start.
#include "braid/dialect/BraidOps.h"
#include "braid/dialect/Groups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace mlir::braid;

namespace {
MLIRContext &context() {
  static MLIRContext context;
  context.loadDialect<BraidDialect, func::FuncDialect>();
  return context;
}
OwningOpRef<ModuleOp> parsed(const std::string &body) {
  auto module = parseSourceString<ModuleOp>("func.func @f(%a: tensor<4xf32>, %b: tensor<8xf32>) {" + body + " return }",
                                            &context());
  REQUIRE(module);
  return module;
}
SmallVector<CollectiveOpInterface> collectivesOf(ModuleOp module) {
  SmallVector<CollectiveOpInterface> found;
  module.walk([&](CollectiveOpInterface op) { found.push_back(op); });
  return found;
}
const std::string eachKind = R"(
  %0 = braid.all_reduce max %a groups = #braid.groups<[[0, 1]]> {channel = 7 : i64} : tensor<4xf32>
  %1 = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<2xf32>
  %2 = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<8xf32>
  %3 = braid.all_to_all %a split = [0] concat = [0] groups = #braid.groups<[[0, 1]]> : (tensor<4xf32>) -> tensor<4xf32>
  %4 = braid.permute %a pairs = [[0, 1]] {id_space = #braid.id_space<partition>} : tensor<4xf32>
  %5 = braid.broadcast %a root = 1 groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
)";
} // namespace

TEST_CASE("the interface tells what each collective is", "[dialect]") {
  auto module = parsed(eachKind);
  SmallVector<CollectiveOpInterface> ops = collectivesOf(*module);
  REQUIRE(ops.size() == 6);
  const CollectiveKind kinds[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather,
                                  CollectiveKind::AllToAll,  CollectiveKind::Permute,       CollectiveKind::Broadcast};
  for (size_t index = 0; index < 6; ++index) {
    INFO(index);
    CHECK(ops[index].getCollectiveKind() == kinds[index]);
    CHECK(bool(ops[index].getGroupsAttr()) == (kinds[index] != CollectiveKind::Permute));
    CHECK(ops[index].getOperandBytes() == 16);
    CHECK(ops[index].isBucketable() == (kinds[index] != CollectiveKind::AllToAll));
    CHECK(ops[index].getReductionKind().has_value() == (index < 2));
    CHECK(ops[index].getIdSpace() == (index == 4 ? IdSpace::Partition : IdSpace::Flattened));
    CHECK(ops[index].getChannelId() == (index == 0 ? std::optional<int64_t>(7) : std::nullopt));
    CHECK_FALSE(ops[index].getPlanAttr());
    ops[index].setPlanAttr(PlanAttr::get(&context(), EngineKind::Nccl, "ring", "LL", 2, 1, "", "5eed"));
    CHECK(ops[index].getPlanAttr().getAlgorithm() == "ring");
    CHECK(succeeded(verify(ops[index])));
    ops[index].setPlanAttr({});
    CHECK_FALSE(ops[index].getPlanAttr());
  }
  CHECK(ops[0].getReductionKind() == ReductionKind::Max);
  CHECK(cast<PermuteOp>(*ops[4]).getPairList() == SmallVector<std::pair<int64_t, int64_t>>{{0, 1}});
}

TEST_CASE("collectives write to the communication resource", "[dialect]") {
  auto module = parsed(eachKind);
  for (CollectiveOpInterface op : collectivesOf(*module)) {
    auto effects = getEffectsRecursively(op);
    REQUIRE(effects);
    REQUIRE(effects->size() == 1);
    CHECK(isa<MemoryEffects::Write>(effects->front().getEffect()));
    CHECK(isa<CommunicationResource>(effects->front().getResource()));
  }
}

TEST_CASE("each collective can be built and wrapped in a start", "[dialect]") {
  auto module = parsed("");
  auto function = *module->getOps<func::FuncOp>().begin();
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Location loc = function.getLoc();
  Value a = function.getArgument(0), b = function.getArgument(1);
  auto pair = GroupsAttr::get(&context(), {SmallVector<int64_t>{0, 1}});
  auto half = RankedTensorType::get({2}, builder.getF32Type());
  AllReduceOp::create(builder, loc, ValueRange{a, b}, ReductionKind::Sum, pair);
  ReduceScatterOp::create(builder, loc, TypeRange{half}, ValueRange{a}, ReductionKind::Sum, ArrayRef<int64_t>{0}, pair);
  AllGatherOp::create(builder, loc, TypeRange{b.getType()}, ValueRange{a}, ArrayRef<int64_t>{0}, pair);
  AllToAllOp::create(builder, loc, TypeRange{a.getType()}, ValueRange{a}, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0},
                     pair);
  PermuteOp::create(builder, loc, ValueRange{a}, ArrayRef<std::pair<int64_t, int64_t>>{{0, 1}});
  BroadcastOp::create(builder, loc, ValueRange{a}, 0, pair);
  REQUIRE(succeeded(verify(*module)));
  for (CollectiveOpInterface op : collectivesOf(*module)) {
    StartOp start = StartOp::wrap(builder, op);
    builder.setInsertionPointAfter(start);
    WaitOp::create(builder, loc, op->getResultTypes(), start.getToken(), start.getOperands());
    CHECK(start.getCollective() == op);
  }
  CHECK(succeeded(verify(*module)));
}
