//===- Plant.cpp - mistakes that a sanitizer must see --------------------------------------------------------------===//
#include "test/conformance/Plant.h"
#include "test/conformance/Ranks.h"
#include <atomic>

namespace braid::test {

namespace {

/// Too many to be copied, and few enough for one message, which leaves at the start.
constexpr size_t elements = 1 << 14;

/// A collective of two ranks; with `impatient`, rank 0 changes its operand when the other has read it, but before it knows.
std::string run(braid_collective collective, const char *algorithm, bool impatient) {
  runtime::CommunicatorOptions options;
  options.transport = "shm";
  Ranks ranks(2, options);
  std::atomic<int> ended{0}; // rounds of rank 1; relaxed, so that it orders nothing
  return ranks.run([&](int rank, braid_comm *comm) -> std::string {
    auto *operand = static_cast<int32_t *>(braid_alloc(comm, elements * sizeof(int32_t)));
    std::vector<int32_t> result(2 * elements);
    std::fill(operand, operand + elements, rank);
    bool gather = collective == BRAID_ALL_GATHER;
    braid_buffer buffer = {operand, result.data(), gather || rank == 0 ? elements : 0,
                           gather ? 2 * elements : elements};
    braid_op_options asked = {};
    asked.size = sizeof asked;
    asked.collective = collective;
    asked.type = BRAID_I32;
    asked.tensors = 1;
    asked.buffers = &buffer;
    asked.algorithm = algorithm;
    braid_op *op = nullptr;
    if (braid_op_plan(comm, &asked, &op))
      return braid_last_error();
    // At its first start an operation only says what it is; from the second on its messages leave at once.
    for (int round = 1; round <= 3; ++round) {
      if (braid_op_start(op))
        return braid_last_error();
      if (impatient && rank == 0 && round > 1) {
        while (ended.load(std::memory_order_relaxed) < round)
          std::this_thread::yield();
        std::fill(operand, operand + elements, round);
      }
      if (braid_op_wait(op))
        return braid_last_error();
      if (rank == 1)
        ended.store(round, std::memory_order_relaxed);
    }
    if (braid_op_destroy(op))
      return braid_last_error();
    braid_free(comm, operand);
    return {};
  });
}

/// The naive exchange, but what is received lands one whole buffer further on than it should.
algorithms::StepProgram behind(algorithms::Collective collective, int ranks, int rank,
                               const algorithms::StepOptions &options) {
  algorithms::StepProgram program = algorithms::find("naive_exchange")->program(collective, ranks, rank, options);
  for (algorithms::Step &step : program.steps)
    if (step.action == algorithms::Action::Receive)
      step.chunk += program.chunks;
  return program;
}

} // namespace

std::string plant(const std::string &what) {
  if (what == "race")
    return run(BRAID_BROADCAST, "naive_exchange", true);
  if (what != "bounds")
    return "expected race or bounds, got '" + what + "'";
  algorithms::Algorithm algorithm = *algorithms::find("naive_exchange");
  algorithm.name = "planted_bounds";
  algorithm.program = behind;
  algorithms::add(algorithm);
  return run(BRAID_ALL_GATHER, "planted_bounds", false);
}

} // namespace braid::test
