//===- DefaultProfiles.h - what a fabric's name stands for ------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_DEFAULTPROFILES_H
#define BRAID_COST_MODELS_TOPOLOGY_DEFAULTPROFILES_H

#include "braid/cost_models/Fabric.h"
#include <optional>
#include <string>
#include <vector>

namespace braid::cost {

/// The default profile of a fabric, or nothing: the name is not known.
std::optional<FabricProfile> defaultProfile(const std::string &fabric);
const std::vector<std::string> &fabricNames();
/// What the default rests on, for the list of assumptions.
std::string defaultProfileReason(const std::string &fabric);

} // namespace braid::cost

#endif
