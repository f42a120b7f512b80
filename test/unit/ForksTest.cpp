//===- ForksTest.cpp - a fork does not speak for its parent ---------------------------------------------------------===//
#include "test/unit/PlannedOps.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::test;
using Catch::Matchers::Contains;

namespace {

/// What a fork of this process says.
std::string inFork(const std::function<std::string()> &body) {
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  pid_t child = fork();
  if (child == 0) {
    std::string said = body();
    ssize_t written = write(pipe[1], said.data(), said.size());
    _exit(written == ssize_t(said.size()) ? 0 : 1);
  }
  close(pipe[1]);
  std::string said(4096, 0);
  ssize_t got = 0;
  for (ssize_t some; (some = read(pipe[0], &said[size_t(got)], said.size() - size_t(got))) > 0;)
    got += some;
  close(pipe[0]);
  int status = 0;
  waitpid(child, &status, 0);
  said.resize(size_t(got));
  return said + (status ? ", and ended with " + std::to_string(status) : "");
}

} // namespace

TEST_CASE("a fork can't use its parent's communicators, and what it destroys stays the parent's", "[api]") {
  Ranks ranks(2, impatient(20));
  REQUIRE(ranks.failed() == "");
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    int32_t value = rank, sum = 0;
    braid_buffer buffer = {&value, &sum, 1, 1};
    braid_op *op = nullptr;
    std::string problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "sum"), op);
    if (problem.empty())
      problem = startAndWait(op);
    if (rank == 0 && problem.empty())
      problem = inFork([&] {
        const char *words = "that this process has made, got one of the process that it was forked from";
        std::string wrong;
        auto refused = [&](const char *call, bool failed) {
          if (!failed || !std::strstr(braid_last_error(), words))
            wrong += std::string(call) + ": " + (failed ? braid_last_error() : "works") + "; ";
        };
        int32_t done = 0;
        braid_comm *subset = nullptr;
        braid_op *other = nullptr;
        braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "other");
        refused("start", braid_op_start(op));
        refused("wait", braid_op_wait(op));
        refused("test", braid_op_test(op, &done));
        refused("rebind", braid_op_rebind(op, &buffer, 1));
        refused("plan", braid_op_plan(comm, &options, &other));
        refused("subset", braid_comm_subset(comm, &done, 1, &subset));
        refused("agree", braid_comm_agree(comm, 1));
        refused("abort", braid_comm_abort(comm, "a fork"));
        refused("alloc", !braid_alloc(comm, 64));
        if (braid_op_destroy(op) || braid_comm_destroy(comm))
          wrong += std::string("destroy: ") + braid_last_error();
        return wrong;
      });
    for (int step = 0; step < 3 && problem.empty(); ++step)
      problem = startAndWait(op);
    if (problem.empty() && sum != 1)
      problem = "expected a sum of 1, got " + std::to_string(sum);
    if (op && braid_op_destroy(op))
      problem += braid_last_error();
    return problem;
  }) == "");
}
