//===- EmitProfile.h - a cluster as the runtime's emulated fabric reads it --------------------------------------===//
#ifndef BRAID_COST_MODELS_EMITPROFILE_H
#define BRAID_COST_MODELS_EMITPROFILE_H

#include "braid/cost_models/Cluster.h"
#include <string>

namespace braid::cost {

/// JSON: links, the links from each rank to each other, the noise of both classes of links, and what launching and reducing
/// take. The format is described where it is read, in runtime/transports/emulated/Profile.cpp.
/// `aggregators`: after the ranks, one more for each switch that reduces for them, at its place (Aggregators.h).
Result<std::string> emitProfile(const Cluster &cluster, const Placement &placement, bool aggregators = false);

} // namespace braid::cost

#endif
