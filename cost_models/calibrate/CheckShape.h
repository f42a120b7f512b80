//===- CheckShape.h - whether a table's ranks are the cluster's, and its rows what they seem ------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_CHECKSHAPE_H
#define BRAID_COST_MODELS_CALIBRATE_CHECKSHAPE_H

#include "braid/cost_models/Measured.h"

namespace braid::cost {

/// Hosts and ranks per host that the cluster has not. `placed`: the caller knows the ranks' devices, any part of the cluster.
std::optional<Error> wrongShape(MeasuredTable &table, const Cluster &cluster, bool placed);
/// Percentiles that fall, a mean or a time that is not between the shortest and the longest.
std::optional<Error> wrongOrder(const MeasuredTable &table);
/// Rows that were copied.
std::optional<Error> wrongRepetition(MeasuredTable &table);

} // namespace braid::cost

#endif
