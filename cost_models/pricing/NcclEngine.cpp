//===- NcclEngine.cpp - the candidates that NCCL chooses among --------------------------------------------------===//
#include "pricing/Composed.h"
#include "pricing/Engine.h"
#include "pricing/NcclConstants.h"
#include "pricing/NcclModel.h"
#include "pricing/Terms.h"
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

namespace braid::cost {

Candidate nothingToDo() {
  Candidate c;
  c.algorithm = "none";
  c.why = {"none", {}, "one rank in each group: nothing is sent", {}};
  return c;
}

void addUplinks(Candidate &c, const UplinkFlows &flows, const Cluster &cluster) {
  if (!cluster.contention) // nothing to wait for, and nothing to collide with
    return;
  c.flows = flows.total;
  c.flowsPerLeaf = flows.perLeaf;
  c.streamsPerNic *= flows.streams;
  double leafLines = linesFromLeaf(cluster), podLines = linesFromPod(cluster);
  double leaf = flows.leafLines / leafLines, pod = podLines > 0 ? flows.podLines / podLines : 0;
  if (leaf > 1 && leaf >= pod)
    addTerm(c, &Candidate::wire, "crowded uplinks", c.wire * (leaf - 1),
            text("%.3g flows of line rate leave a leaf switch whose uplinks carry %.3g", flows.leafLines, leafLines));
  else if (pod > 1)
    addTerm(
        c, &Candidate::wire, "crowded cores", c.wire * (pod - 1),
        text("%.3g flows of line rate leave a pod whose links to core switches carry %.3g", flows.podLines, podLines));
  sumUp(c);
}

namespace {

class NcclEngine : public EngineModel {
public:
  NcclEngine(const Cluster &cluster, const Placement &placement) : cluster(cluster), placement(placement) {}

  std::vector<Candidate> candidates(const CollectiveSpec &spec, int operations) override {
    if (spec.kind == CollectiveKind::Permute)
      return {permute(spec)};
    const GroupLayout &layout = layoutFor(*spec.groups);
    if (spec.counts)
      return {ragged(spec, layout)};
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
    if (std::optional<Candidate> both = composed(spec, operations))
      all.push_back(std::move(*both));
    return all;
  }

  std::vector<std::string> notModelled() const override { return ncclNotModelled(cluster); }

private:
  /// Not for a group call, whose tensors would have to be padded one by one; and not where NCCL keeps 8-bit floats from
  /// rings, which add them up hop by hop.
  std::optional<Candidate> composed(const CollectiveSpec &spec, int operations) {
    int ranks = uniformGroupSize(*spec.groups, int(placement.deviceOf.size()));
    bool losesBits = spec.elementType.rfind("f8", 0) == 0 && ranks > nccl::fp8RingRanks;
    if (spec.kind != CollectiveKind::AllReduce || operations > 1 || ranks == 0 || losesBits)
      return std::nullopt;
    return composedAllReduce(spec, ranks, *this);
  }

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

  /// Blocks that differ in size: the price of the rank that moves most, through a NIC or, if nothing does, inside a host.
  Candidate ragged(const CollectiveSpec &spec, const GroupLayout &layout) {
    std::vector<std::vector<int>> groups = spec.groups->groups;
    if (groups.empty()) {
      groups.emplace_back(placement.deviceOf.size());
      std::iota(groups[0].begin(), groups[0].end(), 0);
    }
    PointToPointLoad most;
    for (const std::vector<int> &group : groups)
      for (size_t rank = 0; rank < group.size(); ++rank) {
        PointToPointLoad load;
        double out[2] = {0, 0}, in[2] = {0, 0}; // inside the host, to others
        for (size_t peer = 0; peer < group.size(); ++peer) {
          int64_t sent = (*spec.counts)[rank * group.size() + peer], got = (*spec.counts)[peer * group.size() + rank];
          if (peer == rank || sent + got == 0)
            continue;
          bool inter = placement.hostOf(group[rank], cluster) != placement.hostOf(group[peer], cluster);
          ++(inter ? load.interPeers : load.intraPeers);
          out[inter] += double(sent);
          in[inter] += double(got);
        }
        load.intraBytes = std::max(out[0], in[0]);
        load.interBytes = std::max(out[1], in[1]);
        if (std::tie(most.interBytes, most.intraBytes) < std::tie(load.interBytes, load.intraBytes))
          most = load;
      }
    if (most.interPeers + most.intraPeers == 0)
      return nothingToDo();
    Candidate c = ncclRaggedAllToAll(most, layout.shapes.front(), cluster);
    addUplinks(c, layout.everybody, cluster);
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
