//===- Group.h - a communicator of NCCL ----------------------------------------------------------------------------===//
//
// How ranks get one, as programs of NCCL do it: they exchange who they are and which devices they see; the first of them asks NCCL for an
// id, which Braid's rendezvous carries; all connect, without blocking, and look at how far they are and whether the others still live,
// so that a rank that does not come is an error by the deadline. A subset comes from its parent's where NCCL can do that:
//
//   all of the parent's ranks, in another order     ncclCommSplit     2.18
//   some of them, in its order                      ncclCommShrink    2.27; also of a parent that has failed, once it is revoked
//   else                                            an id of its own
//
// NCCL tells the children of a communicator apart by their number on each rank, so members that have made different numbers use an id.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_GROUP_H
#define BRAID_RUNTIME_ENGINES_NCCL_GROUP_H

#include "engines/Engine.h"
#include "engines/nccl/Library.h"
#include "transports/cuda/Current.h"

namespace braid::runtime::nccl {

class Group {
public:
  /// On all members of the context at once; a failure of one is that of all. `parent`: of a subset, if it has one here; `ranks`: the
  /// members as ranks of the parent.
  static Outcome connect(const EngineContext &context, Group *parent, const std::vector<int> &ranks,
                         std::unique_ptr<Group> &group);
  ~Group();
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;

  /// Stops what is in flight, here; the communicator is good for ncclCommShrink only, or for nothing.
  void abort();
  /// `still`: what was called before is going on in NCCL, and nothing else may be called. Errors are those that NCCL noticed by itself.
  Outcome look(bool &still) const;
  Comm comm() const { return handle; } ///< null: aborted

  const Library &nccl;
  const cuda::Driver &driver;
  const int device; ///< ordinal
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr; ///< of all its calls
  char *barrier = nullptr;       ///< some bytes of the device
  int inFlight = 0;              ///< operations

private:
  Group(const Library &nccl, const cuda::Driver &driver, int device, double deadline)
      : nccl(nccl), driver(driver), device(device), deadline(deadline) {}
  Outcome open();
  Outcome settle(const EngineContext &context, const std::string &what) const;
  Outcome byId(const EngineContext &context);
  Outcome fromParent(const EngineContext &context, Group &parent, const std::vector<int> &ranks, bool failed);

  enum State { Good, Revoked, Gone };
  State state = Gone;
  Comm handle = nullptr;
  int size = 0, children = 0; ///< children: split or shrunk from it
  const double deadline;      ///< seconds
};

} // namespace braid::runtime::nccl

#endif
