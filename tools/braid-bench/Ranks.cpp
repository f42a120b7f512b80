//===- Ranks.cpp - a rank among the others ----------------------------------------------------------------------------===//
#include "Ranks.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <set>
#include <unistd.h>

namespace braid::bench {

/// This thread on the `index`-th of the processors that it may use.
static void bindTo(int index) {
  cpu_set_t allowed, chosen;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    throw Failure(std::string("--bind: ") + strerror(errno));
  if (index >= CPU_COUNT(&allowed))
    throw Failure("--bind: expected a processor for each rank, got " + std::to_string(CPU_COUNT(&allowed)));
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &allowed) && index-- == 0) {
      CPU_ZERO(&chosen);
      CPU_SET(processor, &chosen);
      sched_setaffinity(0, sizeof chosen, &chosen);
    }
}

Ranks::Ranks(const RuntimeLibrary &runtime, const MeasureOptions &options)
    : runtime(runtime), emulated(options.transport.rfind("emulated", 0) == 0) {
  if (cpu_set_t allowed; sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    processors = std::max(1, CPU_COUNT(&allowed));
  if (const char *index = getenv("BRAID_RANK"); options.bind)
    bindTo(index ? atoi(index) : 0);
  braid_comm_options commOptions = {};
  commOptions.size = sizeof commOptions;
  commOptions.transport = options.transport.empty() ? nullptr : options.transport.c_str();
  commOptions.profile = options.profile.empty() ? nullptr : options.profile.c_str();
  commOptions.seed = options.seed;
  commOptions.deadline_s = options.deadline;
  must(runtime.create(&commOptions, &comm));
  must(runtime.rank(comm, &rank, &ranks));
  barrierOp = plan(BRAID_BARRIER, BRAID_U8, BRAID_SUM, nullptr, 0, nullptr, 0);
  maximumOp = plan(BRAID_ALL_REDUCE, BRAID_F64, BRAID_MAX, mine, block, largest, block);
  hosts = countHosts();
}

Ranks::~Ranks() {
  for (braid_op *op : {barrierOp, maximumOp})
    if (op)
      runtime.destroyOp(op);
  if (comm)
    runtime.destroy(comm);
}

void Ranks::must(braid_status status) const {
  if (status != BRAID_OK)
    throw Failure(runtime.lastError());
}

braid_op *Ranks::plan(braid_collective collective, braid_type type, braid_reduction reduction, const void *send,
                      size_t sendCount, void *receive, size_t receiveCount) {
  braid_buffer buffer = {send, receive, sendCount, receiveCount};
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = collective;
  options.type = type;
  options.reduction = reduction;
  options.tensors = collective == BRAID_BARRIER ? 0 : 1;
  options.buffers = &buffer;
  braid_op *op = nullptr;
  must(runtime.plan(comm, &options, &op));
  return op;
}

void Ranks::run(braid_op *op) {
  must(runtime.start(op));
  must(runtime.wait(op));
}

void Ranks::barrier() { run(barrierOp); }

void Ranks::maximum(double *values, size_t count) {
  for (size_t done = 0; done < count; done += block) {
    size_t part = std::min(block, count - done);
    std::fill(std::copy_n(values + done, part, mine), mine + block, 0.0);
    run(maximumOp);
    std::copy_n(largest, part, values + done);
  }
}

std::string Ranks::joined(const std::string &text) {
  double most = double(text.size());
  if (emulated)
    return "";
  maximum(&most, 1);
  size_t bytes = size_t(most);
  std::string padded = text, all(bytes * size_t(ranks), 0), list;
  if (bytes == 0)
    return "";
  padded.resize(bytes);
  braid_op *op = plan(BRAID_ALL_GATHER, BRAID_U8, BRAID_SUM, padded.data(), bytes, all.data(), all.size());
  run(op);
  runtime.destroyOp(op);
  for (int other = 0; other < ranks; ++other)
    if (std::string one = all.c_str() + size_t(other) * bytes; !one.empty()) // ends at a padding zero, or at the next
      list += (list.empty() ? "" : ", ") + one.substr(0, bytes);
  return list;
}

double Ranks::wall() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Ranks::now() const {
  double seconds = 0;
  if (!emulated)
    return wall();
  must(runtime.now(comm, &seconds));
  return seconds;
}

/// Ranks of one host have the same name and boot id.
int Ranks::countHosts() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  uint64_t own = std::hash<std::string>()(name + (" " + boot));
  std::vector<uint64_t> all(static_cast<size_t>(ranks));
  braid_op *op = plan(BRAID_ALL_GATHER, BRAID_U64, BRAID_SUM, &own, 1, all.data(), all.size());
  run(op);
  runtime.destroyOp(op);
  return int(std::set<uint64_t>(all.begin(), all.end()).size());
}

} // namespace braid::bench
