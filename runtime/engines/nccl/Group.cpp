//===- Group.cpp - how ranks get a communicator of NCCL -------------------------------------------------------------===//
#include "engines/nccl/Group.h"
#include "bootstrap/Deadline.h"
#include "bootstrap/Wire.h"
#include "engines/nccl/Devices.h"
#include <algorithm>
#include <thread>

namespace braid::runtime::nccl {

using cuda::Current;

namespace {

/// What a rank says of itself before it connects, or why it can't.
struct Hello {
  Outcome outcome;
  int version = 0, parent = 0; ///< parent: 0: none, or gone; 1: good; 2: revoked
  int children = 0;            ///< that NCCL has made of it on this rank
  RankDevices seen;

  std::string encode() const {
    std::string text;
    Writer(text)
        .u32(uint32_t(outcome.status))
        .string(outcome.text)
        .u32(uint32_t(version))
        .u8(uint8_t(parent))
        .u32(uint32_t(children))
        .string(seen.encode());
    return text;
  }
  bool decode(const std::string &text) {
    Reader reader(text);
    outcome.status = braid_status(reader.u32());
    outcome.text = reader.string();
    version = int(reader.u32());
    parent = reader.u8();
    children = int(reader.u32());
    std::string devices = reader.string();
    return reader.complete() && (outcome.status != BRAID_OK || RankDevices::decode(devices, seen));
  }
};

bool ascending(const std::vector<int> &ranks) { return std::is_sorted(ranks.begin(), ranks.end()); }

} // namespace

Outcome Group::connect(const EngineContext &context, Group *parent, const std::vector<int> &ranks,
                       std::unique_ptr<Group> &group) {
  Hello mine;
  const Library *nccl = Library::find(mine.outcome);
  if (nccl)
    mine.outcome = seeDevices(mine.seen);
  if (nccl && parent) {
    mine.seen.current = parent->device; // buffers are there
    bool fit = int(ranks.size()) == parent->size ? bool(nccl->ncclCommSplit) && parent->state == Good
                                                 : nccl->ncclCommShrink && ascending(ranks);
    bool idle = parent->inFlight == 0 || parent->state == Revoked;
    mine.parent = fit && idle && parent->state != Gone ? 1 + (parent->state == Revoked) : 0;
    mine.children = parent->children;
  }
  mine.version = nccl ? nccl->version : 0;
  std::vector<std::string> said;
  Outcome met =
      context.exchange.allgather(context.key + "/hello", context.members, mine.encode(), context.deadline, said);
  if (!met)
    return met;
  std::vector<Hello> all(said.size());
  auto named = [&](size_t rank) { return "rank " + std::to_string(context.members[rank]); };
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].decode(said[rank]))
      return {BRAID_MISMATCH,
              "expected what " + named(rank) + " is, got " + std::to_string(said[rank].size()) + " bytes"};
    if (const Outcome &theirs = all[rank].outcome; !theirs) // the first that can't: of all ranks the same
      return {theirs.status, (int(rank) == context.me ? "" : "on " + named(rank) + ": ") + theirs.text};
  }
  std::vector<RankDevices> seen;
  bool inherit = true, failed = false;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const Hello &theirs = all[rank];
    if (theirs.version != all[0].version)
      return {BRAID_MISMATCH, "expected one version on all ranks, got " + Library::text(all[0].version) + " on " +
                                  named(0) + " and " + Library::text(theirs.version) + " on " + named(rank)};
    inherit &= theirs.parent != 0 && theirs.children == all[0].children; // which NCCL tells children apart by
    failed |= theirs.parent == 2;
    seen.push_back(theirs.seen);
  }
  std::vector<int> devices;
  Outcome done = assignDevices(seen, context.members, devices);
  if (!done)
    return done;
  Outcome why;
  std::unique_ptr<Group> made(
      new Group(*nccl, *cuda::Driver::find(why), devices[size_t(context.me)], context.deadline));
  made->size = context.size();
  done = context.exchange.agree(context.key + "/open", context.members, made->open(), context.deadline);
  if (done && !(inherit && made->fromParent(context, *parent, ranks, failed)))
    done = made->byId(context);
  if (done)
    group = std::move(made);
  return done;
}

Outcome Group::open() {
  cuda::Device ours = 0, theirs = 0;
  std::string which = "device " + std::to_string(device);
  Outcome done = driver.check(driver.cuDeviceGet(&ours, device), which);
  bool own = driver.cuCtxGetCurrent(&context) == cuda::success && context &&
             driver.cuCtxGetDevice(&theirs) == cuda::success && theirs == ours;
  if (done && !own) // the thread has no context, or that of a device that is not its communicator's
    done = driver.check(driver.cuDevicePrimaryCtxRetain(&context, ours), "the context of " + which);
  if (!done)
    return context = nullptr, done;
  Current current(driver, context);
  cuda::Address at = 0;
  done = current.outcome();
  if (done)
    done = driver.check(driver.cuStreamCreate(&stream, cuda::streamNonBlocking), "a stream");
  if (done)
    done = driver.check(driver.cuMemAlloc_v2(&at, 256), "256 bytes of the device");
  if (done)
    done = driver.check(driver.cuMemsetD8Async(at, 0, 256, stream), "clearing memory of the device");
  barrier = reinterpret_cast<char *>(at);
  return done;
}

Outcome Group::look(bool &still) const {
  Result now = ok;
  Outcome asked = handle ? nccl.check(nccl.ncclCommGetAsyncError(handle, &now), "ncclCommGetAsyncError", handle)
                         : Outcome(BRAID_ABORTED, "the communicator is gone");
  still = now == inProgress;
  return asked ? nccl.check(now, "the communicator", handle) : asked;
}

/// Until NCCL has done what was asked for, a member has died, or the deadline.
Outcome Group::settle(const EngineContext &context, const std::string &what) const {
  Deadline until(deadline);
  for (unsigned turns = 1;; ++turns) {
    bool still = false;
    Outcome state = look(still);
    if (!state || !still)
      return state;
    if (until.passed())
      return {BRAID_TIMEOUT, "" + what + ": not all ranks have come within " + textOfSeconds(deadline)};
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(turns * 20, 2000u)));
    for (int rank : context.members)
      if (turns % 64 == 0)
        if (Outcome lives = context.exchange.alive(rank); !lives)
          return lives;
  }
}

/// The first rank makes the id; all the others get it from Braid's rendezvous.
Outcome Group::byId(const EngineContext &meeting) {
  Current current(driver, context);
  UniqueId id = {};
  Outcome done;
  if (meeting.me == 0)
    done = nccl.check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::string mine;
  if (meeting.me == 0)
    Writer(mine).u32(uint32_t(done.status)).string(done ? std::string(id.internal, sizeof id.internal) : done.text);
  std::vector<std::string> all;
  Outcome met = meeting.exchange.allgather(meeting.key + "/id", meeting.members, mine, deadline, all);
  if (!met)
    return met;
  Reader reader(all[0]);
  auto status = braid_status(reader.u32());
  std::string text = reader.string();
  if (status != BRAID_OK || text.size() != sizeof id.internal)
    return {status == BRAID_OK ? BRAID_MISMATCH : status,
            "on rank " + std::to_string(meeting.members[0]) + ": " +
                (status == BRAID_OK ? "expected an id of 128 bytes, got " + std::to_string(text.size()) : text)};
  text.copy(id.internal, sizeof id.internal);
  Config config;
  done =
      nccl.check(nccl.ncclCommInitRankConfig(&handle, size, id, meeting.me, &config), "ncclCommInitRankConfig", handle);
  state = handle ? Good : Gone;
  if (done)
    done = settle(meeting, "ncclCommInitRankConfig");
  done = meeting.exchange.agree(meeting.key + "/ready", meeting.members, done, deadline);
  if (!done && handle)
    abort();
  return done;
}

/// Where NCCL does not make it from the parent's, on some rank, all use an id. The parent is busy meanwhile, and only when it has done
/// is there a handle of the new one.
Outcome Group::fromParent(const EngineContext &meeting, Group &parent, const std::vector<int> &ranks, bool failed) {
  Current current(driver, context);
  Config config;
  bool all = int(ranks.size()) == parent.size;
  std::string what = all ? "ncclCommSplit" : "ncclCommShrink";
  Outcome done = failed ? parent.settle(meeting, "ncclCommRevoke") : Outcome(); // it becomes quiet
  Result made = ok;
  parent.children += bool(done);
  if (done && all) {
    made = nccl.ncclCommSplit(parent.handle, 0, meeting.me, &handle, &config);
  } else if (done) {
    constexpr int shrinkAbort = 1; // NCCL_SHRINK_ABORT
    std::vector<int> left;
    for (int rank = 0; rank < parent.size; ++rank)
      if (!std::binary_search(ranks.begin(), ranks.end(), rank))
        left.push_back(rank);
    made =
        nccl.ncclCommShrink(parent.handle, left.data(), int(left.size()), &handle, &config, failed ? shrinkAbort : 0);
  }
  if (done)
    done = nccl.check(made, what, parent.handle);
  if (done)
    done = parent.settle(meeting, what);
  state = handle ? Good : Gone;
  if (done)
    done = settle(meeting, what);
  done = meeting.exchange.agree(meeting.key + "/inherited", meeting.members, done, deadline);
  if (!done && handle) {
    nccl.ncclCommAbort(handle);
    handle = nullptr;
    state = Gone;
  }
  return done;
}

void Group::abort() {
  if (state != Good)
    return;
  Current current(driver, context);
  if (nccl.ncclCommRevoke && nccl.ncclCommShrink) {
    nccl.ncclCommRevoke(handle, 0);
    state = Revoked;
    return;
  }
  nccl.ncclCommAbort(handle);
  handle = nullptr;
  state = Gone;
}

Group::~Group() {
  if (!context)
    return;
  Current current(driver, context);
  bool ended = false;
  if (Result ending = state == Good ? nccl.ncclCommFinalize(handle) : invalidUsage;
      ending == ok || ending == inProgress) {
    Deadline until(deadline);
    bool still = true;
    Outcome going;
    while ((going = look(still)) && still && !until.passed())
      std::this_thread::yield();
    ended = going && !still && nccl.ncclCommDestroy(handle) == ok;
  }
  if (state != Gone && !ended)
    nccl.ncclCommAbort(handle);
  if (stream)
    driver.cuStreamSynchronize(stream);
  if (barrier)
    driver.cuMemFree_v2(reinterpret_cast<cuda::Address>(barrier));
  if (stream)
    driver.cuStreamDestroy_v2(stream);
}

} // namespace braid::runtime::nccl
