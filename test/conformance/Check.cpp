//===- Check.cpp - runs one case on one rank and checks this rank's part ----------------------------------------------===//
#include "test/conformance/Check.h"
#include "test/conformance/Device.h"
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>

namespace braid::test {

namespace {

constexpr size_t guard = 128;
constexpr unsigned char fill = 0xa5;

/// One tensor's buffers on this rank, with guard bytes around them.
struct Buffers {
  size_t block = 0;                            ///< elements
  size_t in = 0, out = 0;                      ///< elements of operand and result; 0: none
  size_t inBlock = 0, outBlock = 0;            ///< first block, in the abstract buffer
  unsigned char *memory = nullptr;             ///< all of it
  size_t bytes = 0, sendAt = 0, receiveAt = 0; ///< offsets in memory
  size_t outBytes = 0;                         ///< room of the result, also where this rank gets none
};

class Runner {
public:
  Runner(const Case &one, const std::vector<Data> &data, braid_comm *comm)
      : one(one), data(data), comm(comm), device(comm, one.memory) {
    braid_comm_rank(comm, &me, nullptr);
  }
  ~Runner() {
    for (Buffers &b : tensors)
      one.shared ? braid_free(comm, b.memory) : std::free(b.memory);
  }

  Verdict run() {
    if (one.collective == BRAID_SEND)
      return neighbours();
    layOut();
    braid_op *op = nullptr;
    Verdict verdict;
    std::vector<braid_buffer> buffers;
    for (Buffers &b : tensors) {
      if (!b.memory && b.bytes)
        return {"no memory for buffers: " + std::string(braid_last_error()), 0};
      if (helps()) {
        buffers.push_back({nullptr, nullptr, b.in, b.out});
        continue;
      }
      unsigned char *at = device.twin(b.memory, b.bytes);
      if (!at)
        return {device.problem, 0};
      buffers.push_back({at + b.sendAt, at + b.receiveAt, b.in, b.out});
    }
    braid_op_options options = {};
    options.size = sizeof options;
    options.collective = one.collective;
    options.type = one.type;
    options.reduction = one.reduction;
    options.root = one.root;
    options.tensors = one.collective == BRAID_BARRIER ? 0 : buffers.size();
    options.buffers = buffers.data();
    options.pairs = pairs.size() / 2;
    options.pair_list = pairs.data();
    std::string algorithm = one.spelling();
    options.algorithm = algorithm.empty() ? nullptr : algorithm.c_str();
    options.channels = one.channels;
    options.chunks = one.chunks;
    options.name = "case";
    options.send_counts = one.ragged ? gives.data() : nullptr;
    options.receive_counts = one.ragged ? takes.data() : nullptr;
    options.pair_counts = pairsOfAll.empty() ? nullptr : pairsOfAll.data();
    std::vector<int32_t> switches(size_t(one.ranks));
    for (int rank = 0; rank < one.ranks; ++rank) // of three helpers, the last is above the others
      switches[size_t(rank)] = one.helpers > 2 ? std::min(rank % 2, one.ranks - 1) : 0;
    options.helpers = one.helpers;
    options.switches = one.helpers ? switches.data() : nullptr;
    options.memory = one.memory;
    if (braid_op_plan(comm, &options, &op))
      return {braid_last_error(), 0};
    for (size_t round = 0; round < data.size() && verdict.problem.empty(); ++round) {
      if (!helps())
        write(round);
      device.put();
      if (device.start(op) || device.wait(op)) {
        verdict.problem = braid_last_error();
        break;
      }
      device.get();
      verdict.problem = !device.problem.empty() ? device.problem : helps() ? "" : check(round);
      for (const Buffers &b : helps() ? std::vector<Buffers>() : tensors) // a helper has no result
        hash(verdict.result, b.memory + b.receiveAt, b.out * size());
    }
    if (braid_op_destroy(op) && verdict.problem.empty())
      verdict.problem = braid_last_error();
    return verdict;
  }

private:
  size_t size() const { return info(one.type).bytes; }
  bool helps() const { return me >= one.ranks; } ///< this rank is beside the others, and gives the counts of a root

  static void hash(uint64_t &h, const unsigned char *at, size_t bytes) {
    for (; bytes >= 8; bytes -= 8, at += 8) {
      uint64_t word;
      std::memcpy(&word, at, 8);
      h = (h ^ word) * 0x9e3779b97f4a7c15ull;
      h ^= h >> 29;
    }
    for (; bytes; --bytes, ++at)
      h = (h ^ *at) * 0x100000001b3ull;
  }

  void layOut() {
    size_t n = size_t(one.ranks);
    bool root = me == one.root || helps();
    if (one.ragged)
      countBlocks();
    if (one.collective == BRAID_PERMUTE) { // a shift by two that leaves rank 0 without a source, and a self pair
      for (int rank = 0; rank + 2 < one.ranks; ++rank)
        pairs.insert(pairs.end(), {rank, rank + 2});
      if (one.ranks > 1)
        pairs.insert(pairs.end(), {one.ranks - 1, 1 % one.ranks});
      if (one.ranks == 1)
        pairs = {0, 0};
    }
    for (int t = 0; t < one.tensors; ++t) {
      size_t count = t == 0 ? one.count : t == 1 ? 17 : one.count / 2 + 1;
      Buffers b;
      size_t outRoom = 0;
      switch (one.collective) {
      case BRAID_REDUCE_SCATTER:
        b.block = count / n;
        b.in = b.block * n;
        b.out = b.block;
        b.outBlock = size_t(me);
        break;
      case BRAID_ALL_GATHER:
        b.block = count / n;
        b.in = b.block;
        b.inBlock = size_t(me);
        b.out = b.block * n;
        break;
      case BRAID_ALL_TO_ALL:
        b.block = count / n;
        b.in = b.out = b.block * n;
        if (one.ragged) {
          b.in = std::accumulate(gives.begin(), gives.end(), size_t(0));
          b.out = std::accumulate(takes.begin(), takes.end(), size_t(0));
        }
        break;
      case BRAID_BROADCAST:
        b.block = b.out = count;
        b.in = root ? count : 0;
        break;
      case BRAID_REDUCE:
        b.block = b.in = count;
        b.out = root ? count : 0;
        outRoom = count;
        break;
      case BRAID_GATHER:
        b.block = b.in = count / n;
        b.inBlock = size_t(me);
        b.out = root ? b.block * n : 0;
        outRoom = b.block * n;
        break;
      case BRAID_SCATTER:
        b.block = b.out = count / n;
        b.outBlock = size_t(me);
        b.in = root ? b.block * n : 0;
        break;
      case BRAID_BARRIER:
        break;
      default:
        b.block = b.in = b.out = count;
      }
      if (b.out > outRoom)
        outRoom = b.out;
      b.outBytes = outRoom * size();
      size_t inBytes = b.in * size();
      if (one.place == Case::Apart || !b.in || !b.out) {
        b.sendAt = guard;
        b.receiveAt = guard + inBytes + guard;
        b.bytes = b.receiveAt + b.outBytes + guard;
      } else { // the larger holds the smaller: at its own block, or at the front
        size_t within =
            one.place == Case::InPlace ? (b.inBlock > b.outBlock ? b.inBlock : b.outBlock) * b.block * size() : 0;
        b.sendAt = guard + (inBytes < b.outBytes ? within : 0);
        b.receiveAt = guard + (inBytes > b.outBytes ? within : 0);
        b.bytes = guard + (inBytes > b.outBytes ? inBytes : b.outBytes) + guard;
      }
      b.memory = static_cast<unsigned char *>(one.shared ? braid_alloc(comm, b.bytes) : std::malloc(b.bytes));
      tensors.push_back(b);
    }
  }

  /// Of a ragged all_to_all: this rank's counts, and everybody's where the algorithm forwards.
  void countBlocks() {
    for (int rank = 0; rank < one.ranks; ++rank) {
      gives.push_back(one.blockCount(me, rank));
      takes.push_back(one.blockCount(rank, me));
    }
    const algorithms::Algorithm *algorithm = algorithms::find(one.algorithm);
    for (int source = 0; source < one.ranks && algorithm && algorithm->forwards; ++source)
      for (int target = 0; target < one.ranks; ++target)
        pairsOfAll.push_back(one.blockCount(source, target));
  }

  /// Where a tensor's data begin in the pattern, so that tensors differ.
  static size_t origin(size_t tensor) { return tensor * 100003; }

  void write(size_t round) {
    for (size_t t = 0; t < tensors.size(); ++t) {
      Buffers &b = tensors[t];
      std::memset(b.memory, fill, b.bytes);
      data[round].operand(me, origin(t) + b.inBlock * b.block, b.in, b.memory + b.sendAt);
    }
  }

  std::string check(size_t round) const {
    for (size_t t = 0; t < tensors.size(); ++t) {
      std::string problem = checkTensor(data[round], tensors[t], origin(t));
      if (!problem.empty())
        return "round " + std::to_string(round) + ", tensor " + std::to_string(t) + ", " + problem;
    }
    return {};
  }

  std::string checkTensor(const Data &d, const Buffers &b, size_t from) const {
    const unsigned char *result = b.memory + b.receiveAt;
    std::string problem;
    size_t n = size_t(one.ranks);
    switch (one.collective) {
    case BRAID_ALL_REDUCE:
    case BRAID_REDUCE:
    case BRAID_REDUCE_SCATTER:
      problem = d.expectReduced(from + b.outBlock * b.block, b.out, result);
      break;
    case BRAID_ALL_GATHER:
    case BRAID_GATHER:
      for (size_t rank = 0; rank < n && b.out && problem.empty(); ++rank)
        problem = d.expectOperand(int(rank), from + rank * b.block, b.block, result + rank * b.block * size());
      break;
    case BRAID_ALL_TO_ALL:
      for (size_t rank = 0, at = 0; rank < n && one.ragged && problem.empty(); at += takes[rank++]) {
        size_t before = 0; // in the source's operand
        for (int target = 0; target < me; ++target)
          before += one.blockCount(int(rank), target);
        problem = d.expectOperand(int(rank), from + before, takes[rank], result + at * size());
      }
      for (size_t rank = 0; rank < n && !one.ragged && problem.empty(); ++rank)
        problem = d.expectOperand(int(rank), from + size_t(me) * b.block, b.block, result + rank * b.block * size());
      break;
    case BRAID_BROADCAST:
    case BRAID_SCATTER:
      problem = d.expectOperand(one.root, from + b.outBlock * b.block, b.out, result);
      break;
    case BRAID_PERMUTE: {
      int source = -1;
      for (size_t i = 0; i < pairs.size(); i += 2)
        if (pairs[i + 1] == me)
          source = pairs[i];
      if (source >= 0)
        problem = d.expectOperand(source, from, b.out, result);
      for (size_t i = 0; source < 0 && i < b.out * size(); ++i)
        if (result[i])
          return "byte " + std::to_string(i) + ": expected zeros without a source, got " + std::to_string(result[i]);
      break;
    }
    default:
      break;
    }
    return problem.empty() ? checkRest(d, b, from) : problem;
  }

  /// Guards, rooms that are not this rank's to get, and operands that are not in place.
  std::string checkRest(const Data &d, const Buffers &b, size_t from) const {
    const unsigned char *send = b.memory + b.sendAt, *sendEnd = send + b.in * size();
    const unsigned char *result = b.memory + b.receiveAt, *resultEnd = result + b.out * size();
    for (const unsigned char *at = b.memory; at < b.memory + b.bytes; ++at) {
      if (at == send && sendEnd > send)
        at = sendEnd;
      if (at == result && resultEnd > result)
        at = resultEnd;
      if (at == send && sendEnd > send)
        at = sendEnd;
      if (at >= b.memory + b.bytes)
        break;
      if ((at >= send && at < sendEnd) || (at >= result && at < resultEnd))
        continue;
      if (*at != fill)
        return "byte " + std::to_string(at - b.memory) + " beside operand and result was written";
    }
    bool apart = sendEnd <= result || resultEnd <= send;
    std::string changed = apart ? d.expectOperand(me, from + b.inBlock * b.block, b.in, send) : "";
    return changed.empty() ? "" : "the operand was changed: " + changed;
  }

  /// Send and recv: each rank to the next two, by two tags, and the other way around in one go.
  Verdict neighbours() {
    int n = one.ranks;
    struct Line {
      int peer, tag;
      bool send;
      unsigned char *memory = nullptr;
      braid_op *op = nullptr;
    };
    std::vector<Line> lines = {
        {(me + 1) % n, 0, true}, {(me + n - 1) % n, 0, false}, {(me + 1) % n, 7, true}, {(me + n - 1) % n, 7, false}};
    size_t bytes = one.count * size() + 2 * guard;
    Verdict verdict;
    for (Line &line : lines) {
      tensors.emplace_back();
      line.memory = static_cast<unsigned char *>(one.shared ? braid_alloc(comm, bytes) : std::malloc(bytes));
      tensors.back().memory = line.memory;
      unsigned char *there = device.twin(line.memory, bytes);
      if (!there)
        return {device.problem, 0};
      braid_buffer buffer = {};
      (line.send ? buffer.send_count : buffer.receive_count) = one.count;
      if (line.send)
        buffer.send = there + guard;
      else
        buffer.receive = there + guard;
      braid_op_options options = {};
      options.size = sizeof options;
      options.collective = line.send ? BRAID_SEND : BRAID_RECV;
      options.type = one.type;
      options.peer = line.peer;
      options.tag = one.tags ? line.tag : 0;
      options.memory = one.memory;
      options.tensors = 1;
      options.buffers = &buffer;
      if (braid_op_plan(comm, &options, &line.op))
        return {braid_last_error(), 0};
    }
    for (size_t round = 0; round < data.size() && verdict.problem.empty(); ++round) {
      auto failed = [&] {
        verdict.problem = braid_last_error();
        return true;
      };
      for (Line &line : lines) {
        std::memset(line.memory, fill, bytes);
        if (line.send)
          data[round].operand(me, size_t(line.tag), one.count, line.memory + guard);
      }
      device.put();
      bool broken = false;
      for (Line &line : lines)
        broken = broken || (device.start(line.op) && failed());
      for (size_t i = lines.size(); i-- > 0;)
        broken = broken || (device.wait(lines[i].op) && failed());
      device.get();
      for (Line &line : lines) {
        if (verdict.problem.empty())
          verdict.problem =
              data[round].expectOperand(line.send ? me : line.peer, size_t(line.tag), one.count, line.memory + guard);
        for (size_t i = 0; i < guard; ++i)
          if (line.memory[i] != fill || line.memory[bytes - 1 - i] != fill)
            verdict.problem = "guard bytes were written";
      }
    }
    for (Line &line : lines)
      braid_op_destroy(line.op);
    return verdict;
  }

  const Case &one;
  const std::vector<Data> &data;
  braid_comm *comm;
  Device device;
  int32_t me = 0;
  std::vector<Buffers> tensors;
  std::vector<int32_t> pairs;
  std::vector<size_t> gives, takes, pairsOfAll; ///< ragged
};

} // namespace

Verdict runCase(const Case &one, const std::vector<Data> &data, braid_comm *comm) {
  return Runner(one, data, comm).run();
}

} // namespace braid::test
