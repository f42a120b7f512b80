//===- Engine.h - who takes whole collectives ----------------------------------------------------------------------===//
//
// An engine is another library that runs collectives by its own algorithms (MPI, NCCL). The engines of a communicator are named
// when it is made, by all its ranks alike, and connected then; each subset connects its own. An operation names one of them, or
// takes the first. What an engine has not is BRAID_UNSUPPORTED with a sentence that says what to do, never somebody else's work.
//
// The core stays in charge of what ranks agree about (the first start compares what all ask for, and by which engine), of the
// order (an engine's operations are launched in the order of their starts, the same on all ranks of the communicator), of
// deadlines and of the deaths of peers. It calls an engine from one thread at a time, that of the caller or the progress thread.
//
//   braid_op_plan   Engine::plan -> EngineOperation        braid_op_rebind   EngineOperation::rebind
//   braid_op_start  arm ... agreed, its turn ... launch, progress, progress, ... done
//   braid_op_wait   progress ... done, handOver
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_ENGINE_H
#define BRAID_RUNTIME_ENGINES_ENGINE_H

#include "core/Exchange.h"
#include "core/Request.h"

namespace braid::runtime {

/// One planned collective; it is in flight from `arm` until it is done. Sentences come without the operation's title.
class EngineOperation {
public:
  virtual ~EngineOperation() = default;

  /// Other buffers of the same sizes, while it is not in flight.
  virtual Outcome rebind(const std::vector<Tensor> &tensors) = 0;
  /// At its start, before its turn has come: operands are what they are when all that is in `stream` now is done (a CUDA stream,
  /// for engines that take the request's memory).
  virtual Outcome arm(void *stream) { return {}; }
  /// All ranks have agreed on it, and the engine's earlier ones have been launched. Does not block.
  virtual Outcome launch() = 0;
  /// Somebody waits for it, from now on; before that, a library that wants several calls at once may keep it back.
  virtual void wanted() {}
  /// Goes on without blocking; `done` when the results are there, or, with a stream, when they are in its order.
  virtual Outcome progress(bool &done) = 0;
  /// What comes next in `stream` finds the results.
  virtual Outcome handOver(void *stream) { return {}; }
  /// What it is doing, for errors: "nothing from rank 2"; empty: the engine does not know.
  virtual std::string waitsFor() const { return {}; }
};

class Engine {
public:
  virtual ~Engine() = default;
  virtual const char *name() const = 0;

  /// Whether its operations work on buffers that are there. What an engine does not take is staged through memory of the host.
  virtual bool takes(braid_memory memory) const { return memory == BRAID_MEMORY_HOST; }
  /// The device that its ranks' buffers are of, where it has one; -1: none.
  virtual int device() const { return -1; }
  /// This rank alone; nobody is asked or waited for. `request.spelled` is the algorithm that was asked for, in the engine's own
  /// words, `request.options` has channels and chunks (0: not asked for).
  virtual Outcome plan(const Request &request, std::unique_ptr<EngineOperation> &operation) = 0;
  /// The communicator has failed: what is in flight will not be awaited, and nothing more will be launched.
  virtual void abort() = 0;
  /// An error that the library reports by itself; asked now and then while something waits.
  virtual Outcome fault() { return {}; }
};

/// What an engine may use while it is connected, which all members do at once.
struct EngineContext {
  Exchange &exchange;
  std::vector<int> members; ///< ranks of the job, in the communicator's order
  int me = 0;               ///< index of this rank in members
  std::string key;          ///< prefix of the engine's keys in the exchange, unique in the job
  double deadline = 60;     ///< seconds
  std::vector<int> hosts;   ///< of each member, as Communicator::hostsOfRanks
  /// Of a subset: the engine of the communicator that it is a part of, and the members as ranks of that; null: it has none.
  Engine *parent = nullptr;
  std::vector<int> inParent = {};

  int size() const { return int(members.size()); }
};

/// Collective, and so must be its failures: what one rank is refused is the outcome of all (Exchange::agree).
using EngineMaker = Outcome (*)(const EngineContext &context, std::unique_ptr<Engine> &engine);

} // namespace braid::runtime

#endif
