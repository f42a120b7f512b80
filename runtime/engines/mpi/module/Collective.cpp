//===- Collective.cpp - a collective as non-blocking calls of MPI --------------------------------------------------------===//
//
// MPI forbids that operand and result overlap, but for MPI_IN_PLACE: then the operand is copied first. Calls of one communicator are
// issued in one order on all ranks, so messages beside them (a permute's, or blocks too large for one call) need no tags of their own.
//===------------------------------------------------------------------------------------------------------------===//
#include "engines/mpi/module/Collective.h"
#include "reduce/Reduce.h"
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace braid::runtime::mpi {

namespace {

constexpr int blockTag = mostTags; ///< of messages between all; those of send and recv are below

bool overlap(const char *a, size_t bytesOfA, const char *b, size_t bytesOfB) {
  return a && b && a < b + bytesOfB && b < a + bytesOfA;
}

size_t sumOf(const std::vector<size_t> &all) { return std::accumulate(all.begin(), all.end(), size_t(0)); }

} // namespace

Collective::~Collective() {
  if (requests.empty() || engine.mayCall())
    return;
  // MPI may still read and write what it was given: that stays.
  new std::vector<Buffers>(std::move(buffers));
  new std::vector<int>(std::move(counts));
  new std::vector<int>(std::move(displacements));
}

Outcome Collective::bind() {
  size = sizeOf(request.accumulation);
  type = datatypeOf(request.accumulation);
  if (request.reduces())
    if (Outcome found = operationOf(request.accumulation, request.reduction, operation); !found)
      return found;
  bool converts = request.accumulation != request.type;
  buffers.resize(request.tensors.size());
  for (size_t i = 0; i < request.tensors.size(); ++i) {
    const Tensor &tensor = request.tensors[i];
    Buffers &at = buffers[i];
    if (request.ragged() && request.pairs.empty())
      if (size_t most = std::max(sumOf(request.gives), sumOf(request.takes)); most > engine.most)
        return {BRAID_UNSUPPORTED, "expected at most " + std::to_string(engine.most) +
                                       " elements to all ranks and from all, or " +
                                       "pair_counts, the sizes of all blocks, got " + std::to_string(most)};
    at.in = tensor.send;
    at.out = tensor.receive;
    size_t sent = request.operandBytes(tensor), received = request.resultBytes(tensor);
    size_t own = size_t(request.me) * tensor.count * size;
    bool inPlace =
        (request.collective == BRAID_ALL_REDUCE && at.in == at.out) ||
        (request.collective == BRAID_BROADCAST) || // moves it itself
        ((request.collective == BRAID_ALL_GATHER || request.collective == BRAID_GATHER) && at.in == at.out + own) ||
        (request.collective == BRAID_SCATTER && at.out == at.in + own);
    bool copies = converts || (overlap(at.in, sent, at.out, received) && !inPlace);
    at.operand.resize(copies && at.in ? sent / request.elementBytes * size : 0);
    at.result.resize(converts && at.out ? received / request.elementBytes * size : 0);
    if (copies && at.in)
      at.in = at.operand.data();
    if (converts && at.out)
      at.out = at.result.data();
  }
  return {};
}

Outcome Collective::rebind(const std::vector<Tensor> &tensors) {
  request.tensors = tensors;
  return bind();
}

Outcome Collective::launch() {
  issued = false;
  engine.launched.push_back(this);
  if (!engine.mayCall())
    return {};
  auto held = engine.process.guard();
  return engine.issue();
}

MPI_Request *Collective::another() {
  requests.push_back(MPI_REQUEST_NULL);
  return &requests.back();
}

/// call(first, count) for pieces that fit one call.
template <typename Call> Outcome Collective::inPieces(size_t count, Call call) {
  Outcome done;
  for (size_t first = 0; first < count && done; first += engine.most)
    done = call(first * size, int(std::min(engine.most, count - first)));
  return done;
}

Outcome Collective::reduceTo(const char *in, char *out, size_t count, int root) {
  return inPieces(count, [&](size_t at, int n) {
    return check(MPI_Ireduce(in + at, out ? out + at : nullptr, n, type, operation, root, engine.comm, another()),
                 "MPI_Ireduce");
  });
}

Outcome Collective::broadcast(char *data, size_t count, int root) {
  return inPieces(count, [&](size_t at, int n) {
    return check(MPI_Ibcast(data + at, n, type, root, engine.comm, another()), "MPI_Ibcast");
  });
}

Outcome Collective::send(const char *data, size_t count, int to, int tag) {
  return inPieces(count, [&](size_t at, int n) {
    return check(MPI_Isend(data + at, n, type, to, tag, engine.comm, another()), "MPI_Isend");
  });
}

Outcome Collective::receive(char *data, size_t count, int from, int tag) {
  return inPieces(count, [&](size_t at, int n) {
    return check(MPI_Irecv(data + at, n, type, from, tag, engine.comm, another()), "MPI_Irecv");
  });
}

/// All to all of equal blocks.
Outcome Collective::exchange(const char *in, char *out, size_t count) {
  if (count * size_t(request.ranks) <= engine.most)
    return check(MPI_Ialltoall(in, int(count), type, out, int(count), type, engine.comm, another()), "MPI_Ialltoall");
  Outcome done;
  for (int rank = 0; rank < request.ranks && done; ++rank) {
    size_t at = size_t(rank) * count * size;
    if (rank == request.me) {
      std::memcpy(out + at, in + at, count * size);
      continue;
    }
    done = receive(out + at, count, rank, blockTag);
    done = done ? send(in + at, count, rank, blockTag) : done;
  }
  return done;
}

Outcome Collective::exchangeRagged(const char *in, char *out) {
  size_t n = size_t(request.ranks);
  // Ranks must decide alike: with messages of their own only where all know that somebody's blocks do not fit.
  bool fits = true;
  for (size_t i = 0; i < n && !request.pairs.empty(); ++i) {
    size_t row = 0, column = 0;
    for (size_t j = 0; j < n; ++j) {
      row += request.pairs[i * n + j];
      column += request.pairs[j * n + i];
    }
    fits = fits && row <= engine.most && column <= engine.most;
  }
  if (fits) {
    counts.resize(2 * n);
    displacements.resize(2 * n);
    for (size_t side = 0; side < 2; ++side) {
      const std::vector<size_t> &blocks = side ? request.takes : request.gives;
      size_t at = 0;
      for (size_t i = 0; i < n; at += blocks[i++]) {
        counts[side * n + i] = int(blocks[i]);
        displacements[side * n + i] = int(at);
      }
    }
    return check(MPI_Ialltoallv(in, counts.data(), displacements.data(), type, out, counts.data() + n,
                                displacements.data() + n, type, engine.comm, another()),
                 "MPI_Ialltoallv");
  }
  Outcome done;
  size_t from = 0, to = 0;
  for (int rank = 0; rank < request.ranks && done; ++rank) {
    size_t taken = request.takes[size_t(rank)], given = request.gives[size_t(rank)];
    if (rank == request.me)
      std::copy_n(in + from, given * size, out + to);
    else if ((done = receive(out + to, taken, rank, blockTag)))
      done = send(in + from, given, rank, blockTag);
    from += given * size;
    to += taken * size;
  }
  return done;
}

/// Who is nobody's target gets zeros.
Outcome Collective::permute(const char *in, char *out, size_t count) {
  Outcome done;
  bool target = false;
  for (auto [from, to] : request.options.pairs) {
    target |= to == request.me;
    if (from == request.me && to == request.me)
      std::copy_n(in, count * size, out);
    else if (to == request.me && done)
      done = receive(out, count, from, blockTag);
    else if (from == request.me && done)
      done = send(in, count, to, blockTag);
  }
  if (!target)
    std::fill_n(out, count * size, 0);
  return done;
}

Outcome Collective::issueOne(const Tensor &tensor, const Buffers &at) {
  size_t count = tensor.count, all = count * size_t(request.blocks), block = count * size;
  int me = request.me, n = request.ranks, root = request.options.root;
  bool fits = all <= engine.most;
  MPI_Comm comm = engine.comm;
  Outcome done;
  switch (request.collective) {
  case BRAID_ALL_REDUCE:
    return inPieces(count, [&](size_t first, int some) {
      const void *in = at.in == at.out ? MPI_IN_PLACE : at.in + first;
      return check(MPI_Iallreduce(in, at.out + first, some, type, operation, comm, another()), "MPI_Iallreduce");
    });
  case BRAID_REDUCE:
    return reduceTo(at.in, at.out, count, root);
  case BRAID_REDUCE_SCATTER:
    if (fits)
      return check(MPI_Ireduce_scatter_block(at.in, at.out, int(count), type, operation, comm, another()),
                   "MPI_Ireduce_scatter_block");
    for (int rank = 0; rank < n && done; ++rank)
      done = reduceTo(at.in + size_t(rank) * block, rank == me ? at.out : nullptr, count, rank);
    return done;
  case BRAID_ALL_GATHER: {
    char *own = at.out + size_t(me) * block;
    if (fits)
      return check(MPI_Iallgather(at.in == own ? MPI_IN_PLACE : at.in, int(count), type, at.out, int(count), type, comm,
                                  another()),
                   "MPI_Iallgather");
    if (at.in != own)
      std::copy_n(at.in, block, own);
    for (int rank = 0; rank < n && done; ++rank)
      done = broadcast(at.out + size_t(rank) * block, count, rank);
    return done;
  }
  case BRAID_ALL_TO_ALL:
    return request.ragged() ? exchangeRagged(at.in, at.out) : exchange(at.in, at.out, count);
  case BRAID_BROADCAST:
    if (me == root && block && at.in != at.out)
      std::memmove(at.out, at.in, block);
    return broadcast(at.out, count, root);
  case BRAID_GATHER: {
    const void *in =
        me == root && at.in == at.out + size_t(me) * block ? MPI_IN_PLACE : static_cast<const void *>(at.in);
    if (fits)
      return check(MPI_Igather(in, int(count), type, at.out, int(count), type, root, comm, another()), "MPI_Igather");
    if (me != root)
      return send(at.in, count, root, blockTag);
    for (int rank = 0; rank < n && done; ++rank)
      if (char *to = at.out + size_t(rank) * block; rank != me)
        done = receive(to, count, rank, blockTag);
      else if (at.in != to)
        std::copy_n(at.in, block, to);
    return done;
  }
  case BRAID_SCATTER: {
    void *out = me == root && at.out == at.in + size_t(me) * block ? MPI_IN_PLACE : static_cast<void *>(at.out);
    if (fits)
      return check(MPI_Iscatter(at.in, int(count), type, out, int(count), type, root, comm, another()), "MPI_Iscatter");
    if (me != root)
      return receive(at.out, count, root, blockTag);
    for (int rank = 0; rank < n && done; ++rank)
      if (const char *from = at.in + size_t(rank) * block; rank != me)
        done = send(from, count, rank, blockTag);
      else if (at.out != from)
        std::copy_n(from, block, at.out);
    return done;
  }
  case BRAID_PERMUTE:
    return permute(at.in, at.out, count);
  case BRAID_SEND:
    return count ? send(at.in, count, request.peer, request.tag)
                 : check(MPI_Isend(at.in, 0, type, request.peer, request.tag, comm, another()), "MPI_Isend");
  case BRAID_RECV:
    return count ? receive(at.out, count, request.peer, request.tag)
                 : check(MPI_Irecv(at.out, 0, type, request.peer, request.tag, comm, another()), "MPI_Irecv");
  case BRAID_BARRIER:
    return check(MPI_Ibarrier(comm, another()), "MPI_Ibarrier");
  }
  return {BRAID_UNSUPPORTED, "expected one of braid_collective"};
}

Outcome Collective::issue() {
  issued = true;
  Outcome done;
  for (size_t i = 0; i < request.tensors.size() && done; ++i) {
    const Tensor &tensor = request.tensors[i];
    Buffers &at = buffers[i];
    size_t sent = request.operandBytes(tensor);
    if (sent && request.accumulation != request.type)
      convert(request.accumulation, at.operand.data(), request.type, tensor.send, sent / request.elementBytes);
    else if (!at.operand.empty())
      std::memcpy(at.operand.data(), tensor.send, sent);
    done = issueOne(tensor, at);
  }
  return done;
}

Outcome Collective::progress(bool &done) {
  done = false;
  if (!engine.mayCall())
    return {};
  auto held = engine.process.guard();
  if (Outcome there = Process::notFinalised(); !there)
    return there;
  if (!issued)
    if (Outcome late = engine.issue(); !late || !issued)
      return late;
  int ended = 0;
  statuses.resize(requests.size());
  int code = MPI_Testall(int(requests.size()), requests.data(), &ended, statuses.data());
  if (code == MPI_ERR_IN_STATUS)
    for (const MPI_Status &status : statuses)
      if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING)
        code = status.MPI_ERROR;
  if (code != MPI_SUCCESS) {
    Outcome failed = check(code, "MPI_Testall");
    int kind = 0;
    MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_TRUNCATE)
      failed = {BRAID_MISMATCH, failed.text + "; do the ranks ask for the same?"};
    return failed;
  }
  if (!ended)
    return {};
  done = true;
  return finish();
}

Outcome Collective::finish() {
  if (request.collective == BRAID_RECV) {
    size_t got = 0;
    for (MPI_Status &status : statuses) {
      int some = 0;
      MPI_Get_count(&status, type, &some);
      got += some == MPI_UNDEFINED ? 0 : size_t(some);
    }
    if (size_t wanted = request.tensors[0].count; got != wanted)
      return {BRAID_MISMATCH, "expected " + std::to_string(wanted) + " elements from its peer, got " +
                                  std::to_string(got) + "; do the ranks ask for the same?"};
  }
  requests.clear();
  for (size_t i = 0; i < request.tensors.size(); ++i) {
    const Tensor &tensor = request.tensors[i];
    size_t results = request.resultBytes(tensor) / request.elementBytes;
    if (!results)
      continue;
    if (request.reduces() && request.reduction == BRAID_AVERAGE)
      divide(request.accumulation, buffers[i].out, results, request.ranks);
    if (request.accumulation != request.type)
      convert(request.type, tensor.receive, request.accumulation, buffers[i].out, results);
  }
  return {};
}

std::string Collective::waitsFor() const {
  return engine.mayCall() ? "" : "the program has initialised MPI for one thread; only that one can drive it";
}

MpiEngine::MpiEngine(Process &process, MPI_Comm comm)
    : process(process), comm(comm), home(std::this_thread::get_id()), most(INT_MAX) {
  // For tests: what is split above 2^31 - 1 elements is split above these.
  if (const char *fewer = std::getenv("BRAID_MPI_MOST_ELEMENTS"); fewer && std::atoi(fewer) > 0)
    most = size_t(std::atoi(fewer));
}

MpiEngine::~MpiEngine() {
  if (!Process::notFinalised() || !mayCall())
    return;
  auto held = process.guard();
  MPI_Comm_free(&comm);
}

void MpiEngine::abort() {
  aborted = true;
  process.failed = true;
}

Outcome MpiEngine::issue() {
  Outcome done = Process::notFinalised();
  while (!launched.empty() && done) {
    Collective *next = launched.front();
    launched.pop_front();
    done = next->issue();
  }
  return done;
}

Outcome MpiEngine::plan(const Request &request, std::unique_ptr<EngineOperation> &operation) {
  if (!request.spelled.empty() && request.spelled != "default")
    return {BRAID_UNSUPPORTED, "expected no algorithm, or 'default': MPI chooses it, by its own settings, got '" +
                                   request.spelled + "'; engine 'braid' has algorithms by name"};
  auto made = std::make_unique<Collective>(*this, request);
  auto held = process.guard();
  if (Outcome there = Process::notFinalised(); !there)
    return there;
  if (Outcome bound = made->bind(); !bound)
    return bound;
  operation = std::move(made);
  return {};
}

} // namespace braid::runtime::mpi
