//===- EmitProfile.h - a cluster as the runtime's emulated fabric reads it --------------------------------------===//
#ifndef BRAID_COST_MODELS_EMITPROFILE_H
#define BRAID_COST_MODELS_EMITPROFILE_H

#include "braid/cost_models/Cluster.h"
#include <string>

namespace braid::cost {

/// JSON: links, the links from each rank to each other, the noise of both classes of links, and what launching and reducing
/// take. The format is described where it is read, in runtime/transports/emulated/Profile.cpp.
Result<std::string> emitProfile(const Cluster &cluster, const Placement &placement);

} // namespace braid::cost

#endif
