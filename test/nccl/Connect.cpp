//===- Connect.cpp - communicators of the stand-in ------------------------------------------------------------------===//
//
// A communicator is a folder, in which each rank says that it is here and which device it has. What needs the other ranks is done when the
// program asks how far it is.
//===------------------------------------------------------------------------------------------------------------===//
#include "test/nccl/Files.h"
#include "test/nccl/State.h"
#include <algorithm>
#include <random>
#include <thread>
#include <utility>

using namespace braid::runtime::nccl;
namespace files = braid::test::files;

namespace {

Comm create(const std::string &where, int rank, int ranks, bool blocking) {
  Comm comm = new Handle;
  comm->folder = where;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->blocking = blocking;
  driver()->device(&comm->device);
  if (callsFile.empty())
    callsFile = folder() + "/calls." + std::to_string(rank);
  comm->log = callsFile;
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
}
