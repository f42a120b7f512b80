//===- Request.cpp - checks what is asked for ---------------------------------------------------------------------===//
#include "core/Request.h"
#include "braid/runtime/algorithms/PackedTrees.h"
#include "core/Counts.h"
#include "core/Defaults.h"
#include "core/Options.h"
#include "reduce/Reduce.h"
#include <algorithm>
#include <cstring>

namespace braid::runtime {

using algorithms::Collective;

algorithms::Collective kindOf(braid_collective collective) {
  switch (collective) {
  case BRAID_ALL_REDUCE:
    return Collective::AllReduce;
  case BRAID_REDUCE_SCATTER:
    return Collective::ReduceScatter;
  case BRAID_ALL_GATHER:
    return Collective::AllGather;
  case BRAID_ALL_TO_ALL:
    return Collective::AllToAll;
  case BRAID_BROADCAST:
    return Collective::Broadcast;
  case BRAID_REDUCE:
    return Collective::Reduce;
  case BRAID_GATHER:
    return Collective::Gather;
  case BRAID_SCATTER:
    return Collective::Scatter;
  case BRAID_BARRIER:
    return Collective::Barrier;
  default:
    return Collective::Permute;
  }
}

const char *name(braid_collective collective) {
  return collective == BRAID_SEND ? "send" : collective == BRAID_RECV ? "recv" : algorithms::name(kindOf(collective));
}

size_t Request::bytes() const {
  size_t sum = 0;
  for (const Tensor &tensor : tensors)
    sum += tensor.count * size_t(blocks) * sizeOf(accumulation); // as messages carry them
  return sum;
}

std::string Request::title() const {
  std::string kind = runtime::name(collective);
  if (name.compare(0, kind.size() + 4, kind + " at ") == 0) // a compiled program's: "all_reduce at step.mlir:3:8"
    return name;
  return name.empty() ? kind : kind + " '" + name + "'";
}

std::string Request::signature() const {
  std::string text = title();
  if (reduces())
    text += std::string(" ") + runtime::name(reduction);
  if (accumulation != type)
    text += std::string(" in ") + runtime::name(accumulation);
  if (collective == BRAID_BROADCAST || collective == BRAID_REDUCE || collective == BRAID_GATHER ||
      collective == BRAID_SCATTER)
    text += " root " + std::to_string(options.root);
  text += ragged() ? " of blocks that differ in size," : " of ";
  for (size_t i = 0; i < tensors.size() && i < 3 && !ragged(); ++i)
    text += (i ? "+" : "") + std::to_string(tensors[i].count * size_t(blocks));
  if (tensors.size() > 3)
    text += "+... (" + std::to_string(tensors.size()) + " tensors)";
  text += std::string(" ") + runtime::name(type);
  if (collective == BRAID_PERMUTE && options.pairs.empty())
    text += " to nobody";
  for (size_t i = 0; i < options.pairs.size() && i < 3; ++i)
    text +=
        (i ? ", " : " ") + std::to_string(options.pairs[i].first) + " to " + std::to_string(options.pairs[i].second);
  if (options.pairs.size() > 3)
    text += ", ... (" + std::to_string(options.pairs.size()) + " pairs)";
  if (byEngine())
    text += " by engine " + engine + (spelled.empty() ? "" : " (" + spelled + ")");
  if (algorithm)
    text += " by " + algorithm->name + (arguments.size() < 40 ? arguments : "(...)") + " x" +
            std::to_string(options.channels);
  if (options.segments > 1)
    text += " in " + std::to_string(options.segments) + " chunks";
  return text;
}

uint64_t Request::hash() const {
  uint64_t h = 0xcbf29ce484222325ull; // FNV-1a
  auto mix = [&](const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      h = (h ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3ull;
  };
  auto number = [&](uint64_t value) { mix(&value, sizeof value); };
  number(collective);
  number(type);
  number(accumulation);
  number(reduces() ? reduction : 0);
  number(uint64_t(options.root));
  number(uint64_t(options.channels));
  number(uint64_t(options.segments));
  if (algorithm)
    mix(algorithm->name.data(), algorithm->name.size());
  mix(arguments.data(), arguments.size());
  mix(engine.data(), engine.size());
  mix(spelled.data(), spelled.size());
  number(ragged());
  for (const Tensor &tensor : tensors)
    number(ragged() ? 0 : tensor.count); // announcements compare what two ranks give to each other
  for (size_t count : pairs)
    number(count);
  for (auto [from, to] : options.pairs)
    number(uint64_t(from) << 32 | uint64_t(to));
  return h;
}

namespace {

/// The number in an enum that a C program may have set to anything.
template <typename Enum> int number(const Enum &value) {
  int out;
  static_assert(sizeof out == sizeof value, "C enums are ints");
  std::memcpy(&out, &value, sizeof out);
  return out;
}

struct Reader {
  const braid_op_options &options;
  Request &request;
  std::string what; ///< "all_reduce 'x': "

  Outcome invalid(const std::string &text) const { return {BRAID_INVALID, what + text}; }

  Outcome read() {
    if (unsigned(number(options.collective)) > BRAID_BARRIER)
      return {BRAID_INVALID,
              "collective: expected one of braid_collective, got " + std::to_string(number(options.collective))};
    if (unsigned(number(options.type)) > BRAID_F64)
      return {BRAID_INVALID, "type: expected one of braid_type, got " + std::to_string(number(options.type))};
    if (unsigned(number(options.reduction)) > BRAID_XOR)
      return {BRAID_INVALID,
              "reduction: expected one of braid_reduction, got " + std::to_string(number(options.reduction))};
    if (options.memory < BRAID_MEMORY_HOST || options.memory > BRAID_MEMORY_DEVICE)
      return {BRAID_INVALID, "memory: expected one of braid_memory, got " + std::to_string(options.memory)};
    request.memory = braid_memory(options.memory);
    request.collective = options.collective;
    request.name = options.name ? options.name : "";
    what = request.title() + ": ";
    Outcome served = helpers();
    if (!served)
      return served;
    int n = request.ranks, me = request.me;
    request.type = options.type;
    request.elementBytes = sizeOf(options.type);
    request.reduction = options.reduction;
    if (request.reduces() && !combiner(options.type, options.reduction))
      return invalid(std::string("expected a reduction of ") + runtime::name(options.type) + ", got " +
                     runtime::name(options.reduction));
    Outcome kept = accumulation();
    if (!kept)
      return kept;
    bool root = request.helps(); // this rank is the root; a helper sees what the root sees
    switch (options.collective) {
    case BRAID_BROADCAST:
    case BRAID_REDUCE:
    case BRAID_GATHER:
    case BRAID_SCATTER:
      if (options.root < 0 || options.root >= n)
        return invalid("expected a root below " + std::to_string(n) + ", got " + std::to_string(options.root));
      request.options.root = options.root;
      root |= options.root == me;
      break;
    default:
      break;
    }
    BlockRange none, all{0, n}, own{me, 1}, whole{0, 1};
    switch (options.collective) {
    case BRAID_ALL_REDUCE:
    case BRAID_PERMUTE:
      shape(1, whole, whole);
      break;
    case BRAID_BROADCAST:
      shape(1, root ? whole : none, whole);
      break;
    case BRAID_REDUCE:
      shape(1, whole, root ? whole : none);
      break;
    case BRAID_REDUCE_SCATTER:
      shape(n, all, own);
      break;
    case BRAID_ALL_GATHER:
      shape(n, own, all);
      break;
    case BRAID_ALL_TO_ALL:
      shape(n, all, all);
      break;
    case BRAID_GATHER:
      shape(n, own, root ? all : none);
      break;
    case BRAID_SCATTER:
      shape(n, root ? all : none, own);
      break;
    case BRAID_SEND:
      shape(1, whole, none);
      break;
    case BRAID_RECV:
      shape(1, none, whole);
      break;
    case BRAID_BARRIER:
      shape(1, none, none);
      break;
    }
    Outcome done = readCounts(options, request);
    done = done ? tensors() : Outcome(done.status, what + done.text);
    if (request.helps())
      request.in = request.out = none;
    if (done && options.collective == BRAID_PERMUTE)
      done = pairs();
    if (done && request.pointToPoint())
      return partner();
    return done ? algorithm() : done;
  }

  /// Ranks at the end of the communicator that serve the others.
  Outcome helpers() {
    if (options.helpers < 0 || options.helpers >= request.ranks)
      return invalid("expected less than " + std::to_string(request.ranks) + " helpers, got " +
                     std::to_string(options.helpers));
    if (options.helpers && request.pointToPoint())
      return invalid("expected no helpers, got " + std::to_string(options.helpers));
    request.ranks -= options.helpers;
    request.options.helpers = options.helpers;
    for (int rank = 0; options.helpers && rank < request.ranks; ++rank) {
      int32_t at = options.switches ? options.switches[rank] : 0;
      if (at < 0 || at >= options.helpers)
        return invalid("switches: expected one of " + std::to_string(options.helpers) + " helpers for rank " +
                       std::to_string(rank) + ", got " + std::to_string(at));
      request.options.switches.push_back(at);
    }
    return {};
  }

  /// Of reductions. Classes: floating point, signed, unsigned, bool.
  Outcome accumulation() {
    request.accumulation = request.type;
    if (options.accumulation == 0)
      return {};
    auto classOf = [](int type) {
      return type >= BRAID_F8E4M3FN ? 3 : type >= BRAID_U8 ? 2 : type >= BRAID_I8 ? 1 : 0;
    };
    int wide = options.accumulation - 1;
    auto fits = [&](int type) {
      return classOf(type) == classOf(request.type) && sizeOf(braid_type(type)) >= request.elementBytes;
    };
    if (wide < 0 || wide > BRAID_F64 || !fits(wide)) {
      std::string known;
      for (int type = 0; type <= BRAID_F64; ++type)
        if (fits(type))
          known += (known.empty() ? "" : ", ") + std::string(runtime::name(braid_type(type)));
      return invalid("accumulation of " + std::string(runtime::name(request.type)) + ": expected one of " + known +
                     ", got " +
                     (wide < 0 || wide > BRAID_F64 ? "number " + std::to_string(options.accumulation)
                                                   : runtime::name(braid_type(wide))));
    }
    if (request.reduces())
      request.accumulation = braid_type(wide);
    return {};
  }

  void shape(int blocks, BlockRange in, BlockRange out) {
    request.blocks = blocks;
    request.in = in;
    request.out = out;
  }

  Outcome tensors() {
    if (request.ragged() && options.buffers) {
      Outcome done = readRagged(options.buffers[0], request);
      return done ? done : Outcome(done.status, what + done.text);
    }
    if (options.collective == BRAID_BARRIER) {
      if (options.tensors)
        return invalid("expected no tensors, got " + std::to_string(options.tensors));
      request.tensors.emplace_back(); // one without elements
      return {};
    }
    if (options.tensors == 0 || !options.buffers)
      return invalid("expected at least one tensor, got none");
    if (options.tensors > 1 && request.pointToPoint())
      return invalid("expected one tensor, got " + std::to_string(options.tensors));
    for (size_t i = 0; i < options.tensors; ++i) {
      const braid_buffer &buffer = options.buffers[i];
      std::string which = options.tensors > 1 ? "tensor " + std::to_string(i) + ": " : "";
      size_t in = size_t(request.in.count), out = size_t(request.out.count);
      Tensor tensor;
      if (in && buffer.send_count % in)
        return invalid(which + "expected a multiple of " + std::to_string(in) + " elements to send, got " +
                       std::to_string(buffer.send_count));
      tensor.count = in ? buffer.send_count / in : buffer.receive_count / out;
      if (out && buffer.receive_count != tensor.count * out)
        return invalid(which + "expected " + std::to_string(tensor.count * out) + " elements to receive" +
                       (in ? " for " + std::to_string(buffer.send_count) + " to send" : "") + ", got " +
                       std::to_string(buffer.receive_count));
      if (in && tensor.count && !buffer.send && !request.helps())
        return invalid(which + "expected a buffer to send, got none");
      if (out && tensor.count && !buffer.receive && !request.helps())
        return invalid(which + "expected a buffer to receive, got none");
      size_t limit = size_t(1) << 48;
      if (tensor.count > limit / size_t(request.blocks) / request.elementBytes)
        return invalid(which + "expected fewer elements, got " + std::to_string(tensor.count));
      if (in && !request.helps())
        tensor.send = static_cast<const char *>(buffer.send);
      if (out && !request.helps())
        tensor.receive = static_cast<char *>(buffer.receive);
      request.tensors.push_back(tensor);
    }
    return request.helps() ? Outcome() : overlaps(); // helpers have no memory
  }

  /// A result may overlap nothing but its own operand.
  Outcome overlaps() const {
    struct Span {
      const char *begin, *end;
      size_t tensor;
    };
    std::vector<Span> results;
    auto bytes = [&](const Tensor &t, BlockRange range) {
      return t.count * size_t(range.count) * request.elementBytes;
    };
    for (size_t i = 0; i < request.tensors.size(); ++i)
      if (size_t size = bytes(request.tensors[i], request.out))
        results.push_back({request.tensors[i].receive, request.tensors[i].receive + size, i});
    std::sort(results.begin(), results.end(), [](const Span &a, const Span &b) { return a.begin < b.begin; });
    for (size_t i = 1; i < results.size(); ++i)
      if (results[i].begin < results[i - 1].end)
        return invalid("expected results that do not overlap, got overlapping tensors " +
                       std::to_string(std::min(results[i - 1].tensor, results[i].tensor)) + " and " +
                       std::to_string(std::max(results[i - 1].tensor, results[i].tensor)));
    for (size_t i = 0; i < request.tensors.size() && results.size() > 1; ++i) {
      const Tensor &tensor = request.tensors[i];
      const char *end = tensor.send + bytes(tensor, request.in);
      auto after = std::lower_bound(results.begin(), results.end(), tensor.send,
                                    [](const Span &a, const char *at) { return a.end <= at; });
      for (; after != results.end() && after->begin < end; ++after)
        if (after->tensor != i)
          return invalid("expected operands that overlap no other result, got the operand of tensor " +
                         std::to_string(i) + " in the result of " + std::to_string(after->tensor));
    }
    return {};
  }

  Outcome pairs() {
    std::vector<char> source(request.ranks), target(request.ranks);
    if (options.pairs && !options.pair_list)
      return invalid("expected a list of " + std::to_string(options.pairs) + " pairs, got none");
    for (size_t i = 0; i < options.pairs; ++i) {
      int from = options.pair_list[2 * i], to = options.pair_list[2 * i + 1];
      for (int rank : {from, to})
        if (rank < 0 || rank >= request.ranks)
          return invalid("pair " + std::to_string(i) + ": expected ranks below " + std::to_string(request.ranks) +
                         ", got " + std::to_string(rank));
      if (source[from]++ || target[to]++)
        return invalid("pair " + std::to_string(i) + ": expected each rank at most once as source and as target, got " +
                       std::to_string(from) + " to " + std::to_string(to));
      request.options.pairs.push_back({from, to});
    }
    return {};
  }

  Outcome partner() {
    if (options.peer < 0 || options.peer >= request.ranks || options.peer == request.me)
      return invalid("expected another rank below " + std::to_string(request.ranks) + " as peer, got " +
                     std::to_string(options.peer));
    if (options.tag < 0 || options.tag >= mostTags)
      return invalid("expected a tag below " + std::to_string(mostTags) + ", got " + std::to_string(options.tag));
    request.peer = options.peer;
    request.tag = options.tag;
    return {};
  }

  Outcome algorithm() {
    Collective kind = kindOf(options.collective);
    if (options.channels < 0 || options.channels > 64)
      return invalid("expected 0 to 64 channels, got " + std::to_string(options.channels));
    if (options.chunks < 0 || options.chunks > 4096)
      return invalid("expected 0 to 4096 chunks, got " + std::to_string(options.chunks));
    if (request.byEngine()) { // it reads the algorithm itself
      request.spelled = options.algorithm ? options.algorithm : "";
      request.options.channels = options.channels;
      request.options.segments = options.chunks;
      if (options.helpers)
        return {BRAID_UNSUPPORTED, what + "expected no helpers by engine '" + request.engine + "', got " +
                                       std::to_string(options.helpers) + "; engine 'braid' has them"};
      return {};
    }
    if (options.algorithm) {
      std::string problem, spelling = options.algorithm;
      request.algorithm = algorithms::parse(spelling, request.options, problem);
      if (!problem.empty())
        return invalid("algorithm '" + spelling + "': " + problem);
      request.arguments = spelling.substr(std::min(spelling.find('('), spelling.size()));
      if (!request.options.order.empty() && int(request.options.order.size()) != request.ranks)
        return invalid("algorithm '" + spelling + "': expected an order of " + std::to_string(request.ranks) +
                       " ranks, got " + std::to_string(request.options.order.size()));
      if (!request.algorithm) {
        std::string known;
        for (const algorithms::Algorithm &each : algorithms::registry())
          known += (known.empty() ? "" : ", ") + each.name;
        return invalid("expected an algorithm among " + known + ", got '" + options.algorithm + "'");
      }
      if (!request.algorithm->serves(kind, request.ranks))
        return {BRAID_UNSUPPORTED, what + "expected an algorithm that serves it on " + std::to_string(request.ranks) +
                                       " ranks, got '" + options.algorithm + "'"};
      if (!algorithms::granted(*request.algorithm, request.options))
        return {
            BRAID_UNSUPPORTED,
            what + "expected what '" + options.algorithm +
                "' needs (switches that reduce, or a plan for a topology), got none; only the cluster can grant it"};
      if (request.ragged() && !algorithms::servesRagged(*request.algorithm, request.ranks))
        return {BRAID_UNSUPPORTED, what + "expected an algorithm for blocks that differ in size on " +
                                       std::to_string(request.ranks) + " ranks, got '" + options.algorithm + "'"};
      if (request.ragged() && request.algorithm->forwards && request.pairs.empty())
        return {BRAID_UNSUPPORTED, what + "expected pair_counts, the sizes of all blocks, for '" + options.algorithm +
                                       "', which forwards them, got the counts of this rank alone"};
    } else { // of all_to_all: one of those that serve ragged ones and forward nothing
      request.algorithm = defaultAlgorithm(kind, request.ranks, request.ragged() ? 0 : request.bytes());
    }
    if (std::string problem;
        request.options.packing && !request.options.packing->plan(kind, request.ranks, request.options.root, problem))
      return invalid("algorithm 'packed_trees': " + problem);
    request.options.channels = options.channels ? options.channels : 1;
    request.options.segments =
        options.chunks ? options.chunks : defaultSegments(*request.algorithm, kind, request.bytes());
    if (int taken = options.helpers ? request.algorithm->program(kind, request.ranks, 0, request.options).helpers : 0;
        taken != options.helpers)
      return {BRAID_UNSUPPORTED, what + "expected an algorithm that takes " + std::to_string(options.helpers) +
                                     " helpers, got '" + request.algorithm->name + "', which takes " +
                                     std::to_string(taken)};
    return {};
  }
};

} // namespace

Outcome readRequest(const braid_op_options &given, int me, int ranks, Request &request, const std::string &engine) {
  constexpr size_t oldest = offsetof(braid_op_options, name);
  braid_op_options options;
  if (Outcome done = readOptions(given, oldest, "braid_op_options", options); !done)
    return done;
  request.me = me;
  request.ranks = ranks;
  request.engine = options.engine ? options.engine : engine;
  return Reader{options, request, {}}.read();
}

Outcome readBuffers(const braid_buffer *buffers, size_t count, Request &request) {
  if (count != request.tensors.size() && request.collective != BRAID_BARRIER)
    return {BRAID_INVALID, "expected buffers for " + std::to_string(request.tensors.size()) + " tensors, got " +
                               std::to_string(count)};
  braid_op_options options = {};
  options.collective = request.collective;
  options.tensors = count;
  options.buffers = buffers;
  Request fresh = request;
  fresh.tensors.clear();
  Outcome done = Reader{options, fresh, {}}.tensors();
  if (!done)
    return done;
  for (size_t i = 0; i < fresh.tensors.size(); ++i)
    if (fresh.tensors[i].count != request.tensors[i].count)
      return {BRAID_INVALID, "tensor " + std::to_string(i) + ": expected a buffer of the size that was planned"};
  request = std::move(fresh);
  return {};
}

} // namespace braid::runtime
