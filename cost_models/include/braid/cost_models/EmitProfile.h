//===- EmitProfile.h - a cluster as the runtime's emulated fabric reads it --------------------------------------===//
#ifndef BRAID_COST_MODELS_EMITPROFILE_H
#define BRAID_COST_MODELS_EMITPROFILE_H

#include "braid/cost_models/Cluster.h"
#include <string>

namespace braid::cost {

/// JSON: links, the links from each rank to each other, the noise of both classes of links, what launching and reducing
/// take, and where it is stated how ranks' computation varies. The format is described where it is read, in runtime/transports/emulated/Profile.cpp.
/// `aggregators`: after the ranks, one more for each switch that reduces for them, at its place (Aggregators.h).
/// `path`: flows have the source ports of a plan's path (Paths.h), and take the ways that the switches' hash gives these.
Result<std::string> emitProfile(const Cluster &cluster, const Placement &placement, bool aggregators = false,
                                const std::string &path = "");

} // namespace braid::cost

#endif
