//===- Api.cpp - the C boundary -----------------------------------------------------------------------------------===//
//
// Checks handles and option sizes, keeps the last error of each thread, lets no exception out.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Api.h"
#include "core/Farewell.h"
#include "core/InProcessExchange.h"
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
  if (const char *engine = options.engine ? options.engine : std::getenv("BRAID_ENGINE"))
    settings.engine = engine;
  if (const char *islands = options.islands ? options.islands : std::getenv("BRAID_ISLANDS"))
    settings.islands = islands;
  if (!settings.engine.empty() && !settings.islands.empty())
    return {BRAID_INVALID, "expected an engine or islands, got engine '" + settings.engine + "' and islands '" + settings.islands + "'"};
  settings.deadline = options.deadline_s > 0 ? options.deadline_s : 60;
  if (all)
    *all = options;
  return {};
}

Outcome missing(const char *what) { return {BRAID_INVALID, std::string("expected ") + what + ", got null"}; }

} // namespace

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
    if (!parent || !ranks || !comm)
      return missing(!parent ? "a communicator" : !ranks ? "a list of ranks" : "a place for the communicator");
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
  return guarded([&]() -> Outcome { return comm ? comm->comm->agree(hash) : missing("a communicator"); });
}

braid_status braid_comm_abort(braid_comm *comm, const char *why) {
  return guarded([&]() -> Outcome { return comm ? comm->comm->abort(why ? why : "") : missing("a communicator"); });
}

braid_status braid_sleep(braid_comm *comm, double seconds) {
  return guarded([&]() -> Outcome { return comm ? comm->comm->sleep(seconds) : missing("a communicator"); });
}

braid_status braid_now(braid_comm *comm, double *seconds) {
  return guarded([&]() -> Outcome {
    if (!comm || !seconds)
      return missing(comm ? "a place for the time" : "a communicator");
    *seconds = comm->comm->now();
    return {};
  });
}

braid_status braid_step(braid_comm *comm, uint64_t job, uint64_t step, double *begin) {
  return guarded([&]() -> Outcome {
    double time = 0;
    Outcome begun = comm ? comm->comm->step(job, step, time) : missing("a communicator");
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
    if (size_t planned = comm->comm->planned())
      return {BRAID_INVALID, "expected a communicator whose operations are destroyed, got one with " +
                                 std::to_string(planned) + " operations"};
    delete comm;
    return {};
  });
}

void *braid_alloc(braid_comm *comm, size_t bytes) {
  void *memory = nullptr;
  guarded([&]() -> Outcome {
    if (!comm)
      return missing("a communicator");
    memory = comm->comm->allocate(bytes);
    return memory ? Outcome() : Outcome(BRAID_OUT_OF_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
  });
  return memory;
}

void *braid_alloc_in(braid_comm *comm, braid_memory kind, size_t bytes) {
  void *memory = nullptr;
  guarded([&]() -> Outcome { return comm ? comm->comm->allocate(kind, bytes, memory) : missing("a communicator"); });
  return memory;
}

void braid_free(braid_comm *comm, void *memory) {
  if (comm && memory)
    comm->comm->release(memory);
}

braid_status braid_op_plan(braid_comm *comm, const braid_op_options *options, braid_op **op) {
  return guarded([&]() -> Outcome {
    if (!comm || !options || !op)
      return missing(!comm ? "a communicator" : !options ? "options" : "a place for the operation");
    auto made = std::make_unique<braid_op>();
    made->comm = comm->comm.get();
    Outcome done = comm->comm->plan(*options, made->operation);
    if (done)
      *op = made.release();
    return done;
  });
}

braid_status braid_op_rebind(braid_op *op, const braid_buffer *buffers, size_t count) {
  return guarded(
      [&]() -> Outcome { return op ? op->comm->rebind(*op->operation, buffers, count) : missing("an operation"); });
}

braid_status braid_op_start(braid_op *op) {
  return guarded([&]() -> Outcome { return op ? op->comm->start(*op->operation) : missing("an operation"); });
}

braid_status braid_op_wait(braid_op *op) {
  return guarded([&]() -> Outcome { return op ? op->comm->wait(*op->operation) : missing("an operation"); });
}

static Outcome followsStreams(const braid_op *op) {
  if (!op)
    return missing("an operation");
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
  return guarded([&]() -> Outcome {
    if (!op || !done)
      return missing(op ? "a place for the answer" : "an operation");
    bool ended = false;
    Outcome tested = op->comm->test(*op->operation, ended);
    if (tested)
      *done = ended;
    return tested;
  });
}

braid_status braid_op_times(braid_op *op, double *began, double *ended) {
  return guarded([&]() -> Outcome {
    if (!op || !began || !ended)
      return missing(op ? "places for the times" : "an operation");
    op->comm->times(*op->operation, *began, *ended);
    return {};
  });
}

braid_status braid_op_destroy(braid_op *op) {
  return guarded([&]() -> Outcome {
    if (!op)
      return missing("an operation");
    Outcome done = op->comm->destroy(op->operation);
    if (done)
      delete op;
    return done;
  });
}

} // extern "C"
