//===- Main.cpp - how fast messages of one size go from rank 0 to rank 1 ----------------------------------------------===//
//
//   verbs_bandwidth SIZE[,SIZE...] [IN_FLIGHT [BYTES]]
//
// A rank of a launcher's job of two. Broadcasts, so many of them in flight, each of SIZE bytes and so one message; BYTES in all of each
// size. Rank 0 prints a line "SIZE MB/s" each (MB: 2^20 bytes, as perftest has it), and what was copied on the way.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/braid_rt.h"
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void must(braid_status status) {
  if (!status)
    return;
  std::fprintf(stderr, "verbs_bandwidth: %s\n", braid_last_error());
  std::exit(1);
}

struct Message {
  unsigned char *memory = nullptr;
  braid_op *op = nullptr;
};

braid_op *planned(braid_comm *comm, braid_collective collective, braid_buffer &buffer, const std::string &name) {
  braid_op_options options = {};
  options.size = sizeof options;
  options.collective = collective;
  options.type = BRAID_U8;
  options.tensors = collective == BRAID_BARRIER ? 0 : 1;
  options.buffers = &buffer;
  options.name = name.c_str();
  options.channels = 1;
  options.algorithm = collective == BRAID_BROADCAST ? "naive_exchange" : nullptr;
  braid_op *op = nullptr;
  must(braid_op_plan(comm, &options, &op));
  return op;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: verbs_bandwidth SIZE[,SIZE...] [IN_FLIGHT [BYTES]]\n");
    return 2;
  }
  const size_t inFlight = argc > 2 ? std::max(1l, std::atol(argv[2])) : 16;
  const size_t bytes = argc > 3 ? size_t(std::atoll(argv[3])) : 64 << 20;
  braid_comm_options options = {};
  options.size = sizeof options;
  options.transport = "verbs";
  braid_comm *comm = nullptr;
  must(braid_comm_create(&options, &comm));
  int32_t rank = 0, ranks = 0;
  must(braid_comm_rank(comm, &rank, &ranks));
  braid_buffer nothing = {};
  braid_op *barrier = planned(comm, BRAID_BARRIER, nothing, "barrier");
  for (char *text = argv[1]; text && *text;) {
    size_t size = std::strtoull(text, &text, 10);
    text += *text == ',';
    std::vector<Message> messages(inFlight);
    for (size_t i = 0; i < inFlight; ++i) {
      Message &each = messages[i];
      each.memory = static_cast<unsigned char *>(braid_alloc(comm, size));
      if (!each.memory)
        must(BRAID_OUT_OF_MEMORY);
      std::memset(each.memory, rank == 0 ? int(1 + i % 250) : 0, size);
      braid_buffer buffer = {each.memory, each.memory, rank == 0 ? size : 0, size};
      each.op = planned(comm, BRAID_BROADCAST, buffer, std::to_string(size) + " bytes, " + std::to_string(i));
    }
    size_t count = std::max(inFlight, bytes / size / inFlight * inFlight);
    auto stream = [&](size_t messagesInAll) {
      for (size_t i = 0; i < inFlight; ++i)
        must(braid_op_start(messages[i].op));
      for (size_t i = 0; i < messagesInAll; ++i) {
        must(braid_op_wait(messages[i % inFlight].op));
        if (i + inFlight < messagesInAll)
          must(braid_op_start(messages[i % inFlight].op));
      }
      must(braid_op_start(barrier)); // all has come
      must(braid_op_wait(barrier));
    };
    stream(inFlight);
    auto begin = std::chrono::steady_clock::now();
    stream(count);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (size_t i = 0; i < inFlight; ++i) {
      if (std::any_of(messages[i].memory, messages[i].memory + size,
                      [&](unsigned char byte) { return byte != 1 + i % 250; })) {
        std::fprintf(stderr, "verbs_bandwidth: rank %d: expected the bytes of message %zu, got others\n", rank, i);
        return 1;
      }
      must(braid_op_destroy(messages[i].op));
      braid_free(comm, messages[i].memory);
    }
    if (rank == 0) {
      std::printf("%zu %.2f\n", size, double(count) * double(size) / seconds / (1 << 20));
      std::fflush(stdout);
    }
  }
  must(braid_op_destroy(barrier));
  must(braid_comm_destroy(comm));
}
