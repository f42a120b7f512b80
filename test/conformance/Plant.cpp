//===- Plant.cpp - mistakes that a sanitizer must see --------------------------------------------------------------===//
#include "test/conformance/Plant.h"
#include "test/conformance/Ranks.h"

namespace braid::test {

namespace {

constexpr size_t elements = 1 << 18;

/// An all_gather of two ranks; with `impatient`, rank 0 changes its operand before the other has read it.
std::string gather(const char *algorithm, bool impatient) {
  runtime::CommunicatorOptions options;
  options.transport = "shm";
  Ranks ranks(2, options);
  return ranks.run([&](int rank, braid_comm *comm) -> std::string {
    auto *operand = static_cast<int32_t *>(braid_alloc(comm, elements * sizeof(int32_t)));
    std::vector<int32_t> result(2 * elements);
    std::fill(operand, operand + elements, rank);
    braid_buffer buffer = {operand, result.data(), elements, 2 * elements};
    braid_op_options asked = {};
    asked.size = sizeof asked;
    asked.collective = BRAID_ALL_GATHER;
    asked.type = BRAID_I32;
    asked.tensors = 1;
    asked.buffers = &buffer;
    asked.algorithm = algorithm;
    braid_op *op = nullptr;
    if (braid_op_plan(comm, &asked, &op) || braid_op_start(op))
      return braid_last_error();
    for (size_t i = 0; impatient && rank == 0 && i < elements; ++i)
      operand[i] = 7;
    if (braid_op_wait(op) || braid_op_destroy(op))
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
    return gather(nullptr, true);
  if (what != "bounds")
    return "expected race or bounds, got '" + what + "'";
  algorithms::Algorithm algorithm = *algorithms::find("naive_exchange");
  algorithm.name = "planted_bounds";
  algorithm.program = behind;
  algorithms::add(algorithm);
  return gather("planted_bounds", false);
}

} // namespace braid::test
