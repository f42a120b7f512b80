//===- Orders.h - orders of ranks that keep rings and trees inside hosts and racks ------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_ORDERS_H
#define BRAID_COST_MODELS_PRICING_ORDERS_H

#include "braid/cost_models/Price.h"

namespace braid::cost {

/// The order that a ring or tree over these groups had better take, as plans spell it ("hosts", "0.2.1.3"); empty: the ranks are
/// in such an order already. One word stands for all groups, so that several groups get only the one by hosts.
std::string betterOrder(const RankGroups &groups, const Cluster &cluster, const Placement &placement);

} // namespace braid::cost

#endif
