//===- LoweredSiteTest.cpp - the compiler and the runtime mean the same by the same numbers ---------------------===//
#include "braid/dialect/BraidOps.h"
#include "braid/runtime/braid_rt.h"
#include "mlir/IR/Builders.h"
#include "passes/lowering/Site.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace mlir::braid;

TEST_CASE("lowered site: collectives and reductions have the runtime's numbers") {
  CHECK(int(CollectiveKind::AllReduce) == BRAID_ALL_REDUCE);
  CHECK(int(CollectiveKind::ReduceScatter) == BRAID_REDUCE_SCATTER);
  CHECK(int(CollectiveKind::AllGather) == BRAID_ALL_GATHER);
  CHECK(int(CollectiveKind::AllToAll) == BRAID_ALL_TO_ALL);
  CHECK(int(CollectiveKind::Permute) == BRAID_PERMUTE);
  CHECK(int(CollectiveKind::Broadcast) == BRAID_BROADCAST);
  CHECK(int(CollectiveKind::Reduce) == BRAID_REDUCE);
  CHECK(int(CollectiveKind::Gather) == BRAID_GATHER);
  CHECK(int(CollectiveKind::Scatter) == BRAID_SCATTER);
  CHECK(int(CollectiveKind::Send) == BRAID_SEND);
  CHECK(int(CollectiveKind::Recv) == BRAID_RECV);
  CHECK(int(CollectiveKind::Barrier) == BRAID_BARRIER);
  CHECK(int(ReductionKind::Sum) == BRAID_SUM);
  CHECK(int(ReductionKind::Product) == BRAID_PRODUCT);
  CHECK(int(ReductionKind::Min) == BRAID_MIN);
  CHECK(int(ReductionKind::Max) == BRAID_MAX);
  CHECK(int(ReductionKind::Average) == BRAID_AVERAGE);
  CHECK(int(ReductionKind::And) == BRAID_AND);
  CHECK(int(ReductionKind::Or) == BRAID_OR);
  CHECK(int(ReductionKind::Xor) == BRAID_XOR);
  CHECK(hostMemory == BRAID_MEMORY_HOST);
  CHECK(deviceMemory == BRAID_MEMORY_DEVICE);
}

TEST_CASE("lowered site: element types have the runtime's numbers") {
  MLIRContext context;
  Builder b(&context);
  auto integer = [&](unsigned width, bool isUnsigned) {
    return IntegerType::get(&context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  CHECK(runtimeType(b.getI1Type()) == BRAID_BOOL);
  CHECK(runtimeType(integer(8, false)) == BRAID_I8);
  CHECK(runtimeType(integer(16, false)) == BRAID_I16);
  CHECK(runtimeType(integer(32, false)) == BRAID_I32);
  CHECK(runtimeType(integer(64, false)) == BRAID_I64);
  CHECK(runtimeType(b.getIndexType()) == BRAID_I64);
  CHECK(runtimeType(integer(8, true)) == BRAID_U8);
  CHECK(runtimeType(integer(16, true)) == BRAID_U16);
  CHECK(runtimeType(integer(32, true)) == BRAID_U32);
  CHECK(runtimeType(integer(64, true)) == BRAID_U64);
  CHECK(runtimeType(Float8E4M3FNType::get(&context)) == BRAID_F8E4M3FN);
  CHECK(runtimeType(Float8E5M2Type::get(&context)) == BRAID_F8E5M2);
  CHECK(runtimeType(b.getF16Type()) == BRAID_F16);
  CHECK(runtimeType(b.getBF16Type()) == BRAID_BF16);
  CHECK(runtimeType(b.getF32Type()) == BRAID_F32);
  CHECK(runtimeType(b.getF64Type()) == BRAID_F64);
  CHECK_FALSE(runtimeType(integer(4, false)));
  CHECK_FALSE(runtimeType(Float8E4M3FNUZType::get(&context)));
}
