// The table of facts about operations read by name, and attributes in each encoding.
#include "braid/passes/StablehloOp.h"
#include "braid/passes/PlaceholderDialects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace mlir::braid;

namespace {
struct Program {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  explicit Program(const char *text) {
    context.loadDialect<func::FuncDialect, arith::ArithDialect>();
    loadPlaceholderDialects(context);
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
  }
  Operation *find(StringRef name) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name)
        found = op;
    });
    REQUIRE(found);
    return found;
  }
};
} // namespace

TEST_CASE("facts by name") {
  CHECK(factsOf("stablehlo.add").elementwise);
  CHECK(factsOf("mhlo.add").elementwise);
  CHECK(factsOf("chlo.erf").elementwise);
  CHECK(factsOf("stablehlo.broadcast_in_dim").fusible);
  CHECK_FALSE(factsOf("stablehlo.broadcast_in_dim").elementwise);
  CHECK(factsOf("stablehlo.dot_general").pure);
  CHECK_FALSE(factsOf("stablehlo.dot_general").fusible);
  CHECK(factsOf("stablehlo.while").controlFlow);
  CHECK(factsOf("stablehlo.while").hasRegions);
  CHECK(factsOf("stablehlo.return").terminator);
  CHECK(factsOf("sdy.return").terminator);
  CHECK(factsOf("stablehlo.optimization_barrier").orders);
  CHECK(factsOf("stablehlo.partition_id").perRank);
  for (const char *name :
       {"stablehlo.all_reduce", "stablehlo.collective_permute", "stablehlo.async_start", "sdy.all_gather"}) {
    CHECK(factsOf(name).collective);
    CHECK(factsOf(name).barrier);
  }
  for (const char *name : {"stablehlo.rng", "stablehlo.infeed", "stablehlo.send"}) {
    CHECK(factsOf(name).barrier);
    CHECK_FALSE(factsOf(name).pure);
  }
  // What is not known is a barrier.
  CHECK_FALSE(factsOf("stablehlo.of_the_future").known);
  CHECK(factsOf("stablehlo.of_the_future").barrier);
}

TEST_CASE("facts by operation") {
  Program program(R"(
    func.func @main(%a: tensor<4xf32>, %p: tensor<i1>) {
      %0 = "stablehlo.custom_call"(%a) <{call_target_name = "print", has_side_effect = true}> : (tensor<4xf32>) -> tensor<4xf32>
      %1 = arith.addf %a, %a : tensor<4xf32>
      "stablehlo.if"(%p) ({
        %2 = "stablehlo.infeed"() : () -> tensor<4xf32>
        "stablehlo.return"() : () -> ()
      }, {
        "stablehlo.return"() : () -> ()
      }) : (tensor<i1>) -> ()
      %3 = "stablehlo.reduce"(%a, %a) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%s) : (tensor<f32>) -> ()
      }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
      return
    })");
  CHECK(factsOf(program.find("stablehlo.custom_call")).barrier);
  program.find("stablehlo.custom_call")->setDiscardableAttr("note", UnitAttr::get(&program.context));
  setSourceAttr(program.find("stablehlo.custom_call"), "has_side_effect", BoolAttr::get(&program.context, false));
  CHECK(factsOf(program.find("stablehlo.custom_call")).pure);
  CHECK(factsOf(program.find("arith.addf")).elementwise);
  CHECK(factsOf(program.find("func.return")).terminator);
  CHECK(factsOf(program.find("stablehlo.if")).pure);
  CHECK_FALSE(isPureWithRegions(program.find("stablehlo.if")));
  CHECK(isPureWithRegions(program.find("stablehlo.reduce")));
}

TEST_CASE("attributes in each encoding") {
  Program program(R"("builtin.module"() ({
    %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> {mhlo.note = 1 : i64} : () -> tensor<4xf32>
    %1 = "mhlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<4xf32>
    %2 = "arith.constant"() <{value = 7 : i64}> : () -> i64
  }) : () -> ())");
  auto number = [](Operation *op, StringRef name) { return getSourceAttr<IntegerAttr>(op, name).getInt(); };
  Operation *properties = program.find("stablehlo.iota"), *dictionary = program.find("mhlo.iota");
  Operation *registered = program.find("arith.constant");
  CHECK(encodingOf(properties) == SourceEncoding::Properties);
  CHECK(encodingOf(dictionary) == SourceEncoding::Attributes);
  CHECK(encodingOf(registered) == SourceEncoding::Registered);
  CHECK(number(properties, "iota_dimension") == 0);
  CHECK(number(properties, "mhlo.note") == 1);
  CHECK(number(dictionary, "iota_dimension") == 1);
  CHECK(number(registered, "value") == 7);
  CHECK_FALSE(getSourceAttr(properties, "nothing"));

  // A new value stands where the old one stood.
  Attribute five = IntegerAttr::get(IntegerType::get(&program.context, 64), 5);
  for (Operation *op : {properties, dictionary}) {
    setSourceAttr(op, "iota_dimension", five);
    CHECK(number(op, "iota_dimension") == 5);
  }
  CHECK_FALSE(properties->getDiscardableAttr("iota_dimension"));
  CHECK(dictionary->getDiscardableAttr("iota_dimension") == five);
}

TEST_CASE("operations made by name have the encoding asked for") {
  Program program("module {}");
  OpBuilder builder(program.module->getBodyRegion());
  NamedAttribute attr = builder.getNamedAttr("iota_dimension", builder.getI64IntegerAttr(0));
  auto type = RankedTensorType::get({4}, builder.getF32Type());
  for (SourceEncoding encoding : {SourceEncoding::Properties, SourceEncoding::Attributes})
    CHECK(encodingOf(createSourceOp(builder, builder.getUnknownLoc(), "stablehlo.iota", {}, type, attr, encoding)) ==
          encoding);
}
