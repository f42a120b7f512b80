//===- Api.cpp - the C boundary -----------------------------------------------------------------------------------===//
//
// Checks handles and option sizes, keeps the last error of each thread, lets no exception out. In a fork, handles of its parent are no
// good but for being destroyed, which leaves all to the parent.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Api.h"
#include "braid/runtime/algorithms/Paths.h"
#include "core/Environment.h"
#include "core/Farewell.h"
#include "core/InProcessExchange.h"
#include "core/Log.h"
#include "core/Options.h"
#include "core/Staging.h"
#include <cstdlib>
#include <new>

using namespace braid::runtime;

namespace braid::runtime {

Outcome createInProcess(std::shared_ptr<Exchange> exchange, const CommunicatorOptions &options, braid_comm **comm) {
  std::vector<int> everyone;
  for (int rank = 0; rank < exchange->ranks(); ++rank)
    everyone.push_back(rank);
  auto made = std::make_unique<braid_comm>();
  Outcome done = Communicator::create(std::move(exchange), everyone, "job", options, made->comm);
  if (done)
    *comm = made.release();
  return done;
}

} // namespace braid::runtime

namespace {

thread_local std::string lastError;

braid_status report(const Outcome &outcome) {
  if (!outcome)
    lastError = outcome.text;
  return outcome.status;
}

template <typename Body> braid_status guarded(Body body) {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report({BRAID_OUT_OF_MEMORY, "out of memory"});
  } catch (const std::exception &error) {
    return report({BRAID_SYSTEM, error.what()});
  } catch (...) {
    return report({BRAID_SYSTEM, "unknown exception"});
  }
}

/// `all`: also the options that are about ranks.
Outcome readSettings(const braid_comm_options &given, CommunicatorOptions &settings,
                     braid_comm_options *all = nullptr) {
  constexpr size_t oldest = offsetof(braid_comm_options, rendezvous);
  braid_comm_options options;
  if (Outcome done = readOptions(given, oldest, "braid_comm_options", options); !done)
    return done;
  if (!(options.deadline_s >= 0))
    return {BRAID_INVALID, "expected a deadline of 0 or more seconds, got " + std::to_string(options.deadline_s)};
  if (options.ranks < 0 || options.rank < 0 || (options.ranks > 0 && options.rank >= options.ranks) ||
      (options.ranks == 0 && options.rank > 0))
    return {BRAID_INVALID, "expected a rank below the number of ranks, got " + std::to_string(options.rank) + " of " +
                               std::to_string(options.ranks)};
  settings.transport = options.transport ? options.transport : "";
  settings.profile = options.profile ? options.profile : "";
  settings.seed = options.seed;
  settings.job = options.job;
  settings.clock = options.clock ? options.clock : "";
  if (const char *paths = options.paths ? options.paths : std::getenv("BRAID_PATHS"))
    settings.paths = paths;
  if (braid::algorithms::Paths known;
      !settings.paths.empty() && settings.paths != "off") // of transports that open none, too
    if (std::string wrong = braid::algorithms::Paths::read(settings.paths, known); !wrong.empty())
      return {BRAID_INVALID, "paths" + byVariable("BRAID_PATHS", settings.paths) + ": " + wrong};
  std::string wrongLog;
  logs(&wrongLog);
  if (!wrongLog.empty())
    return {BRAID_INVALID, wrongLog};
  if (const char *engine = options.engine ? options.engine : std::getenv("BRAID_ENGINE"))
    settings.engine = engine;
  if (const char *islands = options.islands ? options.islands : std::getenv("BRAID_ISLANDS"))
    settings.islands = islands;
  if (!settings.engine.empty() && !settings.islands.empty())
    return {BRAID_INVALID, "expected an engine or islands, got engine '" + settings.engine + "'" +
                               byVariable("BRAID_ENGINE", settings.engine) + " and islands '" + settings.islands + "'" +
                               byVariable("BRAID_ISLANDS", settings.islands)};
  settings.deadline = options.deadline_s > 0 ? options.deadline_s : 60;
  if (all)
    *all = options;
  return {};
}

Outcome missing(const char *what) { return {BRAID_INVALID, std::string("expected ") + what + ", got null"}; }

template <typename Handle> bool ofParent(const Handle &handle) { return handle.forks != forksBefore(); }

/// Whether a handle may be used here.
template <typename Handle> Outcome usable(const Handle *handle, const char *what) {
  if (!handle)
    return missing(what);
  return ofParent(*handle) ? Outcome(BRAID_INVALID, std::string("expected ") + what +
                                                        " that this process has made, got one of the process that it "
                                                        "was forked from, whose connections are not its own")
                           : Outcome();
}

template <typename Body> braid_status with(braid_comm *comm, Body body) {
  return guarded([&]() -> Outcome {
    Outcome here = usable(comm, "a communicator");
    return here ? body(*comm->comm) : here;
  });
}

template <typename Body> braid_status with(braid_op *op, Body body) {
  return guarded([&]() -> Outcome {
    Outcome here = usable(op, "an operation");
    return here ? body(*op->comm, *op->operation) : here;
  });
}

} // namespace

braid_status braid::runtime::compute(braid_comm *comm, double seconds, double *slowed) {
  return with(comm, [&](Communicator &c) { return c.sleep(seconds, slowed); });
}

extern "C" {

const char *braid_last_error(void) { return lastError.c_str(); }

const char *braid_status_name(braid_status status) {
  static const char *const names[] = {"BRAID_OK",      "BRAID_INVALID", "BRAID_UNSUPPORTED",   "BRAID_PEER_DIED",
                                      "BRAID_TIMEOUT", "BRAID_ABORTED", "BRAID_OUT_OF_MEMORY", "BRAID_SYSTEM",
                                      "BRAID_MISMATCH"};
  return size_t(status) < std::size(names) ? names[status] : "unknown status";
}

braid_status braid_comm_create(const braid_comm_options *given, braid_comm **comm) {
  return guarded([&]() -> Outcome {
    if (!given || !comm)
      return missing(given ? "a place for the communicator" : "options");
    braid_comm_options options = {};
    CommunicatorOptions settings;
    Outcome read = readSettings(*given, settings, &options);
    if (!read)
      return read;
    std::shared_ptr<Exchange> exchange;
#ifdef BRAID_RT_WITH_BOOTSTRAP
    Outcome connected = connectExchange(options, settings.deadline, exchange);
    if (!connected)
      return connected;
#else
    if (options.ranks > 1)
      return {BRAID_UNSUPPORTED,
              "this build has no bootstrap: expected one rank, got " + std::to_string(options.ranks)};
    exchange = inProcessExchanges(1)[0];
#endif
    Outcome made = createInProcess(exchange, settings, comm);
    if (made)
      sayFarewellAtExit((*comm)->comm->relatives());
    return made;
  });
}

braid_status braid_comm_subset(braid_comm *parent, const int32_t *ranks, size_t count, braid_comm **comm) {
  return guarded([&]() -> Outcome {
    if (Outcome here = usable(parent, "a communicator"); !here)
      return here;
    if (!ranks || !comm)
      return missing(!ranks ? "a list of ranks" : "a place for the communicator");
    auto made = std::make_unique<braid_comm>();
    Outcome done = parent->comm->subset(ranks, count, made->comm);
    if (done)
      *comm = made.release();
    return done;
  });
}

braid_status braid_comm_rank(const braid_comm *comm, int32_t *rank, int32_t *ranks) {
  if (!comm)
    return report(missing("a communicator"));
  if (rank)
    *rank = comm->comm->rank();
  if (ranks)
    *ranks = comm->comm->size();
  return BRAID_OK;
}

braid_status braid_comm_agree(braid_comm *comm, uint64_t hash) {
  return with(comm, [&](Communicator &c) { return c.agree(hash); });
}

braid_status braid_comm_abort(braid_comm *comm, const char *why) {
  return with(comm, [&](Communicator &c) { return c.abort(why ? why : ""); });
}

braid_status braid_sleep(braid_comm *comm, double seconds) { return compute(comm, seconds, nullptr); }

braid_status braid_now(braid_comm *comm, double *seconds) {
  return with(comm, [&](Communicator &c) -> Outcome {
    if (!seconds)
      return missing("a place for the time");
    *seconds = c.now();
    return {};
  });
}

braid_status braid_step(braid_comm *comm, uint64_t job, uint64_t step, double *begin) {
  return with(comm, [&](Communicator &c) {
    double time = 0;
    Outcome begun = c.step(job, step, time);
    if (begun && begin)
      *begin = time;
    return begun;
  });
}

int32_t braid_comm_carries_data(const braid_comm *comm) { return !comm || comm->comm->transport().carriesData(); }

braid_status braid_run_fibers(int32_t ranks, const braid_comm_options *given, braid_rank_body body, void *context) {
  return guarded([&]() -> Outcome {
    if (!given || !body || ranks < 1)
      return !given || !body ? missing(given ? "a body" : "options")
                             : Outcome(BRAID_INVALID, "expected at least 1 rank, got " + std::to_string(ranks));
#ifdef BRAID_RT_WITH_EMULATED
    CommunicatorOptions settings;
    Outcome read = readSettings(*given, settings);
    return read ? runFibers(ranks, settings, body, context) : read;
#else
    return {BRAID_UNSUPPORTED, "this build has no emulated transport"};
#endif
  });
}

braid_status braid_comm_destroy(braid_comm *comm) {
  return guarded([&]() -> Outcome {
    if (!comm)
      return missing("a communicator");
    if (ofParent(*comm))
      return {};
    if (size_t planned = comm->comm->planned())
      return {BRAID_INVALID, "expected a communicator whose operations are destroyed, got one with " +
                                 std::to_string(planned) + " operations"};
    delete comm;
    return {};
  });
}

void *braid_alloc(braid_comm *comm, size_t bytes) {
  void *memory = nullptr;
  with(comm, [&](Communicator &c) {
    memory = c.allocate(bytes);
    return memory ? Outcome() : Outcome(BRAID_OUT_OF_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
  });
  return memory;
}

void *braid_alloc_in(braid_comm *comm, braid_memory kind, size_t bytes) {
  void *memory = nullptr;
  with(comm, [&](Communicator &c) { return c.allocate(kind, bytes, memory); });
  return memory;
}

void braid_free(braid_comm *comm, void *memory) {
  if (comm && memory && !ofParent(*comm))
    comm->comm->release(memory);
}

braid_status braid_op_plan(braid_comm *comm, const braid_op_options *options, braid_op **op) {
  return guarded([&]() -> Outcome {
    if (Outcome here = usable(comm, "a communicator"); !here)
      return here;
    if (!options || !op)
      return missing(!options ? "options" : "a place for the operation");
    auto made = std::make_unique<braid_op>();
    made->comm = comm->comm.get();
    Outcome done = comm->comm->plan(*options, made->operation);
    if (done)
      *op = made.release();
    return done;
  });
}

braid_status braid_op_rebind(braid_op *op, const braid_buffer *buffers, size_t count) {
  return with(op, [&](Communicator &c, Operation &operation) { return c.rebind(operation, buffers, count); });
}

braid_status braid_op_start(braid_op *op) {
  return with(op, [&](Communicator &c, Operation &operation) { return c.start(operation); });
}

braid_status braid_op_wait(braid_op *op) {
  return with(op, [&](Communicator &c, Operation &operation) { return c.wait(operation); });
}

static Outcome followsStreams(const braid_op *op) {
  if (Outcome here = usable(op, "an operation"); !here)
    return here;
  return op->operation->followsStreams()
             ? Outcome()
             : Outcome(BRAID_INVALID, op->operation->request.title() +
                                          ": expected buffers of a device, or pinned ones, to follow a "
                                          "stream, got memory of the host (braid_op_options.memory)");
}

braid_status braid_op_start_on(braid_op *op, void *stream) {
  return guarded([&]() -> Outcome {
    Outcome follows = followsStreams(op);
    return follows ? op->comm->start(*op->operation, stream) : follows;
  });
}

braid_status braid_op_wait_on(braid_op *op, void *stream) {
  return guarded([&]() -> Outcome {
    Outcome follows = followsStreams(op);
    return follows ? op->comm->wait(*op->operation, stream) : follows;
  });
}

braid_status braid_op_test(braid_op *op, int32_t *done) {
  return with(op, [&](Communicator &c, Operation &operation) {
    bool ended = false;
    Outcome tested = done ? c.test(operation, ended) : missing("a place for the answer");
    if (tested)
      *done = ended;
    return tested;
  });
}

braid_status braid_op_times(braid_op *op, double *began, double *ended) {
  return with(op, [&](Communicator &c, Operation &operation) -> Outcome {
    if (!began || !ended)
      return missing("places for the times");
    c.times(operation, *began, *ended);
    return {};
  });
}

braid_status braid_op_destroy(braid_op *op) {
  return guarded([&]() -> Outcome {
    if (!op)
      return missing("an operation");
    if (ofParent(*op))
      return {};
    Outcome done = op->comm->destroy(op->operation);
    if (done)
      delete op;
    return done;
  });
}

} // extern "C"
