//===- ModuleCallsTest.cpp - memory of compiled modules, and what the runtime refuses ----------------------------------===//
//
// What compiled modules do with it is test/e2e/lowered_test.py's matter.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/braid_module.h"
#include "braid/runtime/braid_rt.h"
#include "module/Pool.h"
#include <catch2/catch.hpp>
#include <stdexcept>

using braid::runtime::module::Pool;

TEST_CASE("pool: what is given back is given out again, the same size and nearly the same", "[module]") {
  Pool pool;
  void *first = pool.allocate(nullptr, 1000), *second = pool.allocate(nullptr, 1000);
  CHECK(first != second);
  CHECK(size_t(first) % 64 == 0);
  CHECK(pool.fresh == 2);
  CHECK(pool.release(second));
  CHECK(pool.allocate(nullptr, 960) == second);
  CHECK(pool.release(second));
  CHECK(pool.allocate(nullptr, 400) != second); // less than half of it
  CHECK(pool.fresh == 3);
  CHECK(pool.sameBlock(first, static_cast<char *>(first) + 999));
  CHECK_FALSE(pool.sameBlock(first, static_cast<char *>(first) - 1));
  int other;
  CHECK_FALSE(pool.release(&other));
}

TEST_CASE("pool: sizes that are no longer wanted are given back", "[module]") {
  Pool pool;
  for (size_t bytes = 1000; bytes < 200000; bytes += bytes / 3) { // each too large for the one before
    void *memory = pool.allocate(nullptr, bytes * 3);
    REQUIRE(pool.release(memory));
  }
  size_t before = pool.fresh; // a step of two phases that is repeated: nothing is asked for from the second time on
  for (int step = 0; step < 4; ++step) {
    void *a = pool.allocate(nullptr, 5000), *b = pool.allocate(nullptr, 5000);
    pool.release(a);
    pool.release(b);
    void *c = pool.allocate(nullptr, 900);
    pool.release(c);
    if (step == 0)
      before = pool.fresh;
  }
  CHECK(pool.fresh == before);
}

TEST_CASE("module: a buffer in flight can't be freed, and sites of another release are refused", "[module]") {
  braid_comm_options options = {};
  options.size = sizeof options;
  options.ranks = 1;
  braid_comm *comm = nullptr;
  REQUIRE(braid_comm_create(&options, &comm) == BRAID_OK);
  braid_module_use(comm);
  braid_module_on_error([](const char *message) { throw std::runtime_error(message); });
  // all_reduce (0) of f32 (13), sum, on all ranks.
  static const int64_t site[] = {4, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, old[] = {1, 0, 0, 13};
  auto word = [](const void *pointer) { return reinterpret_cast<int64_t>(pointer); };
  CHECK(braid_module_open(7) == 1);
  CHECK(braid_module_open(7) == 0);
  auto *x = static_cast<float *>(braid_module_alloc(16, word(site)));
  x[0] = 5;
  int64_t call = braid_module_begin(word(site), 0, word("sum"));
  braid_module_tensor(call, word(x), word(x), 4, 4, 1, 1);
  braid_module_launch(call);
  CHECK_THROWS_WITH(braid_module_free(x), "sum: a buffer was freed while it is in flight");
  braid_module_finish(call);
  CHECK(x[0] == 5);
  braid_module_free(x);
  CHECK_THROWS_WITH(braid_module_begin(word(old), 0, 0),
                    "module: site words of version 1, expected 4: compiled by another release");
  // A plan for an engine (mpi, plus one) that this communicator was not made with.
  static const int64_t theirs[] = {4, 1, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0};
  float y = 0;
  CHECK_THROWS_WITH(
      [&] {
        int64_t refused = braid_module_begin(word(theirs), 0, word("sum"));
        braid_module_tensor(refused, word(&y), word(&y), 1, 1, 1, 1);
        braid_module_launch(refused);
      }(),
      Catch::Matchers::Contains(
          "expected an engine that the communicator was made with, 'braid', got 'mpi'; name it in "
          "braid_comm_options.engine, or in BRAID_ENGINE"));
  braid_module_reset();
  braid_module_on_error(nullptr);
  CHECK(braid_comm_destroy(comm) == BRAID_OK);
}
