//===- CollectiveKeys.h - which collectives may share a launch --------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_COLLECTIVEKEYS_H
#define BRAID_PASSES_ANALYSIS_COLLECTIVEKEYS_H

#include "analysis/RankSets.h"
#include "braid/cost_models/Price.h"
#include <map>
#include <string>

namespace mlir::braid {

/// Numbers collectives so that equal numbers, and only those, may share a bucket: kind, reduction, accumulation and
/// element type, reassociation, groups by meaning, id space, presence of a channel (its number is no identity),
/// braid.group_key, root.
class CollectiveKeys {
public:
  int of(CollectiveOpInterface op, const RankSet &set);

private:
  std::map<std::string, int> known;
};

/// A compiler still has to divide the tensor, by its own dimensions: it can neither be laid beside others nor be cut.
bool isYetToBeDivided(Operation *op);

/// The question that the pricer is asked. `engine`: who will run it; none: nobody prices it. Bytes and element type are
/// those of the messages: Braid's runtime sends what it accumulates in (`accumulate`), so 1 MiB of bf16 summed in f32 are
/// 2 MiB there. NCCL, which cannot be asked to accumulate wider, sends the operand's own.
cost::CollectiveSpec specOf(CollectiveOpInterface op, const RankSet &set, std::optional<cost::Engine> engine);

} // namespace mlir::braid

#endif
