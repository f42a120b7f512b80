//===- PlannedOps.h - for tests of the runtime: operations in few words ---------------------------------------------===//
#ifndef BRAID_TEST_UNIT_PLANNEDOPS_H
#define BRAID_TEST_UNIT_PLANNEDOPS_H

#include "test/conformance/Ranks.h"
#include <chrono>

namespace braid::test {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline braid_op_options optionsOf(braid_collective collective, const braid_buffer *buffers, size_t tensors,
                                  const char *name) {
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = collective;
  options.type = BRAID_I32;
  options.tensors = tensors;
  options.buffers = buffers;
  options.name = name;
  return options;
}

/// Plans; the problem in words.
inline std::string plan(braid_comm *comm, const braid_op_options &options, braid_op *&op) {
  return braid_op_plan(comm, &options, &op) ? braid_last_error() : "";
}

inline std::string startAndWait(braid_op *op) {
  return braid_op_start(op) || braid_op_wait(op) ? braid_last_error() : "";
}

/// all_reduce of one number.
inline std::string sumOfOne(braid_comm *comm, int32_t mine, int32_t expected) {
  int32_t sum = 0;
  braid_buffer buffer = {&mine, &sum, 1, 1};
  braid_op *op = nullptr;
  std::string problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "one"), op);
  if (problem.empty())
    problem = startAndWait(op);
  if (op && braid_op_destroy(op))
    problem += braid_last_error();
  if (problem.empty() && sum != expected)
    problem = "expected " + std::to_string(expected) + ", got " + std::to_string(sum);
  return problem;
}

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

inline runtime::CommunicatorOptions impatient(double deadline) {
  runtime::CommunicatorOptions options;
  options.deadline = deadline;
  return options;
}

} // namespace braid::test

#endif
