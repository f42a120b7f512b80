//===- Calls.cpp - an operation as calls of NCCL --------------------------------------------------------------------===//
#include "engines/nccl/Calls.h"
#include "reduce/Reduce.h"
#include <algorithm>
#include <optional>

namespace braid::runtime::nccl {

namespace {

constexpr const char *otherwise = ", or use engine 'braid'";

std::optional<Type> typeOf(braid_type type) {
  switch (type) {
  case BRAID_BOOL:
  case BRAID_U8:
    return u8;
  case BRAID_I8:
    return i8;
  case BRAID_I32:
    return i32;
  case BRAID_U32:
    return u32;
  case BRAID_I64:
    return i64;
  case BRAID_U64:
    return u64;
  case BRAID_F8E4M3FN:
    return f8e4m3;
  case BRAID_F8E5M2:
    return f8e5m2;
  case BRAID_F16:
    return f16;
  case BRAID_BF16:
    return bf16;
  case BRAID_F32:
    return f32;
  case BRAID_F64:
    return f64;
  default:
    return std::nullopt;
  }
}

/// Of bool, whose values are 0 and 1: a sum, like or, is the larger one, a product, like and, the smaller.
std::optional<Reduction> reductionOf(braid_reduction reduction, bool ofBool) {
  switch (reduction) {
  case BRAID_SUM:
    return ofBool ? max : sum;
  case BRAID_PRODUCT:
    return ofBool ? min : product;
  case BRAID_MIN:
    return min;
  case BRAID_MAX:
    return max;
  case BRAID_AVERAGE:
    return average;
  case BRAID_AND:
    return ofBool ? std::optional(min) : std::nullopt;
  case BRAID_OR:
    return ofBool ? std::optional(max) : std::nullopt;
  default:
    return std::nullopt;
  }
}

Outcome unsupported(const std::string &text) { return {BRAID_UNSUPPORTED, text}; }

/// NCCL sends and receives at once; a buffer that is both would be read and written in any order.
bool exchanges(const Request &request) {
  return request.collective == BRAID_ALL_TO_ALL || request.collective == BRAID_PERMUTE;
}

bool needsScratch(const Request &request, const Tensor &tensor) {
  size_t in = request.operandBytes(tensor), out = request.resultBytes(tensor);
  if (!in || !out || tensor.send >= tensor.receive + out || tensor.receive >= tensor.send + in)
    return false;
  size_t block = tensor.count * request.elementBytes;
  // The block of the operand that is in the abstract buffer where the result begins, and the other way round.
  const char *operand = tensor.send + size_t(std::max(request.out.first - request.in.first, 0)) * block;
  const char *result = tensor.receive + size_t(std::max(request.in.first - request.out.first, 0)) * block;
  return exchanges(request) || operand != result;
}

/// In the scratch each tensor begins like memory of its own.
size_t scratchOf(const Request &request, const Tensor &tensor) {
  constexpr size_t alignment = 256;
  return needsScratch(request, tensor) ? (request.operandBytes(tensor) + alignment - 1) / alignment * alignment : 0;
}

class Maker {
public:
  Maker(const Request &request, const Library &nccl, char *scratch, Calls &calls)
      : request(request), nccl(nccl), scratch(scratch), calls(calls) {}

  void add(const Tensor &tensor) {
    bytes = tensor.count * request.elementBytes;
    send = tensor.send;
    receive = tensor.receive;
    if (size_t room = scratchOf(request, tensor)) {
      calls.before.push_back({scratch, send, request.operandBytes(tensor)});
      send = scratch;
      scratch += room;
    }
    if (request.ragged())
      return ragged();
    if (bytes == 0)
      return;
    int root = request.options.root;
    switch (request.collective) {
    case BRAID_ALL_REDUCE:
      return put(Call::AllReduce, tensor.count);
    case BRAID_REDUCE_SCATTER:
      return put(Call::ReduceScatter, tensor.count);
    case BRAID_REDUCE:
      return put(Call::Reduce, tensor.count, root);
    case BRAID_ALL_GATHER:
      return put(Call::AllGather, bytes);
    case BRAID_BROADCAST:
      return put(Call::Broadcast, bytes, root);
    case BRAID_ALL_TO_ALL:
      return nccl.ncclAlltoAll ? put(Call::AllToAll, bytes) : eachOther(request.ranks, request.ranks);
    case BRAID_GATHER:
      return nccl.ncclGather ? put(Call::Gather, bytes, root) : toRoot(root);
    case BRAID_SCATTER:
      return nccl.ncclScatter ? put(Call::Scatter, bytes, root) : fromRoot(root);
    case BRAID_PERMUTE:
      return permute();
    case BRAID_SEND:
      return put(Call::Send, bytes, request.peer);
    case BRAID_RECV:
      return put(Call::Receive, bytes, request.peer);
    case BRAID_BARRIER:
      return;
    }
  }

private:
  /// A pointer that NCCL does not use has to be memory all the same (NCCL_CHECK_POINTERS).
  void put(Call::Kind kind, size_t count, int root = 0) {
    const char *operand = send ? send : receive;
    char *result = receive ? receive : const_cast<char *>(send);
    calls.calls.push_back({kind, operand, result, count, root});
  }
  void toPeer(int peer, const char *from, size_t size) {
    if (size)
      calls.calls.push_back({Call::Send, from, nullptr, size, peer});
  }
  void fromPeer(int peer, char *to, size_t size) {
    if (size)
      calls.calls.push_back({Call::Receive, nullptr, to, size, peer});
  }

  void eachOther(int sends, int receives) {
    for (int peer = 0; peer < sends; ++peer)
      toPeer(peer, send + size_t(peer) * bytes, bytes);
    for (int peer = 0; peer < receives; ++peer)
      fromPeer(peer, receive + size_t(peer) * bytes, bytes);
  }
  /// The root's own block lies where it belongs, where it is in place.
  void toRoot(int root) {
    bool inPlace = request.me == root && send == receive + size_t(root) * bytes;
    if (!inPlace)
      toPeer(root, send, bytes);
    for (int peer = 0; request.me == root && peer < request.ranks; ++peer)
      if (!inPlace || peer != root)
        fromPeer(peer, receive + size_t(peer) * bytes, bytes);
  }
  void fromRoot(int root) {
    bool inPlace = request.me == root && receive == send + size_t(root) * bytes;
    for (int peer = 0; request.me == root && peer < request.ranks; ++peer)
      if (!inPlace || peer != root)
        toPeer(peer, send + size_t(peer) * bytes, bytes);
    if (!inPlace)
      fromPeer(root, receive, bytes);
  }
  void ragged() {
    const char *from = send;
    char *to = receive;
    for (int peer = 0; peer < request.ranks; ++peer) {
      size_t gives = request.gives[size_t(peer)] * request.elementBytes,
             takes = request.takes[size_t(peer)] * request.elementBytes;
      toPeer(peer, from, gives);
      fromPeer(peer, to, takes);
      from += gives;
      to += takes;
    }
  }
  /// Who has no source gets zeros.
  void permute() {
    bool sourced = false;
    for (auto [from, to] : request.options.pairs) {
      if (from == request.me)
        toPeer(to, send, bytes);
      if (to == request.me) {
        fromPeer(from, receive, bytes);
        sourced = true;
      }
    }
    if (!sourced)
      calls.before.push_back({receive, nullptr, bytes});
  }

  const Request &request;
  const Library &nccl;
  char *scratch;
  Calls &calls;
  size_t bytes = 0;
  const char *send = nullptr;
  char *receive = nullptr;
};

} // namespace

Outcome readCalls(const Request &request, const Library &nccl, Calls &calls) {
  if (request.memory == BRAID_MEMORY_HOST && request.collective != BRAID_BARRIER)
    return unsupported("expected buffers of a device, or pinned ones (braid_op_options.memory), got memory of the "
                       "host; move them there" +
                       std::string(otherwise));
  if (request.options.helpers)
    return unsupported("expected no helpers, got " + std::to_string(request.options.helpers) + "; use engine 'braid'");
  if (request.pointToPoint() && request.tag)
    return unsupported("expected tag 0, since NCCL has none, got " + std::to_string(request.tag) +
                       "; start sends and receives of two ranks in one order with tag 0" + otherwise);
  calls = {};
  if (!request.reduces())
    return {};
  bool ofBool = request.type == BRAID_BOOL;
  std::optional<Type> type = typeOf(request.type);
  std::optional<Reduction> reduction = reductionOf(request.reduction, ofBool);
  if (!type)
    return unsupported(
        "expected a type that NCCL reduces (bool, i8, i32, i64, u8, u32, u64, f8e4m3fn, f8e5m2, f16, bf16, "
        "f32, f64), got " +
        std::string(runtime::name(request.type)) + "; convert it to a wider one" + otherwise);
  if (*type >= f8e4m3 && nccl.version < firstWithF8)
    return unsupported("expected NCCL " + Library::text(firstWithF8) + " or later for a reduction of " +
                       runtime::name(request.type) + ", got " + nccl.versionText() + "; convert it to f16" + otherwise);
  if (!reduction)
    return unsupported("expected a reduction that NCCL has (sum, product, min, max, average; and, or of bool), got " +
                       std::string(runtime::name(request.reduction)) + " of " + runtime::name(request.type) +
                       "; use engine 'braid'");
  if (request.accumulation != request.type)
    return unsupported("expected the accumulation type of the elements, " + std::string(runtime::name(request.type)) +
                       ", got " + runtime::name(request.accumulation) + "; convert the operands" + otherwise);
  calls.type = *type;
  calls.reduction = *reduction;
  return {};
}

Outcome readAlgorithm(const std::string &spelled) {
  static const char *const algorithms[] = {"",     "default",   "ring", "tree", "collnet_direct", "collnet_chain",
                                           "nvls", "nvls_tree", "pat"};
  static const char *const protocols[] = {"", "LL", "LL128", "Simple"};
  size_t slash = std::min(spelled.find('/'), spelled.size());
  std::string protocol = spelled.substr(std::min(slash + 1, spelled.size()));
  bool known =
      std::find(std::begin(algorithms), std::end(algorithms), spelled.substr(0, slash)) != std::end(algorithms) &&
      std::find(std::begin(protocols), std::end(protocols), protocol) != std::end(protocols);
  return known ? Outcome()
               : unsupported(
                     "expected an algorithm of NCCL (ring, tree, collnet_direct, collnet_chain, nvls, nvls_tree, pat, "
                     "with /LL, /LL128 or /Simple), which its tuner chooses, got '" +
                     spelled + "'" + otherwise);
}

size_t scratchBytes(const Request &request) {
  size_t sum = 0;
  for (const Tensor &tensor : request.tensors)
    sum += scratchOf(request, tensor);
  return sum;
}

void makeCalls(const Request &request, const Library &nccl, char *scratch, char *barrier, Calls &calls) {
  calls.before.clear();
  calls.calls.clear();
  Maker maker(request, nccl, scratch, calls);
  for (const Tensor &tensor : request.tensors)
    maker.add(tensor);
  if (request.collective == BRAID_BARRIER)
    calls.calls.push_back({Call::AllReduce, barrier, barrier, 1, 0});
}

Result issue(const Library &nccl, const Calls &all, const Call &c, Comm comm, Stream stream) {
  switch (c.kind) {
  case Call::AllReduce:
    return nccl.ncclAllReduce(c.send, c.receive, c.count, all.type, all.reduction, comm, stream);
  case Call::Reduce:
    return nccl.ncclReduce(c.send, c.receive, c.count, all.type, all.reduction, c.root, comm, stream);
  case Call::ReduceScatter:
    return nccl.ncclReduceScatter(c.send, c.receive, c.count, all.type, all.reduction, comm, stream);
  case Call::AllGather:
    return nccl.ncclAllGather(c.send, c.receive, c.count, u8, comm, stream);
  case Call::Broadcast:
    return nccl.ncclBroadcast(c.send, c.receive, c.count, u8, c.root, comm, stream);
  case Call::AllToAll:
    return nccl.ncclAlltoAll(c.send, c.receive, c.count, u8, comm, stream);
  case Call::Gather:
    return nccl.ncclGather(c.send, c.receive, c.count, u8, c.root, comm, stream);
  case Call::Scatter:
    return nccl.ncclScatter(c.send, c.receive, c.count, u8, c.root, comm, stream);
  case Call::Send:
    return nccl.ncclSend(c.send, c.count, u8, c.root, comm, stream);
  case Call::Receive:
    return nccl.ncclRecv(c.receive, c.count, u8, c.root, comm, stream);
  }
  return internalError;
}

} // namespace braid::runtime::nccl
