//===- StandIn.cpp - a stand-in for libnccl -------------------------------------------------------------------------===//
//
// The functions of Abi.h for machines without a GPU, above the stand-in for the driver (test/cuda/Driver.cpp), opened by BRAID_NCCL in the
// place of the real library. It judges: what NCCL refuses is refused, what would hang or be undefined with NCCL is an error with a
// sentence (ncclGetLastError, and on stderr), and results are computed. BRAID_FAKE_NCCL is the folder where ranks meet and where each
// rank's calls are written down (calls.RANK: those of the first communicator's rank).
//
//   BRAID_FAKE_NCCL_VERSION=21800     what came later is refused
//   BRAID_FAKE_NCCL_PLANT=forget      the last rank's contribution is left out
//                        =hang        rank 1's calls never end
//                        =fail        rank 1's second call ends in ncclRemoteError, which only ncclCommGetAsyncError tells
//                        =own-ids     each rank connects with an id of its own
//
// A communicator that does not block says ncclInProgress after each group of calls, and puts them into their streams when it is asked how it is.
//===------------------------------------------------------------------------------------------------------------===//
#include "test/nccl/Calls.h"
#include "test/nccl/Files.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

using namespace braid::runtime::nccl;
namespace files = braid::test::files;

extern "C" {
#define STAND_IN_DECLARE(version, function, parameters) Result function parameters;
BRAID_NCCL_FUNCTIONS(STAND_IN_DECLARE)
}

namespace {

thread_local int depth = 0;
thread_local std::vector<Call> group;
thread_local std::vector<Comm> readied; ///< communicators of the group
thread_local std::string log, unlogged, lastError;

int version() {
  const char *asked = std::getenv("BRAID_FAKE_NCCL_VERSION");
  return asked ? std::atoi(asked) : 22809;
}

std::string folder() {
  const char *asked = std::getenv("BRAID_FAKE_NCCL");
  return asked ? asked : "/tmp";
}

void record(const std::string &line, const std::string &to = log) {
  std::string text = line + "\n";
  if (to.empty())
    unlogged += text;
  else
    files::append(to, std::exchange(unlogged, {}) + text);
}

Result refuse(Result result, const std::string &text, Comm comm = nullptr) {
  lastError = text;
  record("REFUSED: " + text, comm ? comm->log : log);
  std::fprintf(stderr, "stand-in for nccl: %s\n", text.c_str());
  if (comm) {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->error = text;
  }
  return result;
}

bool tooOld(int first, const char *what, Result &result) {
  if (version() >= first)
    return false;
  result = refuse(internalError, std::string(what) + " is not in version " + std::to_string(version()));
  return true;
}

bool dead(Comm comm) { return !comm || comm->magic != Handle::alive; }

/// As ncclCommEnsureReady has it.
Result ready(Comm comm, const char *what) {
  if (dead(comm))
    return refuse(invalidArgument, std::string(what) + ": expected a communicator");
  std::lock_guard<std::mutex> lock(comm->mutex);
  if (comm->aborted || comm->revoked || comm->finalized)
    return invalidUsage;
  if (comm->state == inProgress) {
    comm->error =
        std::string(what) + ": attempt to use a communicator before the previous operation returned ncclSuccess";
    std::fprintf(stderr, "stand-in for nccl: %s\n", comm->error.c_str());
    return invalidArgument;
  }
  return comm->state;
}

bool work(void *with) {
  auto *batch = static_cast<std::shared_ptr<Batch> *>(with);
  bool all = true, collective = true; // collectives one after another, point-to-point beside each other
  for (Call &call : (*batch)->calls) {
    if (call.pointToPoint() ? !call.advance() : collective && !call.advance())
      all = false;
    collective &= call.pointToPoint() || call.done;
  }
  if (all) {
    --(*batch)->comm->inFlight;
    delete batch;
  }
  return all;
}

void enqueue(const std::shared_ptr<Batch> &batch) {
  driver()->enqueue(batch->stream, work, new std::shared_ptr<Batch>(batch));
}

Result submit(Call call) {
  Comm comm = call.comm;
  if (dead(comm))
    return refuse(invalidArgument, std::string(name(call.kind)) + ": expected a communicator");
  if (Result state = ready(comm, name(call.kind)))
    return state;
  std::string what = call.text(), wrong = call.wrong();
  record(what + " stream " + (call.stream ? "own" : "default"), comm->log);
  if (!wrong.empty())
    return refuse(invalidArgument, what + ": " + wrong, comm);
  if (call.count == 0 && !call.pointToPoint())
    return ok;
  call.number = call.kind == Call::Send   ? comm->sent[call.root]++
                : call.kind == Call::Recv ? comm->received[call.root]++
                                          : comm->collectives++;
  if (planted("fail") && comm->rank == 1 && call.number == 1) {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->error = "a remote process exited or there was a network error";
    comm->waiting.push_back(nullptr);
  }
  bool alone = depth == 0;
  if (alone)
    ++depth;
  group.push_back(std::move(call));
  return alone ? ncclGroupEnd() : ok;
}

Comm create(const std::string &where, int rank, int ranks, bool blocking) {
  Comm comm = new Handle;
  comm->folder = where;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->blocking = blocking;
  driver()->device(&comm->device);
  if (log.empty())
    log = folder() + "/calls." + std::to_string(rank);
  comm->log = log;
  return comm;
}

std::string hexadecimal(const char *bytes, size_t count) {
  std::string text;
  char two[3];
  for (size_t i = 0; i < count; ++i) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(bytes[i]));
    text += two;
  }
  return text;
}

/// Whether all are here; what they say of each other is compared then.
Result meet(Comm comm) {
  std::vector<std::string> all;
  for (int rank = 0; rank < comm->ranks; ++rank) {
    std::string file = comm->folder + "/rank." + std::to_string(rank);
    if (!files::exists(file))
      return inProgress;
    all.push_back(files::read(file));
  }
  for (int a = 0; a < comm->ranks; ++a)
    for (int b = 0; b < a; ++b) {
      std::string first = all[size_t(b)], second = all[size_t(a)];
      if (first == second)
        return refuse(invalidUsage, "Duplicate GPU detected : rank " + std::to_string(b) + " and rank " +
                                        std::to_string(a) + " both on CUDA device " +
                                        first.substr(first.find(' ') + 1));
      if (first.substr(0, first.find(' ')) != second.substr(0, second.find(' ')))
        return refuse(invalidUsage, "expected the same number of ranks, got " + first + " and " + second);
    }
  return ok;
}

/// The communicator says that it is here; the others come when they come. A child's handle is there when its parent has done.
Result enter(Comm comm, Comm *made, Comm parent = nullptr) {
  char uuid[16];
  driver()->uuid(uuid, comm->device);
  files::make(comm->folder);
  std::string file = comm->folder + "/rank." + std::to_string(comm->rank);
  if (!files::write(file, std::to_string(comm->ranks) + " " + hexadecimal(uuid, sizeof uuid)))
    return refuse(invalidUsage, "expected each rank once, got rank " + std::to_string(comm->rank) + " twice");
  comm->meeting = true;
  comm->state = inProgress;
  *made = parent && !comm->blocking ? nullptr : comm;
  if (!comm->blocking && parent) {
    std::lock_guard<std::mutex> lock(parent->mutex);
    parent->child = comm;
    parent->childAt = made;
    parent->state = inProgress;
  }
  if (!comm->blocking)
    return inProgress;
  Result state;
  do
    ncclCommGetAsyncError(comm, &state);
  while (state == inProgress);
  return state;
}

} // namespace

extern "C" {

Result ncclGetVersion(int *number) { return *number = version(), ok; }

const char *ncclGetErrorString(Result result) {
  static const char *const texts[] = {"no error",
                                      "unhandled cuda error",
                                      "unhandled system error",
                                      "internal error",
                                      "invalid argument",
                                      "invalid usage",
                                      "remote process exited or there was a network error",
                                      "NCCL operation in progress"};
  return size_t(result) < std::size(texts) ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(Comm comm) {
  if (dead(comm))
    return lastError.c_str();
  std::lock_guard<std::mutex> lock(comm->mutex);
  return (lastError = comm->error).c_str();
}

Result ncclGetUniqueId(UniqueId *id) {
  std::random_device random;
  for (size_t i = 0; i < sizeof id->internal; ++i)
    id->internal[i] = char(random());
  std::string where = folder() + "/" + hexadecimal(id->internal, 16);
  record("ncclGetUniqueId -> " + hexadecimal(id->internal, 4));
  return files::make(where) ? ok : refuse(systemError, "no folder " + where + "; is BRAID_FAKE_NCCL one?");
}

Result ncclCommInitRankConfig(Comm *made, int ranks, UniqueId id, int rank, Config *config) {
  if (!driver())
    return refuse(unhandledCudaError, "no stand-in for the driver; expected it in BRAID_CUDA_DRIVER");
  if (!config || config->magic != Config().magic || config->size < sizeof(Config))
    return refuse(invalidArgument, "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  if (rank < 0 || rank >= ranks)
    return refuse(invalidArgument, "Invalid rank requested : " + std::to_string(rank) + "/" + std::to_string(ranks));
  if (int device; driver()->device(&device))
    return refuse(unhandledCudaError, "no context is current");
  if (planted("own-ids"))
    ncclGetUniqueId(&id);
  std::string where = folder() + "/" + hexadecimal(id.internal, 16);
  if (!files::exists(where))
    return refuse(invalidArgument, "expected an id of ncclGetUniqueId");
  Comm comm = create(where, rank, ranks, config->blocking != 0);
  record("ncclCommInitRankConfig rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " id " +
         hexadecimal(id.internal, 4) + " device " + std::to_string(comm->device) +
         (comm->blocking ? "" : " nonblocking"));
  return enter(comm, made);
}

Result ncclCommSplit(Comm comm, int color, int key, Comm *made, Config *config) {
  Result state = ready(comm, "ncclCommSplit");
  if (state || tooOld(21800, "ncclCommSplit", state))
    return state;
  std::string where = comm->folder + "/split." + std::to_string(++comm->children);
  files::make(where);
  files::write(where + "/color." + std::to_string(comm->rank), std::to_string(color) + " " + std::to_string(key));
  record("ncclCommSplit color " + std::to_string(color) + " key " + std::to_string(key), comm->log);
  std::vector<std::pair<int, int>> mine; // key, rank
  for (int rank = 0; rank < comm->ranks; ++rank) {
    std::string file = where + "/color." + std::to_string(rank);
    while (!files::exists(file)) // NCCL exchanges them before it returns
      std::this_thread::yield();
    int theirs, order;
    std::istringstream(files::read(file)) >> theirs >> order;
    if (theirs == color)
      mine.push_back({order, rank});
  }
  std::sort(mine.begin(), mine.end());
  *made = nullptr;
  if (color == noColor)
    return ok;
  int rank = 0;
  while (mine[size_t(rank)].second != comm->rank)
    ++rank;
  return enter(create(where + "/" + std::to_string(color), rank, int(mine.size()),
                      config ? config->blocking != 0 : comm->blocking),
               made, comm);
}

Result ncclCommShrink(Comm comm, int *left, int count, Comm *made, Config *config, int flags) {
  Result state = flags & 1 ? ok : ready(comm, "ncclCommShrink");
  if (state || tooOld(22700, "ncclCommShrink", state))
    return state;
  if (comm->inFlight && !(flags & 1))
    return refuse(invalidUsage, "ncclCommShrink: expected nothing in flight", comm);
  std::string name = "shrink";
  std::vector<char> out(size_t(comm->ranks));
  for (int i = 0; i < count; ++i) {
    name += "." + std::to_string(left[i]);
    out[size_t(left[i])] = 1;
  }
  if (count < 1 || out[size_t(comm->rank)])
    return refuse(invalidArgument, "ncclCommShrink: expected others to be left out", comm);
  record("ncclCommShrink without " + name.substr(7), comm->log);
  int rank = 0;
  for (int each = 0; each < comm->rank; ++each)
    rank += !out[size_t(each)];
  return enter(create(comm->folder + "/" + std::to_string(++comm->children) + "." + name, rank, comm->ranks - count,
                      config ? config->blocking != 0 : comm->blocking),
               made, comm);
}

Result ncclCommGetAsyncError(Comm comm, Result *error) {
  if (dead(comm) || !error)
    return refuse(invalidArgument, "ncclCommGetAsyncError: expected a communicator");
  std::unique_lock<std::mutex> lock(comm->mutex);
  if (comm->child) {
    Result state;
    ncclCommGetAsyncError(comm->child, &state);
    if (state != inProgress) {
      *comm->childAt = std::exchange(comm->child, nullptr);
      comm->state = ok;
    }
  } else if (comm->meeting) {
    lock.unlock();
    Result state = meet(comm);
    lock.lock();
    comm->meeting = state == inProgress;
    comm->state = state;
    if (state > ok && state != inProgress)
      comm->error = lastError;
  } else if (comm->ending && comm->inFlight == 0) {
    comm->ending = false;
    comm->finalized = true;
    comm->state = ok;
  } else if (!comm->waiting.empty()) {
    std::vector<std::shared_ptr<Batch>> batches = std::exchange(comm->waiting, {});
    comm->state = ok;
    lock.unlock();
    bool failed = false;
    for (const std::shared_ptr<Batch> &batch : batches)
      batch ? enqueue(batch) : void(failed = true);
    lock.lock();
    if (failed)
      comm->state = remoteError;
  }
  *error = comm->state;
  return ok;
}

Result ncclCommFinalize(Comm comm) {
  if (Result state = ready(comm, "ncclCommFinalize"))
    return state;
  record("ncclCommFinalize", comm->log);
  std::lock_guard<std::mutex> lock(comm->mutex);
  comm->ending = true;
  comm->state = inProgress;
  return comm->blocking ? ok : inProgress;
}

Result ncclCommDestroy(Comm comm) {
  if (dead(comm))
    return refuse(invalidArgument, "ncclCommDestroy: expected a communicator");
  record("ncclCommDestroy", comm->log);
  if (!comm->finalized || comm->inFlight)
    return refuse(invalidUsage, "ncclCommDestroy: expected a communicator that is finalized, with nothing in flight",
                  comm);
  comm->magic = 0;
  delete comm;
  return ok;
}

Result ncclCommAbort(Comm comm) {
  if (dead(comm))
    return refuse(invalidArgument, "ncclCommAbort: expected a communicator");
  record("ncclCommAbort", comm->log);
  comm->aborted = true; // its calls leave their streams
  comm->magic = 0;
  return ok;
}

Result ncclCommRevoke(Comm comm, int flags) {
  if (Result old; tooOld(22800, "ncclCommRevoke", old))
    return old;
  if (dead(comm) || flags)
    return refuse(invalidArgument, "ncclCommRevoke: expected a communicator, and no flags");
  record("ncclCommRevoke", comm->log);
  comm->revoked = true; // its calls leave their streams
  std::lock_guard<std::mutex> lock(comm->mutex);
  for (const std::shared_ptr<Batch> &batch : std::exchange(comm->waiting, {}))
    comm->inFlight -= batch ? 1 : 0;
  return comm->state = ok;
}

Result ncclGroupStart() { return ++depth, ok; }

Result ncclGroupEnd() {
  if (depth == 0)
    return refuse(invalidUsage, "ncclGroupEnd: not in a group call.");
  if (--depth)
    return ok;
  std::vector<Call> calls = std::exchange(group, {});
  std::vector<std::shared_ptr<Batch>> batches;
  for (Call &call : calls) {
    auto same = std::find_if(batches.begin(), batches.end(),
                             [&](auto &each) { return each->comm == call.comm && each->stream == call.stream; });
    if (same == batches.end()) {
      batches.push_back(std::make_shared<Batch>());
      batches.back()->comm = call.comm;
      batches.back()->stream = call.stream;
      same = batches.end() - 1;
    }
    (*same)->calls.push_back(std::move(call));
  }
  Result result = ok;
  for (const std::shared_ptr<Batch> &batch : batches) {
    ++batch->comm->inFlight;
    record("group of " + std::to_string(batch->calls.size()), batch->comm->log);
    if (batch->comm->blocking) {
      enqueue(batch);
      continue;
    }
    std::lock_guard<std::mutex> lock(batch->comm->mutex);
    batch->comm->waiting.push_back(batch);
    result = batch->comm->state = inProgress;
  }
  return result;
}

#define STAND_IN_CALL(function, ...) return submit(Call{Call::function, __VA_ARGS__})

Result ncclAllReduce(const void *s, void *r, size_t n, Type t, Reduction op, Comm c, Stream on) {
  STAND_IN_CALL(AllReduce, s, r, n, t, op, 0, c, on);
}
Result ncclReduce(const void *s, void *r, size_t n, Type t, Reduction op, int root, Comm c, Stream on) {
  STAND_IN_CALL(Reduce, s, r, n, t, op, root, c, on);
}
Result ncclReduceScatter(const void *s, void *r, size_t n, Type t, Reduction op, Comm c, Stream on) {
  STAND_IN_CALL(ReduceScatter, s, r, n, t, op, 0, c, on);
}
Result ncclAllGather(const void *s, void *r, size_t n, Type t, Comm c, Stream on) {
  STAND_IN_CALL(AllGather, s, r, n, t, sum, 0, c, on);
}
Result ncclBroadcast(const void *s, void *r, size_t n, Type t, int root, Comm c, Stream on) {
  STAND_IN_CALL(Broadcast, s, r, n, t, sum, root, c, on);
}
Result ncclSend(const void *s, size_t n, Type t, int peer, Comm c, Stream on) {
  STAND_IN_CALL(Send, s, nullptr, n, t, sum, peer, c, on);
}
Result ncclRecv(void *r, size_t n, Type t, int peer, Comm c, Stream on) {
  STAND_IN_CALL(Recv, nullptr, r, n, t, sum, peer, c, on);
}
Result ncclAlltoAll(const void *s, void *r, size_t n, Type t, Comm c, Stream on) {
  if (Result old; tooOld(22800, "ncclAlltoAll", old))
    return old;
  STAND_IN_CALL(AlltoAll, s, r, n, t, sum, 0, c, on);
}
Result ncclGather(const void *s, void *r, size_t n, Type t, int root, Comm c, Stream on) {
  if (Result old; tooOld(22800, "ncclGather", old))
    return old;
  STAND_IN_CALL(Gather, s, r, n, t, sum, root, c, on);
}
Result ncclScatter(const void *s, void *r, size_t n, Type t, int root, Comm c, Stream on) {
  if (Result old; tooOld(22800, "ncclScatter", old))
    return old;
  STAND_IN_CALL(Scatter, s, r, n, t, sum, root, c, on);
}
}
