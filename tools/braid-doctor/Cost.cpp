//===- Cost.cpp - what a finding costs, by the model ------------------------------------------------------------------===//
#include "Cost.h"
#include "braid/cost_models/Price.h"
#include <cstdio>
#include <numeric>

namespace braid::doctor {

cost::Result<Times> price(const cost::Cluster &cluster, const Changes &changes) {
  if (cluster.hosts < 2)
    return cost::Error{"expected a cluster of two hosts or more, got one: no message takes its NICs", ""};
  std::vector<cost::ClusterOverride> keys = changes.keys;
  if (changes.bandwidth != 1) {
    char rate[48];
    std::snprintf(rate, sizeof rate, "%.6f Gb/s", cluster.inter.bandwidth.value * changes.bandwidth * 8e-9);
    keys.push_back({"inter.bandwidth", rate});
  }
  cost::Result<cost::Cluster> changed = cost::readCluster(cluster.path, keys);
  if (!changed)
    return changed.error();
  cost::Placement placement;
  placement.deviceOf.resize(size_t(changed->ranks()));
  std::iota(placement.deviceOf.begin(), placement.deviceOf.end(), 0);
  auto groups = std::make_shared<cost::RankGroups>();
  groups->groups = {placement.deviceOf};
  cost::CollectiveSpec spec;
  spec.bytes = pricedBytes;
  spec.groups = groups;
  cost::Pricer pricer(*changed, placement, cost::Engine::Braid, cost::BucketForm::OneLaunch);
  auto quantiles = pricer.quantiles(spec, size_t(pricer.cheapest(spec)), {0.5, 0.99});
  return Times{quantiles[0].first, quantiles[1].first};
}

} // namespace braid::doctor
