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
#include "test/nccl/State.h"
#include <algorithm>
#include <iterator>
#include <utility>

using namespace braid::runtime::nccl;

namespace {

thread_local int depth = 0;
thread_local std::vector<Call> group;

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

} // namespace

void braid::runtime::nccl::enqueue(const std::shared_ptr<Batch> &batch) {
  driver()->enqueue(batch->stream, work, new std::shared_ptr<Batch>(batch));
}

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
