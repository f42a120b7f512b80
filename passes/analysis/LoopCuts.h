//===- LoopCuts.h - where else a loop's trip may begin ----------------------------------------------------------===//
//
// A trip is a cycle: cut elsewhere, what was the end of one trip and the beginning of the next stand in one body, where a collective can
// run beside both. Two cuts serve a collective (LoopStages.h has a third one, right behind it):
//
//   Ahead    in front of all but the collective and what leads to it, which then run for the next trip beside all of this one's
//            computation (weights gathered a layer ahead):
//
//     for (%i, %x) {                           %w = all_gather slice(0)                          first trip
//       %w = all_gather slice(%i)              for (%i, %x, %w) {
//       %y = layer(%x, %w)                       %y = layer(%x, %w) beside %v = all_gather slice(%i + 1)
//       yield %y }                               yield %y, %v }
//                                              layer(%x, %w)                                     last trip
//
//   Around   in front of the collective: what of its own trip does not lead to it follows, and then the next trip up to its
//            collective. So it is in flight beside the end of one trip and the beginning of the next:
//
//     for (%s) {                               head ; body                                       first trip
//       head ; body(%s)                        for (...) {
//       %s = all_reduce ; tail ; yield %s }      %s = all_reduce beside tail, head ; body(%s) }
//                                              all_reduce ; tail                                 last trip
//
// Nothing is reordered across an operation that nothing may be in flight across: a cut has all of what stands before it, in program
// order, on its side.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_LOOPCUTS_H
#define BRAID_PASSES_ANALYSIS_LOOPCUTS_H

#include "analysis/LoopStages.h"
#include "braid/passes/PassEnums.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::braid {

/// A collective that runs beside other computation if the trip is cut at it.
struct CutCollective {
  CollectiveOpInterface collective;
  llvm::BitVector early; ///< what of a trip stands in front of the cut, by its place in TripGraph.h
  int beside = 0;        ///< kernels of another trip that it can run beside, only then
};

/// Whether a body is too large to look at all places where a trip could begin: its collectives times its operations.
bool tooLargeToCut(const TripGraph &trip);

/// Those of a loop, in program order; at most so many. `missed`, where given, hears of each other collective of the body why it is none.
SmallVector<CutCollective> cutCollectives(const TripGraph &trip, LoopShift shift,
                                          llvm::function_ref<void(Operation *, const Twine &)> missed = nullptr,
                                          size_t most = size_t(-1));

/// The order of a body in which `late` operations are of the trip before: early ones first, as far as they need nothing of these.
SmallVector<Operation *> orderOfCut(const TripGraph &trip, LoopShift shift, const llvm::BitVector &late);

/// Whether trips of the loop can overlap, by a cut or by what LoopStages.h finds.
bool tripsMayOverlap(const CarryingLoop &loop, ModuleFacts &facts);

} // namespace mlir::braid

#endif
