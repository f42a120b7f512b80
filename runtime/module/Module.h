//===- Module.h - persistent operations for the sites of a compiled module ----------------------------------------===//
//
// The ranks of a communicator must plan the same operations in the same order, so what is planned anew may not depend on
// addresses: an allocator gives one rank the old address and another one a new one. An operation therefore belongs to a
// site and the sizes of its tensors. Its buffers are those of the program, whichever they are this time (braid_op_rebind,
// which a rank does on its own). A second execution of a site before the first has ended gets a second operation.
//
// The module copies nothing, with one exception: the runtime moves blocks that lie in one piece. Where the program cuts or
// concatenates along another dimension than the first, the blocks are brought into one piece, or back.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_MODULE_MODULE_H
#define BRAID_RUNTIME_MODULE_MODULE_H

#include "module/Pool.h"
#include "module/Site.h"
#include <memory>
#include <set>

namespace braid::runtime::module {

struct Tensor {
  int64_t send, receive, sendCount, receiveCount, sendOuter, receiveOuter;
  /// Whether one operation serves both.
  bool alike(const Tensor &other) const {
    return sendCount == other.sendCount && receiveCount == other.receiveCount && sendOuter == other.sendOuter &&
           receiveOuter == other.receiveOuter;
  }
};

/// A communicator and this rank's place in it.
struct Members {
  braid_comm *comm = nullptr;
  int32_t rank = 0, ranks = 1;
};

/// One planned operation.
struct Operation {
  std::vector<Tensor> tensors;            ///< of the execution in flight, or the last one
  std::vector<char *> outgoing, incoming; ///< per tensor: blocks in one piece, or null: they are so in the program
  std::vector<braid_buffer> buffers;
  braid_op *op = nullptr;
  bool inFlight = false;
};

struct SiteState {
  explicit SiteState(Site site) : site(std::move(site)) {}
  Site site;
  Members members;
  std::vector<std::unique_ptr<Operation>> operations;
  std::vector<Tensor> pending; ///< tensors of the call that has begun
};

/// What a call is between begin and finish.
struct Call {
  SiteState *state;
  Operation *operation;
};

class Module {
public:
  void use(braid_comm *comm);
  /// Of all ranks; made from the environment where nobody gave one.
  Members &all();

  /// Whether the program of this key is new. Then its sites are described, and agreed on.
  bool open(int64_t key) { return opened.insert(key).second; }
  void describe(const int64_t *words, const char *algorithm, const char *name);
  /// Compares what was described on all ranks; a difference is an error on each that names what each has. Makes communicators.
  void agree();

  SiteState &stateOf(const int64_t *words, const char *algorithm, const char *name);
  Call *begin(SiteState &state);
  void launch(Call &call);
  void finish(Call &call);

  /// `site`: null for memory that no collective touches, `anySite` for the communicator of all ranks.
  void *allocate(int64_t bytes, const int64_t *site);
  void *allocateOnDevice(int64_t bytes);
  void release(void *memory);
  void reset();
  /// The process is about to end: what has failed tells the other ranks why.
  void giveUp(const std::string &why);

  static inline const int64_t *const anySite = reinterpret_cast<const int64_t *>(1);
  int64_t planned = 0, copied = 0;
  Pool pool;

private:
  bool carriesData() const { return braid_comm_carries_data(world.comm); }
  Members membersOf(const Site &site);
  Operation &operationFor(SiteState &state);
  void plan(SiteState &state, Operation &operation);
  /// Sets the addresses of this execution.
  void bind(Operation &operation);
  /// What every rank gives, by rank: `mine` is as long on all.
  std::vector<uint64_t> gather(const std::vector<uint64_t> &mine);

  Members world;
  bool owned = false;
  std::map<std::vector<int32_t>, Members> groups;
  std::map<const int64_t *, std::unique_ptr<SiteState>> sites;
  std::set<int64_t> opened;
  std::vector<SiteState *> described;
  std::vector<Call *> idle, flying;
};

} // namespace braid::runtime::module

#endif
