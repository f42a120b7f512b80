//===- NcclEngine.cpp - the candidates that NCCL chooses among --------------------------------------------------===//
#include "pricing/Engine.h"
#include "pricing/NcclModel.h"
#include "pricing/Terms.h"
#include <map>
#include <mutex>

namespace braid::cost {

Candidate nothingToDo() {
  Candidate c;
  c.algorithm = "none";
  c.why = {"none", {}, "one rank in each group: nothing is sent", {}};
  return c;
}

void addUplinks(Candidate &c, const UplinkFlows &flows, const Cluster &cluster) {
  c.flows = flows.total;
  c.flowsPerLeaf = flows.perLeaf;
  c.streamsPerNic *= flows.streams;
  double crowd = double(flows.perLeaf) / uplinksPerLeaf(cluster);
  if (crowd > 1) {
    addTerm(
        c, &Candidate::wire, "crowded uplinks", c.wire * (crowd - 1),
        text("%d flows of line rate leave a leaf switch that has %d uplinks", flows.perLeaf, uplinksPerLeaf(cluster)));
    sumUp(c);
  }
}

namespace {

class NcclEngine : public EngineModel {
public:
  NcclEngine(const Cluster &cluster, const Placement &placement) : cluster(cluster), placement(placement) {}

  std::vector<Candidate> candidates(const CollectiveSpec &spec, int operations) override {
    if (spec.kind == CollectiveKind::Permute)
      return {permute(spec)};
    const GroupLayout &layout = layoutFor(*spec.groups);
    std::vector<Candidate> all;
    for (const GroupShape &shape : layout.shapes) {
      if (shape.ranks <= 1)
        continue;
      NcclQuestion question{spec.kind, spec.bytes, operations, spec.elementType.rfind("f8", 0) == 0, shape};
      std::vector<Candidate> some = spec.kind == CollectiveKind::AllToAll
                                        ? std::vector<Candidate>{ncclAllToAll(question, cluster)}
                                        : ncclCollective(question, cluster);
      for (Candidate &c : some)
        keepCostlier(all, std::move(c));
    }
    if (all.empty())
      return {nothingToDo()};
    for (Candidate &c : all) // all groups run at once: their flows meet on the uplinks
      addUplinks(c,
                 spec.kind == CollectiveKind::AllToAll ? layout.everybody
                 : c.algorithm == "tree"               ? layout.tree
                                                       : layout.ring,
                 cluster);
    return all;
  }

  std::vector<std::string> notModelled() const override { return ncclNotModelled(cluster); }

private:
  /// Groups of different shapes run at once: the collective is over when the costliest is.
  static void keepCostlier(std::vector<Candidate> &all, Candidate c) {
    for (Candidate &old : all)
      if (old.algorithm == c.algorithm && old.protocol == c.protocol) {
        if (old.time < c.time)
          old = std::move(c);
        return;
      }
    all.push_back(std::move(c));
  }

  Candidate permute(const CollectiveSpec &spec) {
    PermuteLayout layout = layoutOfPairs(*spec.groups, cluster, placement);
    if (layout.interPairs + layout.intraPairs == 0)
      return nothingToDo();
    Candidate c = ncclPermute(spec.bytes, layout, cluster);
    addUplinks(c, layout.uplinks, cluster);
    return c;
  }

  /// Groups do not change while a pricer lives; programs repeat the same few.
  const GroupLayout &layoutFor(const RankGroups &groups) {
    std::lock_guard<std::mutex> lock(mutex);
    auto [entry, isNew] = layouts.try_emplace(groups.groups);
    if (isNew)
      entry->second = layoutOf(groups, cluster, placement);
    return entry->second;
  }

  const Cluster &cluster;
  const Placement &placement;
  std::mutex mutex;
  std::map<std::vector<std::vector<int>>, GroupLayout> layouts;
};

} // namespace

std::unique_ptr<EngineModel> makeNcclEngine(const Cluster &cluster, const Placement &placement) {
  return std::make_unique<NcclEngine>(cluster, placement);
}

} // namespace braid::cost
