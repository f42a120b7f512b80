//===- MeasureCell.cpp - one rank's part in measuring one collective of one size ---------------------------------------===//
#include "MeasureCell.h"
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace braid::bench {

namespace {

constexpr braid_collective collectiveOf[] = {BRAID_ALL_REDUCE, BRAID_REDUCE_SCATTER, BRAID_ALL_GATHER,
                                             BRAID_ALL_TO_ALL, BRAID_BROADCAST,      BRAID_REDUCE,
                                             BRAID_GATHER,     BRAID_SCATTER,        BRAID_PERMUTE};

/// Memory of the kind that is asked for.
class Buffer {
public:
  Buffer(Ranks &ranks, size_t bytes, bool mapped) : ranks(ranks), bytes(bytes), mapped(mapped) {
    if (mapped) {
      memory = ranks.runtime.alloc(ranks.comm, bytes);
      if (!memory)
        throw Failure(ranks.runtime.lastError());
      return;
    }
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw Failure("a buffer of " + std::to_string(bytes) + " bytes: " + strerror(errno));
  }
  ~Buffer() {
    if (mapped)
      ranks.runtime.free(ranks.comm, memory);
    else
      munmap(memory, bytes);
  }
  Buffer(const Buffer &) = delete;
  char *data() const { return static_cast<char *>(memory); }

private:
  Ranks &ranks;
  size_t bytes;
  bool mapped;
  void *memory = nullptr;
};

/// The planned operations of a cell: one, or one for each root.
class Cell {
public:
  Cell(Ranks &ranks, const MeasureOptions &options, Kind kind, size_t elements, const std::string &algorithm)
      : ranks(ranks), type(*options.type), kind(kind), elements(elements),
        counts(countsOf(kind, elements, ranks.ranks)),
        send(ranks, std::max(counts.send, size_t(1)) * type.bytes, options.mapped),
        receive(ranks, std::max(counts.receive, size_t(1)) * type.bytes, options.mapped) {
    for (size_t value = 0; value < encoded.size(); ++value)
      encoded[value] = type.encode(unsigned(value));
    for (size_t i = 0; i < counts.send; ++i)
      memcpy(send.data() + i * type.bytes, &encoded[size_t(operandAt(ranks.rank, i))], type.bytes);
    std::vector<int32_t> pairs;
    for (int32_t source = 0; kind == Kind::Permute && source < ranks.ranks; ++source)
      pairs.insert(pairs.end(), {source, (source + 1) % ranks.ranks});
    for (int root = 0; root < (isRooted(kind) ? ranks.ranks : 1); ++root) {
      bool sends = ranks.rank == root || (kind != Kind::Broadcast && kind != Kind::Scatter);
      bool gets = receives(kind, ranks.rank, root);
      braid_buffer buffer = {send.data(), resultOf(root), sends ? counts.send : 0, gets ? counts.receive : 0};
      braid_op_options request = {};
      request.size = sizeof request;
      request.collective = collectiveOf[int(kind)];
      request.type = type.type;
      request.reduction = BRAID_SUM;
      request.root = root;
      request.tensors = 1;
      request.buffers = &buffer;
      request.pairs = pairs.size() / 2;
      request.pair_list = pairs.data();
      request.algorithm = algorithm.empty() ? nullptr : algorithm.c_str();
      request.channels = options.channels;
      request.chunks = options.chunks;
      braid_op *op = nullptr;
      braid_status status = ranks.runtime.plan(ranks.comm, &request, &op);
      if (status == BRAID_UNSUPPORTED && options.allAlgorithms) {
        supported = false;
        return;
      }
      if (status != BRAID_OK)
        release();
      ranks.must(status);
      ops.push_back(op);
    }
  }
  ~Cell() { release(); }
  Cell(const Cell &) = delete;

  void call(int number) {
    braid_op *op = ops[size_t(number) % ops.size()];
    ranks.must(ranks.runtime.start(op));
    ranks.must(ranks.runtime.wait(op));
  }

  /// Calls each operation once and looks at every element of the result. All ranks fail if one does.
  void check(const std::string &what) {
    std::string wrong;
    for (int root = 0; root < int(ops.size()); ++root) {
      if (resultOf(root) != send.data())
        memset(receive.data(), 0xff, counts.receive * type.bytes);
      ranks.barrier(); // nobody sends into it before it is cleared
      call(root);
      for (size_t i = 0; receives(kind, ranks.rank, root) && wrong.empty() && i < counts.receive; ++i) {
        uint64_t expected = encoded[size_t(resultAt(kind, elements, ranks.ranks, ranks.rank, root, i))], got = 0;
        memcpy(&got, resultOf(root) + i * type.bytes, type.bytes);
        if (memcmp(&expected, &got, type.bytes) != 0)
          wrong = what + ": wrong result on rank " + std::to_string(ranks.rank) + ", root " + std::to_string(root) +
                  ", element " + std::to_string(i) + ": expected bits " + hex(expected) + ", got " + hex(got);
      }
      ranks.barrier(); // the peers may read this rank's memory until here
    }
    double failed = wrong.empty() ? 0 : 1;
    ranks.maximum(&failed, 1);
    if (failed != 0)
      throw Failure(wrong.empty() ? what + ": wrong result on another rank" : wrong);
  }

  bool supported = true;

private:
  /// Out of place, but for the root of a broadcast, which has nothing to receive.
  char *resultOf(int root) const {
    return kind == Kind::Broadcast && ranks.rank == root ? send.data() : receive.data();
  }
  static std::string hex(uint64_t bits) {
    char text[24];
    snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
    return text;
  }
  void release() {
    for (braid_op *op : ops)
      ranks.runtime.destroyOp(op);
    ops.clear();
  }

  Ranks &ranks;
  const ElementType &type;
  Kind kind;
  size_t elements;
  Counts counts;
  Buffer send, receive;
  std::vector<uint64_t> encoded = std::vector<uint64_t>(size_t(3 * std::max(ranks.ranks, 1) + 1));
  std::vector<braid_op *> ops;
};

} // namespace

/// As measureCell counts: where one of the two buffers has a block for each rank, a multiple of the ranks.
static size_t elementsOf(Kind kind, size_t bytes, const ElementType &type, int ranks) {
  bool whole = kind == Kind::AllReduce || kind == Kind::Broadcast || kind == Kind::Reduce || kind == Kind::Permute;
  size_t unit = whole ? 1 : size_t(ranks);
  return std::max<size_t>(1, bytes / (type.bytes * unit)) * unit;
}

double secondsOfOne(Ranks &ranks, const MeasureOptions &options, Kind kind, size_t bytes,
                    const std::string &algorithm) {
  Cell cell(ranks, options, kind, elementsOf(kind, bytes, *options.type, ranks.ranks), algorithm);
  if (!cell.supported)
    return 0;
  double least = 0;
  for (int number = 0; number < 3; ++number) {
    ranks.barrier();
    double began = ranks.wall();
    cell.call(number);
    double seconds = ranks.wall() - began;
    ranks.maximum(&seconds, 1);
    least = number ? std::min(least, seconds) : seconds;
  }
  return least;
}

MeasuredRow measureCell(Ranks &ranks, const MeasureOptions &options, Kind kind, size_t bytes,
                        const std::string &algorithm, bool &supported) {
  const ElementType &type = *options.type;
  size_t elements = elementsOf(kind, bytes, type, ranks.ranks);
  MeasuredRow row;
  row.kind = kind;
  row.type = type.name;
  row.algorithm = algorithm.empty() ? "default" : algorithm;
  row.transport = !options.transport.empty() ? options.transport : ranks.hosts == 1 ? "shm" : "tcp";
  row.buffers = options.mapped ? "mapped" : "foreign";
  row.ranks = ranks.ranks;
  row.hosts = ranks.hosts;
  row.channels = options.channels;
  row.chunks = options.chunks;
  row.bytes = elements * type.bytes;
  std::string what = std::string(kindNames[int(kind)]) + " of " + std::to_string(row.bytes) + " bytes " + type.name +
                     " by algorithm " + row.algorithm;
  Cell cell(ranks, options, kind, elements, algorithm);
  supported = cell.supported;
  if (!supported)
    return row;
  cell.check(what);
  auto call = [&](int number) { cell.call(number); };
  Batches batches = sampleBatches(ranks, call, options.samples, options.seconds / 2);
  row.median = medianOf(batches.seconds);
  row.batches = batches.seconds.size();
  row.callsPerBatch = batches.calls;
  double fit = options.seconds / 2 / batches.wall;
  std::vector<double> single = sampleCalls(ranks, call, size_t(std::clamp(fit, 6.0, 10000.0)), options.seconds / 2);
  std::sort(single.begin(), single.end());
  row.samples = single.size();
  row.p50 = quantile(single, 0.5);
  row.p95 = quantile(single, 0.95);
  row.p99 = quantile(single, 0.99);
  cell.check(what + ", after timing");
  return row;
}

} // namespace braid::bench
