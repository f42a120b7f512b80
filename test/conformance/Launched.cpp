//===- Launched.cpp - the suite on the processes of a launcher, by an engine --------------------------------------------===//
#include "test/conformance/Launched.h"
#include <cstdio>
#include <cstdlib>

namespace braid::test {

Launched::Launched(const std::string &engine) {
  braid_comm_options options = {};
  options.size = sizeof options;
  options.engine = engine == "islands" ? nullptr : engine.c_str(); // those are in BRAID_ISLANDS
  options.deadline_s = 20;
  if (braid_comm_create(&options, &all) || braid_comm_rank(all, &me, &count)) {
    problem = braid_last_error();
    return;
  }
  few.resize(size_t(count) + 1);
  for (int size = 1; size <= count && problem.empty(); ++size) {
    std::vector<int32_t> members = {int32_t(size - 1)}; // the last one first
    for (int rank = 0; rank + 1 < size; ++rank)
      members.push_back(rank);
    if (me < size && braid_comm_subset(all, members.data(), members.size(), &few[size_t(size)]))
      problem = braid_last_error();
  }
}

Launched::~Launched() {
  for (braid_comm *each : few)
    if (each)
      braid_comm_destroy(each);
  if (all)
    braid_comm_destroy(all);
}

std::vector<Verdict> Launched::run(const Case &one) {
  braid_comm *comm = few[size_t(one.ranks)];
  if (!comm)
    return {};
  std::vector<Data> data;
  data.emplace_back(one, 0);
  data.emplace_back(one, 1);
  Verdict mine = runCase(one, data, comm);
  uint64_t told[2] = {!mine.problem.empty(), mine.result};
  std::vector<uint64_t> heard(2 * size_t(one.ranks));
  braid_buffer buffer = {told, heard.data(), 2, heard.size()};
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = BRAID_ALL_GATHER;
  options.type = BRAID_U64;
  options.tensors = 1;
  options.buffers = &buffer;
  options.engine = "braid"; // its own carries the verdicts
  braid_op *op = nullptr;
  if (braid_op_plan(comm, &options, &op) || braid_op_start(op) || braid_op_wait(op) || braid_op_destroy(op)) {
    std::string why = mine.problem.empty() ? braid_last_error() : mine.problem;
    std::printf("FAILS: %s\n       %s\n", one.text().c_str(), why.c_str());
    std::fflush(stdout);
    std::_Exit(1);
  }
  std::vector<Verdict> verdicts;
  int32_t here = 0;
  braid_comm_rank(comm, &here, nullptr);
  for (int rank = 0; rank < one.ranks; ++rank) {
    bool wrong = heard[2 * size_t(rank)];
    verdicts.push_back({!wrong         ? ""
                        : rank == here ? mine.problem
                                       : "finds its result wrong",
                        heard[2 * size_t(rank) + 1]});
  }
  return verdicts;
}

} // namespace braid::test
