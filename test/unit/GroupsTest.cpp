// What groups mean: expansion, equality by meaning, compression to the iota form, and counting ranks.
#include "braid/dialect/Groups.h"
#include "braid/dialect/BraidOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlir;
using namespace mlir::braid;

namespace {
using Rows = SmallVector<SmallVector<int64_t>>;

MLIRContext &context() {
  static MLIRContext context;
  context.loadDialect<BraidDialect, func::FuncDialect>();
  return context;
}
GroupsAttrInterface groups(const std::string &text) {
  auto attr = llvm::dyn_cast_or_null<GroupsAttrInterface>(parseAttribute(text, &context()));
  REQUIRE(attr);
  return attr;
}
Rows expanded(GroupsAttrInterface attr) { return expandGroups(attr); }
GroupsAttr listOf(const Rows &rows) { return GroupsAttr::get(&context(), rows); }
std::string textOf(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}
} // namespace

TEST_CASE("an iota counts, reshapes, transposes", "[groups]") {
  CHECK(expanded(groups("#braid.iota<[2, 4] from [8]>")) == Rows{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(expanded(groups("#braid.iota<[2, 4] from [4, 2] T(1, 0)>")) == Rows{{0, 2, 4, 6}, {1, 3, 5, 7}});
  CHECK(expanded(groups("#braid.iota<[3, 4] from [2, 3, 2] T(1, 0, 2)>")) ==
        Rows{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}});
  CHECK(expanded(groups("#braid.iota<[6] from [3, 2] T(1, 0)>")) == Rows{{0, 2, 4, 1, 3, 5}});
}

TEST_CASE("mesh axes expand in the order of axes and devices", "[groups]") {
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 2, \"y\" = 4], axes = [\"y\"]>")) ==
        Rows{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 2, \"y\" = 4], axes = [\"x\"]>")) ==
        Rows{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  // The axis named first counts slowest.
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 2, \"y\" = 2], axes = [\"x\", \"y\"]>")) == Rows{{0, 1, 2, 3}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 2, \"y\" = 2], axes = [\"y\", \"x\"]>")) == Rows{{0, 2, 1, 3}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 2, \"y\" = 2], axes = []>")) == Rows{{0}, {1}, {2}, {3}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 2, \"y\" = 2], axes = [\"y\"], device_ids = [0, 2, 1, 3]>")) ==
        Rows{{0, 2}, {1, 3}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 2, \"y\" = 2], axes = [\"y\"], "
                        "device_ids = #braid.iota<[4] from [2, 2] T(1, 0)>>")) == Rows{{0, 2}, {1, 3}});
  // Parts of an axis of 8 = 2 x 2 x 2.
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 8], axes = [\"x\":(1)2]>")) == Rows{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 8], axes = [\"x\":(2)2]>")) == Rows{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 8], axes = [\"x\":(4)2]>")) == Rows{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(expanded(groups("#braid.mesh_axes<[\"x\" = 8], axes = [\"x\":(4)2, \"x\":(1)2]>")) ==
        Rows{{0, 4, 1, 5}, {2, 6, 3, 7}});
}

TEST_CASE("counts agree with the expansion", "[groups]") {
  for (const char *text :
       {"#braid.groups<[[0, 1], [2, 3]]>", "#braid.groups<[[0, 1, 2], [3]]>", "#braid.iota<[2, 4] from [4, 2] T(1, 0)>",
        "#braid.iota<[8] from [8]>", "#braid.mesh_axes<[\"x\" = 8], axes = [\"x\":(2)2]>"}) {
    GroupsAttrInterface attr = groups(text);
    Rows rows = expanded(attr);
    size_t ranks = 0, largest = 0, smallest = SIZE_MAX;
    for (const auto &row : rows)
      ranks += row.size(), largest = std::max(largest, row.size()), smallest = std::min(smallest, row.size());
    INFO(text);
    CHECK(attr.getNumRanks() == int64_t(ranks));
    CHECK(attr.getNumGroups() == int64_t(rows.size()));
    CHECK(attr.getGroupSize() == int64_t(largest));
    CHECK(attr.isUniform() == (largest == smallest));
  }
  GroupsAttrInterface all = groups("#braid.groups<[]>");
  CHECK(all.getNumRanks() == 0);
  CHECK(all.getNumGroups() == 1);
  CHECK(all.getGroupSize() == 0);
  CHECK(expandGroups(all, 3) == Rows{{0, 1, 2}});
}

TEST_CASE("groups are equal by meaning", "[groups]") {
  auto same = [](const char *a, const char *b, bool order, int64_t ranks = 0) {
    bool forward = sameGroups(groups(a), groups(b), order, ranks);
    CHECK(forward == sameGroups(groups(b), groups(a), order, ranks));
    return forward;
  };
  const char *pairs = "#braid.groups<[[0, 1], [2, 3]]>";
  CHECK(same(pairs, "#braid.groups<[[2, 3], [0, 1]]>", true));
  CHECK(same(pairs, "#braid.groups<[[0, 1, -1], [2, 3, -1]]>", true));
  CHECK(same(pairs, "#braid.iota<[2, 2] from [4]>", true));
  CHECK(same(pairs, "#braid.mesh_axes<[\"x\" = 2, \"y\" = 2], axes = [\"y\"]>", true));
  CHECK_FALSE(same(pairs, "#braid.groups<[[1, 0], [2, 3]]>", true));
  CHECK(same(pairs, "#braid.groups<[[1, 0], [2, 3]]>", false));
  CHECK_FALSE(same(pairs, "#braid.groups<[[0, 2], [1, 3]]>", false));
  CHECK_FALSE(same(pairs, "#braid.groups<[[0, 1, 2, 3]]>", false));
  CHECK(same("#braid.groups<[]>", "#braid.groups<[[0, 1]]>", true, 2));
  CHECK_FALSE(same("#braid.groups<[]>", "#braid.groups<[[0, 1]]>", true, 3));
  CHECK_FALSE(same("#braid.groups<[]>", "#braid.groups<[[0, 1]]>", true));
  CHECK(sameGroups({}, {}, true));
  CHECK_FALSE(sameGroups({}, groups(pairs), true));
}

TEST_CASE("regular lists compress, others stay", "[groups]") {
  auto compressed = [](const char *text) { return textOf(compressGroups(groups(text))); };
  CHECK(compressed("#braid.groups<[[0]]>") == "#braid.iota<[1, 1] from [1]>");
  CHECK(compressed("#braid.groups<[[0, 1, 2, 3]]>") == "#braid.iota<[1, 4] from [4]>");
  CHECK(compressed("#braid.groups<[[0, 1], [2, 3]]>") == "#braid.iota<[2, 2] from [4]>");
  CHECK(compressed("#braid.groups<[[0, 4], [1, 5], [2, 6], [3, 7]]>") == "#braid.iota<[4, 2] from [2, 4] T(1, 0)>");
  CHECK(compressed("#braid.groups<[[0, 2, 4, 6], [1, 3, 5, 7]]>") == "#braid.iota<[2, 4] from [4, 2] T(1, 0)>");
  for (const char *irregular :
       {"#braid.groups<[]>", "#braid.groups<[[1, 0]]>", "#braid.groups<[[0, 1, 2], [3]]>",
        "#braid.groups<[[0, 1, 3, 2]]>", "#braid.groups<[[2, 3], [0, 1]]>", "#braid.groups<[[0, 1], [0, 1]]>",
        "#braid.groups<[[0, 2]]>", "#braid.groups<[[0, 0]]>"})
    CHECK(compressed(irregular) == irregular);
  CHECK_FALSE(compressGroups({}));
}

TEST_CASE("every iota comes back from its list, and nothing else is taken for one", "[groups]") {
  std::mt19937 random(7);
  int irregular = 0;
  for (int round = 0; round < 400; ++round) {
    SmallVector<int64_t> dims;
    int64_t count = 1;
    for (int dim = 0, rank = 1 + random() % 4; dim < rank; ++dim)
      dims.push_back(1 + random() % 5), count *= dims.back();
    SmallVector<int64_t> transpose = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
    std::shuffle(transpose.begin(), transpose.end(), random);
    SmallVector<int64_t> divisors;
    for (int64_t size = 1; size <= count; ++size)
      if (count % size == 0)
        divisors.push_back(size);
    int64_t size = divisors[random() % divisors.size()];
    auto iota = IotaGroupsAttr::get(&context(), {count / size, size}, dims, transpose);
    Rows rows = expanded(iota);
    GroupsAttrInterface again = compressGroups(listOf(rows));
    INFO(textOf(iota));
    REQUIRE(isa<IotaGroupsAttr>(again));
    REQUIRE(expanded(again) == rows);
    // Two ids swapped: another iota by chance, or no iota at all, never one with different rows.
    if (count > 2) {
      auto &a = rows[random() % rows.size()], &b = rows[random() % rows.size()];
      std::swap(a[random() % a.size()], b[random() % b.size()]);
      GroupsAttrInterface swapped = compressGroups(listOf(rows));
      REQUIRE(expanded(swapped) == rows);
      irregular += isa<GroupsAttr>(swapped);
    }
  }
  CHECK(irregular > 100);
}

TEST_CASE("16,384 ranks cost a handful of integers", "[groups]") {
  Rows rows;
  for (int64_t row = 0; row < 128; ++row)
    for (auto &ids = rows.emplace_back(); ids.size() < 128;)
      ids.push_back(row + 128 * ids.size());
  auto iota = dyn_cast<IotaGroupsAttr>(compressGroups(listOf(rows)));
  REQUIRE(iota);
  CHECK(iota.getShape().size() + iota.getReshapeDims().size() + iota.getTranspose().size() == 6);
  CHECK(iota.getNumRanks() == 16384);
}

TEST_CASE("ranks are counted from the module, else from its collectives", "[groups]") {
  bool exactly = false;
  auto ranks = [&](const std::string &attributes, const std::string &body) {
    auto module = parseSourceString<ModuleOp>("module attributes {" + attributes +
                                                  "} { func.func @f(%a: tensor<4xf32>) {" + body + " return } }",
                                              &context());
    REQUIRE(module);
    return rankCountOf(*module, &exactly);
  };
  const std::string pairs = "%0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32> ";
  const std::string shift = "%1 = braid.permute %a pairs = [[0, 6]] : tensor<4xf32> ";
  CHECK(ranks("", "") == 1);
  CHECK(ranks("", pairs) == 4);
  CHECK(ranks("", pairs + shift) == 7);
  CHECK(exactly);
  CHECK(ranks("", shift) == 7);
  CHECK(!exactly); // ranks that no pair names may be there
  CHECK(ranks("mhlo.num_partitions = 1 : i32", pairs) == 4);
  CHECK(ranks("mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32", "") == 8);
}

TEST_CASE("bytes of operands", "[dialect]") {
  auto bytes = [](const std::string &types, const std::string &attributes = "") -> std::optional<int64_t> {
    auto module = parseSourceString<ModuleOp>("func.func @f(%a: " + types + ") { %0 = braid.permute %a pairs = [] {" +
                                                  attributes + "} : " + types + " return }",
                                              &context());
    REQUIRE(module);
    std::optional<int64_t> result;
    module->walk([&](CollectiveOpInterface op) { result = op.getOperandBytes(); });
    return result;
  };
  CHECK(bytes("tensor<4x2xf32>") == 32);
  CHECK(bytes("tensor<f64>") == 8);
  CHECK(bytes("tensor<0xf32>") == 0);
  CHECK(bytes("tensor<3xi1>") == 3);
  CHECK(bytes("tensor<3xi4>") == 3);
  CHECK(bytes("tensor<3xf8E4M3FN>") == 3);
  CHECK(bytes("tensor<3xcomplex<f32>>") == 24);
  CHECK(bytes("tensor<?xf32>") == std::nullopt);
  CHECK(bytes("tensor<?xf32>", "braid.size_hint = array<i64: 100>") == 100);
}
