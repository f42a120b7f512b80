//===- Steady.cpp - many small collectives: nothing grows ---------------------------------------------------------------===//
#include "test/conformance/Steady.h"
#include "test/conformance/Processes.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <vector>

namespace braid::test {

namespace {

struct State {
  long kilobytes = 0, descriptors = 0;
  double microseconds = 0; ///< of one collective, the best of some batches
};

long descriptors() {
  long count = 0;
  if (DIR *folder = opendir("/proc/self/fd")) {
    while (readdir(folder))
      ++count;
    closedir(folder);
  }
  return count;
}

long kilobytes() {
  long pages = 0, resident = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

std::string tenth(braid_comm *comm, long count, bool leak, State &state) {
  int32_t in[32] = {1}, out[64] = {};
  braid_buffer reduce = {in, out, 32, 32}, gather = {in, out, 32, 64};
  auto options = [&](braid_collective collective, braid_buffer &buffer) {
    braid_op_options o = {};
    o.size = sizeof o;
    o.collective = collective;
    o.type = BRAID_I32;
    o.tensors = 1;
    o.buffers = &buffer;
    return o;
  };
  braid_op_options first = options(BRAID_ALL_REDUCE, reduce), second = options(BRAID_ALL_GATHER, gather);
  braid_op *op = nullptr;
  if (braid_op_plan(comm, &first, &op))
    return braid_last_error();
  constexpr long batch = 500;
  double best = 1e9;
  for (long done = 0; done < count; done += batch) {
    auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < batch; ++i)
      if (braid_op_start(op) || braid_op_wait(op))
        return braid_last_error();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() * 1e6 / batch);
    braid_op *fresh = nullptr; // planned for one use
    if (braid_op_plan(comm, &second, &fresh) || braid_op_start(fresh) || braid_op_wait(fresh))
      return braid_last_error();
    if (leak) {
      auto *lost = static_cast<char *>(braid_alloc(comm, 20000));
      std::memset(lost, 1, 20000);
      if (open("/dev/null", O_RDONLY) < 0)
        return "out of descriptors";
    }
    if (braid_op_destroy(fresh))
      return braid_last_error();
  }
  if (out[0] != 2 && out[0] != 1)
    return "expected a sum of 2, got " + std::to_string(out[0]);
  state = {kilobytes(), descriptors(), best};
  return braid_op_destroy(op) ? braid_last_error() : "";
}

} // namespace

bool steady(long count, const std::string &transport, bool leak) {
  runtime::CommunicatorOptions options;
  options.transport = transport;
  std::vector<uint64_t> results;
  std::string problem = runProcesses(
      2, options,
      [&](int rank, braid_comm *comm, uint64_t &) -> std::string {
        State early, late;
        std::string problem;
        for (int part = 0; part < 10 && problem.empty(); ++part)
          problem = tenth(comm, count / 10, leak, part <= 1 ? early : late);
        if (!problem.empty())
          return problem;
        char text[200];
        std::snprintf(text, sizeof text, "%ld -> %ld KiB, %ld -> %ld descriptors, %.2f -> %.2f us", early.kilobytes,
                      late.kilobytes, early.descriptors, late.descriptors, early.microseconds, late.microseconds);
        if (rank == 0)
          std::printf("%ld collectives on %s: %s\n", count, transport.c_str(), text);
        std::fflush(stdout);
        bool grew = late.kilobytes > early.kilobytes + 256 || late.descriptors > early.descriptors ||
                    late.microseconds > 2 * early.microseconds + 1;
        return grew ? std::string("grew: ") + text : "";
      },
      results);
  if (!problem.empty())
    std::printf("%s\n", problem.c_str());
  return problem.empty();
}

} // namespace braid::test
