//===- NcclCallsTest.cpp - operations as calls of NCCL --------------------------------------------------------------===//
#include "engines/nccl/Calls.h"
#include <catch2/catch.hpp>

using namespace braid::runtime;
using namespace braid::runtime::nccl;
using Catch::Matchers::Contains;

namespace {

/// A library of this version: what is older than a function lacks it.
Library library(int version) {
  Library made;
  made.version = version;
#define BRAID_TEST_FUNCTION(first, name, parameters)                                                                   \
  if (version >= first)                                                                                                \
    made.name = [] parameters { return ok; };
  BRAID_NCCL_FUNCTIONS(BRAID_TEST_FUNCTION)
  return made;
}

char memory[1 << 16];

struct Asked {
  braid_op_options options = {};
  std::vector<braid_buffer> buffers;

  Asked(braid_collective collective, braid_type type, size_t send, size_t receive, char *to = memory + 32768) {
    options.size = sizeof options;
    options.collective = collective;
    options.type = type;
    options.memory = BRAID_MEMORY_DEVICE;
    buffers.push_back({memory, to, send, receive});
  }
  Request request(int me, int ranks) {
    options.tensors = options.collective == BRAID_BARRIER ? 0 : buffers.size();
    options.buffers = buffers.data();
    Request made;
    Outcome done = readRequest(options, me, ranks, made);
    INFO(done.text);
    REQUIRE(done);
    return made;
  }
  /// "AllReduce 100", in order; copies before first: "copy 400", "zeros 400".
  std::string calls(int me, int ranks, int version = 22809) {
    Request wanted = request(me, ranks);
    Library nccl = library(version);
    Calls made;
    Outcome done = readCalls(wanted, nccl, made);
    if (!done)
      return done.text;
    std::vector<char> scratch(scratchBytes(wanted));
    makeCalls(wanted, nccl, scratch.data(), memory, made);
    static const char *const names[] = {"AllReduce", "Reduce", "ReduceScatter", "AllGather", "Broadcast",
                                        "AllToAll",  "Gather", "Scatter",       "Send",      "Receive"};
    std::string text;
    for (const DeviceCopy &copy : made.before)
      text += (text.empty() ? "" : ", ") + std::string(copy.from ? "copy " : "zeros ") + std::to_string(copy.bytes);
    for (const Call &call : made.calls) {
      text += (text.empty() ? "" : ", ") + std::string(names[call.kind]) + " " + std::to_string(call.count);
      if (call.kind >= Call::Send)
        text += (call.kind == Call::Send ? " to " : " from ") + std::to_string(call.root);
    }
    return text;
  }
};

} // namespace

TEST_CASE("one call for each tensor, moves in bytes and reductions in elements", "[nccl]") {
  Asked bucket(BRAID_ALL_REDUCE, BRAID_F32, 100, 100);
  bucket.buffers.push_back({memory + 4096, memory + 8192, 10, 10});
  bucket.buffers.push_back({memory + 4096, memory + 12288, 0, 0}); // nothing to do
  CHECK(bucket.calls(0, 4) == "AllReduce 100, AllReduce 10");
  CHECK(Asked(BRAID_REDUCE_SCATTER, BRAID_BF16, 400, 100).calls(1, 4) == "ReduceScatter 100");
  CHECK(Asked(BRAID_ALL_GATHER, BRAID_I16, 100, 400).calls(1, 4) == "AllGather 200");
  CHECK(Asked(BRAID_BROADCAST, BRAID_F64, 100, 100).calls(0, 4) == "Broadcast 800");
  CHECK(Asked(BRAID_BARRIER, BRAID_BOOL, 0, 0).calls(2, 4) == "AllReduce 1");
}

TEST_CASE("what an older library lacks is made of sends and receives", "[nccl]") {
  Asked swap(BRAID_ALL_TO_ALL, BRAID_F32, 20, 20);
  CHECK(swap.calls(0, 2) == "AllToAll 40");
  CHECK(swap.calls(0, 2, 22700) == "Send 40 to 0, Send 40 to 1, Receive 40 from 0, Receive 40 from 1");
  Asked gather(BRAID_GATHER, BRAID_F32, 5, 10);
  CHECK(gather.calls(0, 2) == "Gather 20");
  CHECK(gather.calls(0, 2, 22700) == "Send 20 to 0, Receive 20 from 0, Receive 20 from 1");
  gather.buffers[0] = {memory, memory, 5, 10}; // the root's own block is where it belongs
  CHECK(gather.calls(0, 2, 22700) == "Receive 20 from 1");
  Asked scatter(BRAID_SCATTER, BRAID_F32, 10, 5);
  CHECK(scatter.calls(0, 2, 22700) == "Send 20 to 0, Send 20 to 1, Receive 20 from 0");
}

TEST_CASE("operands that overlap their results, but in place as NCCL has it, are copied", "[nccl]") {
  CHECK(Asked(BRAID_ALL_REDUCE, BRAID_F32, 100, 100, memory).calls(0, 2) == "AllReduce 100");
  CHECK(Asked(BRAID_ALL_REDUCE, BRAID_F32, 100, 100, memory + 4).calls(0, 2) == "copy 400, AllReduce 100");
  CHECK(Asked(BRAID_REDUCE_SCATTER, BRAID_F32, 200, 100, memory + 400).calls(1, 2) == "ReduceScatter 100");
  CHECK(Asked(BRAID_REDUCE_SCATTER, BRAID_F32, 200, 100, memory).calls(1, 2) == "copy 800, ReduceScatter 100");
  CHECK(Asked(BRAID_ALL_TO_ALL, BRAID_F32, 20, 20, memory).calls(0, 2) == "copy 80, AllToAll 40");
}

TEST_CASE("blocks that differ in size, and pairs: sends and receives of what there is", "[nccl]") {
  Asked ragged(BRAID_ALL_TO_ALL, BRAID_F32, 5, 3);
  size_t gives[] = {2, 0, 3}, takes[] = {2, 1, 0};
  ragged.options.send_counts = gives;
  ragged.options.receive_counts = takes;
  CHECK(ragged.calls(0, 3) == "Send 8 to 0, Receive 8 from 0, Receive 4 from 1, Send 12 to 2");
  Asked shift(BRAID_PERMUTE, BRAID_F32, 10, 10);
  int32_t pairs[] = {0, 1, 1, 2};
  shift.options.pairs = 2;
  shift.options.pair_list = pairs;
  CHECK(shift.calls(0, 3) == "zeros 40, Send 40 to 1");
  CHECK(shift.calls(1, 3) == "Receive 40 from 0, Send 40 to 2");
  CHECK(shift.calls(2, 3) == "Receive 40 from 1");
}

TEST_CASE("what NCCL does not have is said with the way out", "[nccl]") {
  Asked sum(BRAID_ALL_REDUCE, BRAID_I16, 100, 100);
  CHECK_THAT(sum.calls(0, 2),
             Contains("expected a type that NCCL reduces") && Contains("got i16; convert it to a wider one, "
                                                                       "or use engine 'braid'"));
  Asked bits(BRAID_ALL_REDUCE, BRAID_I32, 100, 100);
  bits.options.reduction = BRAID_XOR;
  CHECK_THAT(bits.calls(0, 2), Contains("got xor of i32; use engine 'braid'"));
  Asked truth(BRAID_ALL_REDUCE, BRAID_BOOL, 100, 100);
  truth.options.reduction = BRAID_AND;
  CHECK(truth.calls(0, 2) == "AllReduce 100");
  Asked small(BRAID_ALL_REDUCE, BRAID_F8E5M2, 100, 100);
  CHECK(small.calls(0, 2) == "AllReduce 100");
  CHECK_THAT(small.calls(0, 2, 22304), Contains("expected NCCL 2.24.0 or later for a reduction of f8e5m2, got 2.23.4"));
  Asked wide(BRAID_ALL_REDUCE, BRAID_BF16, 100, 100);
  wide.options.accumulation = BRAID_F32 + 1;
  CHECK_THAT(wide.calls(0, 2), Contains("expected the accumulation type of the elements, bf16, got f32"));
  Asked tagged(BRAID_SEND, BRAID_F32, 100, 0);
  tagged.options.peer = 1;
  tagged.options.tag = 3;
  CHECK_THAT(tagged.calls(0, 2), Contains("expected tag 0, since NCCL has none, got 3"));
  Asked host(BRAID_ALL_REDUCE, BRAID_F32, 100, 100);
  host.options.memory = BRAID_MEMORY_HOST;
  CHECK_THAT(host.calls(0, 2), Contains("expected buffers of a device, or pinned ones"));
}

TEST_CASE("algorithms in NCCL's words are taken, others are not", "[nccl]") {
  for (const char *spelled : {"", "default", "ring", "tree/LL128", "nvls", "ring/Simple"})
    CHECK(readAlgorithm(spelled));
  for (const char *spelled : {"ring/LL256", "bruck", "ring(order=hosts)", "/x"})
    CHECK_THAT(readAlgorithm(spelled).text, Contains("expected an algorithm of NCCL") && Contains(spelled));
}

TEST_CASE("reductions and types have NCCL's numbers", "[nccl]") {
  auto made = [](braid_type type, braid_reduction reduction) {
    Asked asked(BRAID_ALL_REDUCE, type, 1, 1);
    asked.options.reduction = reduction;
    Calls calls;
    Outcome done = readCalls(asked.request(0, 2), library(22809), calls);
    INFO(done.text);
    CHECK(done);
    return std::make_pair(int(calls.type), int(calls.reduction));
  };
  CHECK(made(BRAID_F32, BRAID_SUM) == std::make_pair(7, 0));
  CHECK(made(BRAID_BF16, BRAID_AVERAGE) == std::make_pair(9, 4));
  CHECK(made(BRAID_U64, BRAID_MIN) == std::make_pair(5, 3));
  CHECK(made(BRAID_F8E4M3FN, BRAID_MAX) == std::make_pair(10, 2));
  CHECK(made(BRAID_BOOL, BRAID_SUM) == std::make_pair(1, 2));
  CHECK(made(BRAID_I32, BRAID_PRODUCT) == std::make_pair(2, 1));
}
