//===- CollectiveKeys.h - which collectives may share a launch --------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_COLLECTIVEKEYS_H
#define BRAID_PASSES_ANALYSIS_COLLECTIVEKEYS_H

#include "analysis/RankSets.h"
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

cost::CollectiveSpec specOf(CollectiveOpInterface op, const RankSet &set);

} // namespace mlir::braid

#endif
