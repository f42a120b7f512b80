//===- Calls.cpp - checks a call as NCCL would, and computes it -----------------------------------------------------===//
//
// Operands are copied when the call's turn in its stream has come, results written when those of all ranks are there, and each rank says what
// it asked for: a difference, for which NCCL would wait for ever or mix up bytes, is an error here. A send is done when it was
// received, as NCCL's may be.
//===------------------------------------------------------------------------------------------------------------===//
#include "test/nccl/Calls.h"
#include "reduce/Reduce.h"
#include "test/nccl/Files.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace braid::runtime::nccl {

namespace {

namespace files = braid::test::files;

constexpr braid_type types[] = {BRAID_I8,  BRAID_U8,  BRAID_I32, BRAID_U32,  BRAID_I64,      BRAID_U64,
                                BRAID_F16, BRAID_F32, BRAID_F64, BRAID_BF16, BRAID_F8E4M3FN, BRAID_F8E5M2};
constexpr braid_reduction reductions[] = {BRAID_SUM, BRAID_PRODUCT, BRAID_MAX, BRAID_MIN, BRAID_AVERAGE};

bool overlap(const void *a, size_t bytesA, const void *b, size_t bytesB) {
  auto x = static_cast<const char *>(a), y = static_cast<const char *>(b);
  return bytesA && bytesB && x < y + bytesB && y < x + bytesA;
}

} // namespace

size_t sizeOf(Type type) { return runtime::sizeOf(types[type]); }

const char *name(Call::Kind kind) {
  static const char *const names[] = {"ncclAllReduce", "ncclReduce",   "ncclReduceScatter", "ncclAllGather",
                                      "ncclBroadcast", "ncclAlltoAll", "ncclGather",        "ncclScatter",
                                      "ncclSend",      "ncclRecv"};
  return names[kind];
}

bool planted(const char *what) {
  const char *asked = std::getenv("BRAID_FAKE_NCCL_PLANT");
  return asked && std::strcmp(asked, what) == 0;
}

const FakeDriver *driver() {
  static const FakeDriver *found = [] {
    const char *path = std::getenv("BRAID_CUDA_DRIVER");
    void *library = path ? dlopen(path, RTLD_NOW) : nullptr;
    auto *made = new FakeDriver;
    auto load = [&](auto &function, const char *symbol) {
      function = library ? reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol)) : nullptr;
      return function != nullptr;
    };
    bool whole = load(made->enqueue, "fake_enqueue") && load(made->inside, "fake_inside") &&
                 load(made->streamDevice, "fake_stream_device") && load(made->pointer, "cuPointerGetAttribute") &&
                 load(made->device, "cuCtxGetDevice") && load(made->uuid, "cuDeviceGetUuid_v2");
    return whole ? made : nullptr;
  }();
  return found;
}

size_t Call::operandBytes() const {
  size_t n = size_t(comm->ranks), one = count * sizeOf(type);
  switch (kind) {
  case Recv:
    return 0;
  case Broadcast:
    return comm->rank == root ? one : 0;
  case ReduceScatter:
  case AlltoAll:
    return n * one;
  case Scatter:
    return comm->rank == root ? n * one : 0;
  default:
    return one;
  }
}

size_t Call::resultBytes() const {
  size_t n = size_t(comm->ranks), one = count * sizeOf(type);
  switch (kind) {
  case Send:
    return 0;
  case Reduce:
    return comm->rank == root ? one : 0;
  case AllGather:
  case AlltoAll:
    return n * one;
  case Gather:
    return comm->rank == root ? n * one : 0;
  default:
    return one;
  }
}

std::string Call::text() const {
  bool known = type >= i8 && type <= f8e5m2 && op >= sum && op <= average;
  return std::string(name(kind)) + " count " + std::to_string(count) +
         (known ? std::string(" type ") + runtime::name(types[type]) +
                      (reduces() ? std::string(" op ") + runtime::name(reductions[op]) : "")
                : " of an unknown type or reduction") +
         (rooted()         ? " root " + std::to_string(root)
          : pointToPoint() ? " peer " + std::to_string(root)
                           : "");
}

std::string Call::wrong() const {
  if (type < i8 || type > f8e5m2)
    return "expected a type, got " + std::to_string(type);
  if (reduces() && (op < sum || op > average))
    return "expected a reduction, got " + std::to_string(op);
  if ((rooted() || pointToPoint()) && (root < 0 || root >= comm->ranks))
    return "expected a rank below " + std::to_string(comm->ranks) + ", got " + std::to_string(root);
  if (driver()->streamDevice(stream) != comm->device)
    return "expected a stream of device " + std::to_string(comm->device) + ", got one of " +
           std::to_string(driver()->streamDevice(stream));
  auto known = [&](const void *at, size_t bytes) {
    constexpr int memoryType = 2, ordinal = 9;
    constexpr unsigned deviceMemory = 2;
    unsigned kind = 0;
    int device = 0;
    auto address = reinterpret_cast<unsigned long long>(at);
    return !bytes || (!driver()->pointer(&kind, memoryType, address) && !driver()->pointer(&device, ordinal, address) &&
                      (kind != deviceMemory || device == comm->device));
  };
  if (!known(send, operandBytes()) || !known(receive, resultBytes()))
    return "expected memory of device " + std::to_string(comm->device) + ", or pinned memory";
  size_t one = count * sizeOf(type), mine = size_t(comm->rank) * one;
  auto from = static_cast<const char *>(send), to = static_cast<const char *>(receive);
  bool inPlace = kind == ReduceScatter || kind == Scatter ? to == from + mine
                 : kind == AllGather || kind == Gather    ? from == to + mine
                 : kind == AlltoAll                       ? false
                                                          : from == to;
  if (overlap(send, operandBytes(), receive, resultBytes()) && !inPlace)
    return "expected operand and result apart, or in place, got memory that overlaps";
  return {};
}

std::string Call::file(int rank) const {
  if (kind == Send)
    return comm->folder + "/from." + std::to_string(comm->rank) + ".to." + std::to_string(root) + "." +
           std::to_string(number);
  if (kind == Recv)
    return comm->folder + "/from." + std::to_string(root) + ".to." + std::to_string(comm->rank) + "." +
           std::to_string(number);
  return comm->folder + "/call." + std::to_string(number) + "." + std::to_string(rank);
}

bool Call::advance() {
  if (comm->aborted || comm->revoked || done)
    return done = true;
  if (planted("hang") && comm->rank == 1)
    return false;
  return done = exchange();
}

bool Call::exchange() {
  std::string what = text();
  if (kind != Recv && !said) {
    const char *operand = static_cast<const char *>(driver()->inside(send));
    if (!files::write(file(comm->rank), what + "\n" + std::string(operand, operandBytes())))
      comm->fail(internalError, what + ": " + file(comm->rank) + " is there already");
    said = true;
  }
  if (kind == Send)
    return !files::exists(file(comm->rank));
  if (kind == Recv) {
    if (!files::exists(file(root)))
      return false;
    std::string message = files::read(file(root)), bytes = message.substr(message.find('\n') + 1);
    if (bytes.size() != count * sizeOf(type))
      comm->fail(invalidUsage, what + ": expected " + std::to_string(count * sizeOf(type)) + " bytes from rank " +
                                   std::to_string(root) + ", got " + std::to_string(bytes.size()));
    else
      std::memcpy(driver()->inside(receive), bytes.data(), bytes.size());
    unlink(file(root).c_str());
    return true;
  }
  for (int rank = 0; rank < comm->ranks; ++rank)
    if (!files::exists(file(rank)))
      return false;
  compute();
  if (number) { // all have said this one, so nobody reads the one before it any more
    --number;
    unlink(file(comm->rank).c_str());
    ++number;
  }
  return true;
}

void Call::compute() {
  size_t one = count * sizeOf(type), mine = size_t(comm->rank) * one, bytes = resultBytes();
  std::string result, what = text();
  for (int rank = 0; rank < comm->ranks; ++rank) {
    std::string said = files::read(file(rank)), operand = said.substr(said.find('\n') + 1);
    if (said.substr(0, said.find('\n')) != what) {
      comm->fail(invalidUsage, "call " + std::to_string(number) + ": " + what + ", but rank " + std::to_string(rank) +
                                   " has " + said.substr(0, said.find('\n')));
      return;
    }
    if (planted("forget") && rank == comm->ranks - 1 && rank > 0)
      operand.assign(operand.size(), '\0');
    if (reduces()) {
      operand = kind == ReduceScatter ? operand.substr(mine, one) : operand;
      if (rank == 0)
        result = operand;
      else
        runtime::combiner(types[type], reductions[op])(result.data(), result.data(), operand.data(), count);
    } else if (kind == AlltoAll || (kind == Scatter && rank == root)) {
      result += operand.substr(mine, one);
    } else if (kind == AllGather || kind == Gather || (kind == Broadcast && rank == root)) {
      result += operand;
    }
  }
  if (reduces() && op == average)
    runtime::divide(types[type], result.data(), count, comm->ranks);
  std::memcpy(driver()->inside(receive), result.data(), bytes);
}

} // namespace braid::runtime::nccl
