//===- TcpPathTest.cpp - operations over connections from source ports of their choice ----------------------------===//
#include "test/unit/PlannedOps.h"
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace braid;
using namespace braid::test;

namespace {

/// Runs a body on two ranks with a TCP transport and these paths; their problems.
std::string onTwo(const std::string &paths, const std::function<std::string(braid_comm *, int)> &body) {
  runtime::CommunicatorOptions options = impatient(20);
  options.transport = "tcp";
  options.paths = paths;
  auto exchanges = runtime::inProcessExchanges(2);
  std::string problems[2];
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      braid_comm *comm = nullptr;
      std::string &problem = problems[rank];
      problem = runtime::createInProcess(exchanges[size_t(rank)], options, &comm).text;
      if (problem.empty())
        problem = body(comm, rank);
      delete comm;
    });
  for (std::thread &thread : threads)
    thread.join();
  return problems[0] == problems[1] ? problems[0] : problems[0] + "; " + problems[1];
}

/// An all_reduce by an algorithm, several times.
std::string reduce(braid_comm *comm, const std::string &algorithm, int channels) {
  std::vector<int32_t> data(100003, 1), sum(data.size());
  braid_buffer buffer = {data.data(), sum.data(), data.size(), data.size()};
  braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "paths");
  options.algorithm = algorithm.c_str();
  options.channels = channels;
  braid_op *op = nullptr;
  std::string problem = plan(comm, options, op);
  for (int round = 0; round < 3 && problem.empty(); ++round) {
    problem = startAndWait(op);
    if (problem.empty() && (sum.front() != 2 || sum.back() != 2))
      problem = "expected sums of 2";
  }
  if (op && braid_op_destroy(op))
    problem += braid_last_error();
  return problem;
}

/// Bytes-carrying connections of this host from a local port to another, as the kernel lists them.
int established(int from, int to) {
  std::ifstream file("/proc/net/tcp");
  char mine[8], other[8];
  std::snprintf(mine, sizeof mine, ":%04X", unsigned(from));
  std::snprintf(other, sizeof other, ":%04X", unsigned(to));
  int count = 0;
  for (std::string line; std::getline(file, line);)
    if (size_t at = line.find(mine); at != std::string::npos && at < 20)
      count += line.find(other, at + 5) != std::string::npos && line.find(" 01 ") != std::string::npos;
  return count;
}

} // namespace

TEST_CASE("lanes go over the connections of a path, and over the shared one without", "[tcp][path]") {
  CHECK(onTwo("x3", [](braid_comm *comm, int) {
          std::string problem = reduce(comm, "ring(path=x3)", 3);
          problem += reduce(comm, "ring", 2); // the same lanes again
          problem += reduce(comm, "recursive_doubling(path=x2)", 4);
          return problem + sumOfOne(comm, 1, 2);
        }) == "");
}

TEST_CASE("connections of a path come from its source ports", "[tcp][path]") {
  int base = 20000 + getpid() % 4000 * 2; // below those that the system gives out
  std::string path =
      "to" + std::to_string(base + 9000) + ";0-1:" + std::to_string(base) + "." + std::to_string(base + 1);
  CHECK(onTwo(path, [&](braid_comm *comm, int) -> std::string {
          std::string problem = reduce(comm, "ring(path=" + path + ")", 2);
          for (int port : {base, base + 1})
            if (established(port, base + 9000) != 1)
              problem += "expected a connection from port " + std::to_string(port);
          return problem + sumOfOne(comm, 1, 2); // nobody leaves before the other has looked
        }) == "");
}

TEST_CASE("a path that was not opened is an error, unless paths are off", "[tcp][path]") {
  auto asked = [](braid_comm *comm, int) { return reduce(comm, "ring(path=0-1:20000)", 1); };
  CHECK(contains(onTwo("", asked), "all_reduce 'paths': path: expected its connections to be opened"));
  CHECK(onTwo("off", asked) == "");
  CHECK(contains(onTwo("0-1:x", asked), "paths: expected flows like 0-1:50003.50007"));
  CHECK(contains(onTwo("0-7:20000", asked), "paths: expected ranks below 2, got a flow from 0 to 7"));
  CHECK(contains(onTwo("x1", [](braid_comm *comm, int) { return reduce(comm, "ring(path=1-0:20000)", 1); }),
                 "path, expected a port that was opened (BRAID_PATHS)"));
}
