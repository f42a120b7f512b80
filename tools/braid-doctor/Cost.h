//===- Cost.h - what a finding costs, by the model ------------------------------------------------------------*- C++ -*-===//
#ifndef BRAID_DOCTOR_COST_H
#define BRAID_DOCTOR_COST_H

#include "Finding.h"
#include <optional>

namespace braid::doctor {

/// Times of one collective on the cluster: the median, and the 99th percentile of executions with all draws fresh.
struct Times {
  cost::Seconds p50, p99;
};

/// The collective that findings are priced by: an all_reduce of all devices of the cluster, run by Braid's step programs, of which
/// the cheapest counts.
constexpr cost::Bytes pricedBytes{256 << 20};

/// With changes; an error where the file has no such key, or the cluster no fabric.
cost::Result<Times> price(const cost::Cluster &cluster, const Changes &changes);

} // namespace braid::doctor

#endif
