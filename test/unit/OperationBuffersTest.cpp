//===- OperationBuffersTest.cpp - planned operations with other buffers, and with a wider type to combine in -----------===//
#include "reduce/Arithmetic.h"
#include "reduce/Reduce.h"
#include "test/conformance/Ranks.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

using namespace braid;
using namespace braid::test;
using runtime::arithmetic::BF16;

namespace {

std::string check(braid_status status) { return status ? braid_last_error() : ""; }

braid_op_options optionsOf(braid_collective collective, braid_type type, const std::vector<braid_buffer> &buffers) {
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = collective;
  options.type = type;
  options.tensors = buffers.size();
  options.buffers = buffers.data();
  options.name = "test";
  return options;
}

} // namespace

TEST_CASE("a rank gives an operation other buffers without the others knowing", "[executor]") {
  constexpr size_t count = 20000;
  Ranks ranks(3, {});
  REQUIRE(ranks.failed() == "");
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    // More sets of buffers than are remembered, some that peers can map and some in place.
    std::vector<std::vector<int32_t>> own(6, std::vector<int32_t>(count));
    auto *shared = static_cast<int32_t *>(braid_alloc(comm, count * sizeof(int32_t)));
    std::vector<braid_buffer> sets;
    for (size_t i = 0; i + 1 < own.size(); ++i)
      sets.push_back({own[i].data(), own[i + 1].data(), count, count});
    sets.push_back({shared, shared, count, count});
    sets.push_back({shared, own[0].data(), count, count});
    braid_op *op = nullptr;
    auto options = optionsOf(BRAID_ALL_REDUCE, BRAID_I32, sets);
    options.tensors = 1;
    std::string problem = check(braid_op_plan(comm, &options, &op));
    for (int round = 0; round < 40 && problem.empty(); ++round) {
      const braid_buffer &set = sets[size_t(rank == 0 ? 0 : round * (rank + 2)) % sets.size()];
      auto *send = static_cast<int32_t *>(const_cast<void *>(set.send));
      for (size_t i = 0; i < count; ++i)
        send[i] = round + rank * int32_t(i);
      problem = check(braid_op_rebind(op, &set, 1));
      if (problem.empty())
        problem = check(braid_op_start(op));
      if (problem.empty() && braid_op_rebind(op, &set, 1) != BRAID_INVALID)
        problem = "expected other buffers to be refused in flight";
      if (problem.empty())
        problem = check(braid_op_wait(op));
      for (size_t i = 0; i < count && problem.empty(); ++i)
        if (static_cast<int32_t *>(set.receive)[i] != 3 * round + 3 * int32_t(i))
          problem = "round " + std::to_string(round) + ": wrong at " + std::to_string(i);
    }
    braid_buffer other = {shared, shared, count - 1, count - 1};
    if (problem.empty() && braid_op_rebind(op, &other, 1) != BRAID_INVALID)
      problem = "expected another size to be refused";
    braid_op_destroy(op);
    braid_free(comm, shared);
    return problem;
  }) == "");
}

TEST_CASE("bf16 summed in f32 has the bits of f32 sums, rounded once", "[executor]") {
  // 4096 in bf16 swallows each 1 that is added to it: 4096 + 1 rounds to 4096, while 4096 + 32 in f32 is 4128.
  for (int n : {1, 2, 5}) {
    Ranks ranks(n, {});
    REQUIRE(ranks.failed() == "");
    CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
      for (size_t count : {size_t(1), size_t(1000), size_t(70000)})
        for (braid_reduction reduction : {BRAID_SUM, BRAID_AVERAGE, BRAID_PRODUCT})
          for (bool inPlace : {false, true}) {
            std::vector<BF16> in(count), out(count);
            std::vector<float> wideIn(count), wideOut(count);
            std::mt19937 random(unsigned(rank + 1));
            for (size_t i = 0; i < count; ++i) {
              in[i] = BF16::round(std::ldexp(float(random() % 1000) + 0.5f, int(random() % 8) - 4));
              wideIn[i] = in[i].value();
            }
            BF16 *result = inPlace ? in.data() : out.data();
            auto options = optionsOf(BRAID_ALL_REDUCE, BRAID_BF16, {});
            braid_buffer narrow = {in.data(), result, count, count},
                         wide = {wideIn.data(), wideOut.data(), count, count};
            options.tensors = 1;
            options.buffers = &narrow;
            options.reduction = reduction;
            options.accumulation = BRAID_F32 + 1;
            options.algorithm = n > 1 ? "ring" : nullptr;
            braid_op *op = nullptr, *reference = nullptr;
            std::string problem = check(braid_op_plan(comm, &options, &op));
            options.type = BRAID_F32;
            options.accumulation = 0;
            options.buffers = &wide;
            if (problem.empty())
              problem = check(braid_op_plan(comm, &options, &reference));
            for (braid_op *each : {op, reference})
              if (problem.empty())
                problem = check(braid_op_start(each));
            for (braid_op *each : {op, reference})
              if (problem.empty())
                problem = check(braid_op_wait(each));
            for (size_t i = 0; i < count && problem.empty(); ++i)
              if (BF16::round(wideOut[i]).bits != result[i].bits)
                problem = "element " + std::to_string(i) + " of " + std::to_string(count);
            for (braid_op *each : {op, reference})
              if (each)
                braid_op_destroy(each);
            if (!problem.empty())
              return problem;
          }
      return {};
    }) == "");
  }
}

TEST_CASE("i8 summed in i32 is averaged before it is cut to i8; other classes are refused", "[executor]") {
  Ranks ranks(4, {});
  CHECK(ranks.run([&](int, braid_comm *comm) -> std::string {
    int8_t in = 100, out = 0;
    braid_buffer buffer = {&in, &out, 1, 1};
    auto options = optionsOf(BRAID_ALL_REDUCE, BRAID_I8, {buffer});
    options.buffers = &buffer;
    options.reduction = BRAID_AVERAGE;
    options.accumulation = BRAID_I32 + 1;
    braid_op *op = nullptr;
    std::string problem = check(braid_op_plan(comm, &options, &op));
    if (problem.empty() && (braid_op_start(op) || braid_op_wait(op)))
      problem = braid_last_error();
    if (problem.empty() && out != 100)
      problem = "expected 100, got " + std::to_string(out);
    if (op)
      braid_op_destroy(op);
    for (braid_type wrong : {BRAID_F32, BRAID_U32, BRAID_BOOL}) {
      options.accumulation = int32_t(wrong) + 1;
      if (problem.empty() && braid_op_plan(comm, &options, &op) != BRAID_INVALID)
        problem = "expected another class to be refused";
    }
    options.type = BRAID_I32;
    options.accumulation = BRAID_I8 + 1;
    if (problem.empty() && braid_op_plan(comm, &options, &op) != BRAID_INVALID)
      problem = "expected a narrower type to be refused";
    return problem;
  }) == "");
}

TEST_CASE("f64 is rounded once to f16", "[executor]") {
  // Just above the midpoint of 1 and the next f16, by less than f32 can hold: rounded through f32 it would be 1.
  double value = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  uint16_t half = 0;
  runtime::convert(BRAID_F16, &half, BRAID_F64, &value, 1);
  CHECK(half == 0x3c01);
  value = -(1.0 + std::ldexp(1.0, -11) - std::ldexp(1.0, -40));
  runtime::convert(BRAID_F16, &half, BRAID_F64, &value, 1);
  CHECK(half == 0xbc00);
}
