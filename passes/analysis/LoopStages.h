//===- LoopStages.h - what of a loop's trip can run in the next one ---------------------------------------------===//
//
// Software pipelining (Lam, Software Pipelining: An Effective Scheduling Technique for VLIW Machines, PLDI 1988) in two
// stages: a collective whose result is only handed on, and what is computed from it on the way, may complete in the trip
// after its own, beside what does not need it yet.
//
//   for (%w = %w0) { forward(%w) ; %s = update ; %g = all_gather %s ; yield %g }
//
// What may: all that depends on the collective within the trip is pure computation or further collectives, the result is handed on to
// the next trip, and no loop, branch or call that communicates and nothing of unknown effects stands behind the collective.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_LOOPSTAGES_H
#define BRAID_PASSES_ANALYSIS_LOOPSTAGES_H

#include "analysis/ModuleFacts.h"
#include "braid/dialect/BraidOps.h"
#include <optional>

namespace mlir::braid {

/// A loop by what it hands from trip to trip: scf.for, or a stablehlo.while that counts to a number which is known.
struct CarryingLoop {
  Operation *op = nullptr;
  Block *body = nullptr;
  Block *condition = nullptr;         ///< of a while
  std::optional<int64_t> trips;       ///< none: depends on data (scf.for only)
  SmallVector<BlockArgument> carried; ///< of the body, parallel to the operands that they begin with
  SmallVector<Value> inits;           ///< what they are in the first trip
  OperandRange yields() const { return terminator()->getOperands(); }
  Operation *terminator() const { return &body->back(); }
  /// The operation of the body that makes what argument `index` is in the next trip; null: another argument, or made outside.
  Operation *producer(unsigned index) const;

  static std::optional<CarryingLoop> of(Operation *op);
};

/// A collective that may complete in the next trip.
struct LateCollective {
  Operation *op = nullptr; ///< the collective, or the wait of one that is in flight
  CollectiveOpInterface collective;
  SmallVector<Operation *> followers; ///< what depends on it within its trip, in program order
  Operation *chained = nullptr;       ///< the first collective among these
  int need = 0;   ///< the first operation of the next trip that does, in program order; past the last: none
  int before = 0; ///< kernels of the next trip in front of that
  int beside = 0; ///< kernels of the next trip that do not depend on it
};

/// Those of a loop, the one that the next trip needs first in front. `missed`, where given, hears of each other collective of the
/// body why it is none.
SmallVector<LateCollective> lateCollectives(const CarryingLoop &loop, ModuleFacts &facts,
                                            llvm::function_ref<void(Operation *, const Twine &)> missed = nullptr);

class TripGraph;
/// Whether there is one.
bool anyIsLate(const TripGraph &trip);

} // namespace mlir::braid

#endif
