//===- BraidEngine.cpp - the candidates of Braid's own runtime: its step programs, played -----------------------===//
//
// Every algorithm of the registry that serves the collective, with a few numbers of pipeline segments, played on the
// topology at the exact size. The played time is split for the draws:
//
//   fixed    launch, and latency inside hosts
//   latency  the time of empty messages when only links between hosts have latency
//   wire     the rest: transfer, waiting for links, reduction       (fixed, when no host is left)
//
// One group of more than 128 ranks with consecutive devices is priced by the closed form of the algorithm, where there is one: the
// rule is of the question alone, so that a question has one price.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Aggregators.h"
#include "braid/runtime/algorithms/Levels.h"
#include "pricing/ClosedForms.h"
#include "pricing/Engine.h"
#include "pricing/Orders.h"
#include "pricing/Packings.h"
#include "pricing/PathPlan.h"
#include "pricing/PlayedDelay.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

namespace braid::cost {

namespace {

/// setting: pipeline segments tried for trees and chains. A segment below this size is all latency; a small buffer is priced as if
/// its segments had it, so that a larger buffer, which can be cut into more of them, is never cheaper.
constexpr int segmentCounts[] = {1, 8, 64};
constexpr int64_t smallestSegment = 4096;

/// What prices of collectives on the same groups have in common.
struct Job {
  GroupLayout layout; ///< permute: 0 hosts if no pair joins two ranks
  Members members;    ///< the slowest of those who take part
  std::string order;  ///< see betterOrder
};

/// Two equal groups and one algorithm with one option: the programs, and what does not depend on the size.
struct Prepared {
  std::shared_ptr<const PlayedCollective> collective;
  std::unique_ptr<ClosedForm> form; ///< instead of it
  int ranks = 0;                    ///< of the largest group
  int64_t serialMessages = 0;       ///< longest chain of dependent messages
  Seconds empty;                    ///< time of empty messages
  Seconds emptyInter;               ///< and with latency between hosts only
  BytesPerSecond reduction;         ///< of the slowest member
  UplinkFlows uplinks;
  FlowSpread spread;                            ///< over flows, where they draw bandwidths
  std::map<int, std::optional<PathPlan>> paths; ///< by connections
  std::shared_ptr<const PlayedNoise> noise;     ///< null: of too many messages to play
  bool huge = false;                            ///< too large to play, and there is no form: nothing of the above
};

/// setting: programs of more steps than this are not played where there are others that are smaller or have a closed form.
constexpr int64_t mostSteps = 1 << 21;

/// setting: the checker proves that programs end; never the cheapest, should one not.
constexpr Seconds never{1e9};

class BraidEngine : public EngineModel {
public:
  BraidEngine(const Cluster &cluster, const Placement &placement)
      : cluster(cluster), placement(placement), topology(Topology::build(cluster)) {}

  std::vector<Candidate> candidates(const CollectiveSpec &spec, int) override {
    std::lock_guard<std::mutex> lock(mutex); // played once for each size; the second to ask waits
    std::vector<Candidate> all;
    const Job &job = jobFor(spec);
    int size = spec.groups->groups.empty() ? int(placement.deviceOf.size()) : spec.groups->size();
    if (size <= 1 || job.layout.hosts == 0)
      return {nothingToDo()};
    if (spec.counts)
      return raggedCandidates(spec, job);
    priceAll(all, spec, size, job, false);
    if (all.empty()) // then any price is better than none
      priceAll(all, spec, size, job, true);
    return all;
  }

  std::vector<std::string> notModelled() const override {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<std::string> sentences = {
        cluster.compute.slowed()
            ? "what computation takes from communication (compute.slowdown is the reverse)"
            : "contention of communication with compute for memory bandwidth (what kernels lose by it "
              "can be stated: compute.slowdown)",
        "rate of messages of a rank and its NIC: where each sends hundreds of small ones at once, prices are too low"};
    sentences.insert(sentences.end(), withheld.begin(), withheld.end());
    return sentences;
  }

private:
  /// `huge`: also by programs that are too large to play.
  void priceAll(std::vector<Candidate> &all, const CollectiveSpec &spec, int size, const Job &job, bool huge) {
    for (const algorithms::Algorithm &algorithm : algorithms::registry()) {
      if (!algorithm.serves(spec.kind, size) || !isGranted(algorithm, spec))
        continue;
      bool tree = algorithm.name.find("tree") != std::string::npos;
      bool pipelined = tree || spec.kind == CollectiveKind::Broadcast || algorithm.name == "pipelined_chain" ||
                       algorithm.name == "in_network";
      pipelined &= algorithm.needs != algorithms::Needs::Topology; // its pieces are planned
      for (const Spelled &spelled : spellings(algorithm, spec, job.order))
        for (int segments : segmentCounts) {
          if (segments > 1 && !pipelined)
            continue;
          if (Prepared &p = prepare(spelled, spec, segments, job, huge); p.huge)
            continue;
          Candidate c = price(spelled, spec, segments, job);
          c.exposedNodes = job.layout.allHosts;
          addRouted(all, c, prepare(spelled, spec, segments, job), spec, job);
          keepCheapest(all, std::move(c));
        }
    }
  }

  /// Groups do not change while a pricer lives; programs repeat the same few.
  const Job &jobFor(const CollectiveSpec &spec) {
    bool permute = spec.kind == CollectiveKind::Permute;
    auto [entry, isNew] = jobs.try_emplace({permute, spec.groups->groups, spec.groups->pairs});
    Job &job = entry->second;
    if (!isNew)
      return job;
    job.members = membersOf(*spec.groups, cluster, placement);
    job.order = betterOrder(*spec.groups, cluster, placement);
    if (permute) {
      PermuteLayout pairs = layoutOfPairs(*spec.groups, cluster, placement);
      job.layout.hosts = pairs.interPairs + pairs.intraPairs == 0 ? 0 : pairs.hosts;
    } else {
      job.layout = layoutOf(*spec.groups, cluster, placement);
    }
    return job;
  }

  /// Whether the cluster has what the algorithm needs; if not, the reason is kept for notModelled().
  bool isGranted(const algorithms::Algorithm &algorithm, const CollectiveSpec &spec) {
    if (algorithm.needs == algorithms::Needs::Nothing)
      return true;
    std::string reason = algorithm.needs == algorithms::Needs::Switches
                             ? whyNoSwitches(spec)
                             : whyNoPacking(cluster, *spec.groups, groupSize(*spec.groups));
    if (!reason.empty())
      withheld.insert(algorithm.name + ", not offered: " + reason);
    return reason.empty();
  }

  /// Empty: the switches reduce for this collective.
  std::string whyNoSwitches(const CollectiveSpec &spec) const {
    const InNetwork &grant = cluster.inNetwork;
    std::vector<std::vector<int>> groups = spec.groups->groups;
    if (groups.empty())
      groups.push_back(placement.deviceOf);
    for (std::vector<int> &group : groups) {
      std::vector<int> devices;
      for (int rank : group)
        if (rank >= 0 && rank < int(placement.deviceOf.size()))
          devices.push_back(spec.groups->groups.empty() ? rank : placement.deviceOf[rank]);
      if (Result<Aggregators> switches = aggregatorsOf(*topology, devices); !switches)
        return switches.error().message;
    }
    bool adds = spec.kind == CollectiveKind::AllReduce || spec.kind == CollectiveKind::ReduceScatter ||
                spec.kind == CollectiveKind::Reduce;
    if (adds && std::find(grant.types.begin(), grant.types.end(), spec.elementType) == grant.types.end())
      return "the cluster file does not grant sums of " + spec.elementType + " (key in_network.types)";
    if (spec.bytes < grant.smallest || grant.largest < spec.bytes)
      return "the cluster file grants operands from " + toString(grant.smallest) + " to " + toString(grant.largest) +
             " (key in_network), asked for others too";
    if (int(groups.size()) > grant.groups)
      return "the cluster file grants " + std::to_string(grant.groups) +
             " groups at once (key in_network.groups), got " + std::to_string(groups.size());
    return {};
  }

  /// An algorithm with what it takes, which is part of its name in plans.
  struct Spelled {
    const algorithms::Algorithm &algorithm;
    std::string name;
    algorithms::StepOptions options;
  };

  /// The ways to ask for an algorithm: as it is, and where ranks do not lie host by host, with them in that order.
  std::vector<Spelled> spellings(const algorithms::Algorithm &algorithm, const CollectiveSpec &spec,
                                 const std::string &order) {
    Spelled plain{algorithm, algorithm.name, {}};
    if (algorithm.needs == algorithms::Needs::Topology) {
      plain.options.packing = packings.of(*topology, placement, *spec.groups, spec.kind, spec.bytes);
      plain.name = plain.options.packing->spelling();
    }
    std::vector<Spelled> all = {plain};
    if (std::string problem; algorithm.ordered && !order.empty()) {
      all.push_back({algorithm, algorithm.name + "(order=" + order + ")", {}});
      algorithms::parse(all.back().name, all.back().options, problem);
    }
    return all;
  }

  /// One candidate for each algorithm: with the best number of segments.
  static void keepCheapest(std::vector<Candidate> &all, Candidate c) {
    for (Candidate &old : all)
      if (old.algorithm == c.algorithm) {
        if (c.time < old.time)
          old = std::move(c);
        return;
      }
    all.push_back(std::move(c));
  }

  /// Steps of the programs of all ranks, about.
  int64_t stepsOf(const Spelled &spelled, CollectiveKind kind, int size, int segments) const {
    algorithms::StepOptions options = spelled.options;
    options.segments = segments;
    int64_t sum = 0;
    for (int rank : {0, size / 3, size - 1})
      sum += int64_t(spelled.algorithm.program(kind, size, rank, options).steps.size());
    return sum / 3 * int64_t(placement.deviceOf.size());
  }

  Prepared &prepare(const Spelled &spelled, const CollectiveSpec &spec, int segments, const Job &job,
                    bool huge = false) {
    const algorithms::Algorithm &algorithm = spelled.algorithm;
    const GroupLayout &layout = job.layout;
    auto [found, isNew] = prepared.try_emplace({spelled.name, spec.kind, segments, &job});
    Prepared &p = found->second;
    if (!isNew && (!p.huge || !huge))
      return p;
    p.reduction = job.members.reduction;
    algorithms::StepOptions options = spelled.options;
    options.segments = segments;
    int first = algorithm.needs == algorithms::Needs::Nothing && cluster.mesh.empty() ? firstOfMany(*spec.groups) : -1;
    if (first >= 0 && spec.kind != CollectiveKind::Permute) {
      p.ranks = groupSize(*spec.groups);
      p.form = ClosedForm::make(algorithm, spec.kind, p.ranks, options, *topology, first);
    }
    if (p.form) {
      p.serialMessages = algorithm.steps(spec.kind, p.ranks, withHosts(options, p.ranks, first));
      p.uplinks = algorithm.name == "ring"                           ? layout.ring
                  : algorithm.name.find("tree") != std::string::npos ? layout.tree
                                                                     : layout.everybody;
    } else {
      int64_t steps = int(placement.deviceOf.size()) <= mostRanksOfPlays || huge
                          ? 0
                          : stepsOf(spelled, spec.kind, groupSize(*spec.groups), segments);
      p.huge = steps > mostSteps;
      if (p.huge) {
        withheld.insert(
            text("%s, not offered: it has no closed form on these ranks, and %.0f million steps are too many to play",
                 algorithm.name.c_str(), double(steps) / 1e6));
        return p;
      }
      p.collective =
          std::make_shared<PlayedCollective>(algorithm, spec.kind, *spec.groups, options, *topology, placement);
      p.ranks = p.collective->ranks();
      p.serialMessages = p.collective->serialMessages();
      p.uplinks = p.collective->uplinks(networkOf(p, topology->links()));
    }
    bool between = layout.hosts > 1;
    if ((between ? cluster.inter : cluster.intra).profile.flowsVary())
      p.spread = p.form ? sampledSpread(algorithm, spec.kind, p.ranks, options, first, between)
                        : p.collective->spread(networkOf(p, topology->links()), between);
    p.empty = timeOf(p, {0}, topology->links());
    p.emptyInter = cluster.devicesPerHost == 1 ? p.empty : timeOf(p, {0}, linksBetween());
    if (linksOf(layout.hosts).profile.bulkMean > 0 && p.collective && p.collective->messages() > 0 &&
        p.collective->messages() <= PlayedNoise::mostMessages)
      p.noise = std::make_shared<PlayedNoise>(p.collective, *topology, placement, p.reduction);
    return p;
  }

  int groupSize(const RankGroups &groups) const {
    return groups.groups.empty() ? int(placement.deviceOf.size()) : groups.size();
  }

  /// Of ranks on consecutive devices.
  algorithms::StepOptions withHosts(algorithms::StepOptions options, int ranks, int first) const {
    std::vector<int> hosts;
    for (int rank = 0; rank < ranks; ++rank)
      hosts.push_back(cluster.hostOf(first + rank));
    options.hosts = algorithms::levels(std::move(hosts));
    return options;
  }

  /// How some ranks of one large group deal their bytes over flows.
  FlowSpread sampledSpread(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                           const algorithms::StepOptions &asked, int first, bool between) const {
    algorithms::StepOptions options = withHosts(asked, ranks, first);
    std::vector<RankTraffic> traffic;
    for (int sample = 0; sample < 9; ++sample) {
      int rank = int(int64_t(ranks - 1) * sample / 8);
      traffic.push_back(trafficOf(algorithm.program(kind, ranks, rank, options), [&](int peer) {
        return (cluster.hostOf(first + rank) != cluster.hostOf(first + peer)) == between;
      }));
    }
    return spreadOf(traffic, ranks, options.segments > 1 ? 1 : double(algorithm.steps(kind, ranks, options)));
  }

  /// First device of the one group of many ranks, which are on consecutive devices; else -1.
  int firstOfMany(const RankGroups &groups) const {
    int size = groupSize(groups);
    if (size <= mostPlayedRanks || groups.groups.size() > 1 || !cluster.contention) // closed forms count on contention
      return -1;
    auto device = [&](int i) { return placement.deviceOf[groups.groups.empty() ? i : groups.groups[0][i]]; };
    int length = groups.groups.empty() ? size : int(groups.groups[0].size());
    for (int i = 0; i < length; ++i)
      if ((!groups.groups.empty() &&
           (groups.groups[0][i] < 0 || groups.groups[0][i] >= int(placement.deviceOf.size()))) ||
          device(i) != device(0) + i)
        return -1;
    return device(0);
  }

  /// The links of the topology without the latency inside hosts.
  const std::vector<Topology::Link> &linksBetween() {
    if (between.empty()) {
      between = topology->links();
      for (Topology::Link &link : between)
        if (link.level == Topology::Level::Intra)
          link.latency = {};
    }
    return between;
  }

  PlayedNetwork networkOf(const Prepared &p, const std::vector<Topology::Link> &links) const {
    PlayedNetwork network(*topology, placement, links);
    network.helpers = p.collective->helpers();
    return network;
  }

  Seconds timeOf(const Prepared &p, Bytes bytes, const std::vector<Topology::Link> &links) const {
    if (p.form)
      return p.form->time(bytes, links, p.reduction).value_or(never);
    PlayOptions options;
    options.reduction = p.reduction;
    Result<Seconds> time = p.collective->play(bytes, networkOf(p, links), options);
    return time ? *time : never;
  }

  Candidate price(const Spelled &spelled, const CollectiveSpec &spec, int segments, const Job &job) {
    Prepared &p = prepare(spelled, spec, segments, job);
    int hosts = job.layout.hosts;
    bool small = segments > 1 && spec.bytes.value < segments * smallestSegment;
    Seconds played = timeOf(p, small ? Bytes{segments * smallestSegment} : spec.bytes, topology->links());
    Candidate c;
    c.algorithm = spelled.name;
    c.chunks = segments;
    std::string asked = p.form ? text(p.form->exact() ? "closed form, %s" : "estimate, %s", p.form->how().c_str())
                               : std::string("played on the topology");
    c.why.how = text("the step program of %d ranks %s%s", p.ranks, asked.c_str(),
                     segments > 1 ? text(", %d segments", segments).c_str() : "");
    addTerms(c, {played, p.empty, p.emptyInter}, p.serialMessages, p.uplinks, job, toString(spec.bytes));
    c.flowRanks = p.spread.ranks;
    c.flowsOfRank = p.spread.flows;
    c.flowRounds = p.spread.rounds;
    if (p.noise)
      c.delay = std::make_shared<PlayedDelay>(p.noise, spec.bytes);
    else
      c.noisePerMessage = chainNoise(linksOf(hosts).profile.bulkSigma, p.ranks, c.serialMessages);
    sumUp(c);
    return c;
  }

  /// Where the cluster says how its switches hash: the same with source ports that the plan chooses, and more connections where that
  /// pays. All times are of the ways that these ports take.
  void addRouted(std::vector<Candidate> &all, const Candidate &plain, Prepared &p, const CollectiveSpec &spec,
                 const Job &job) {
    const FabricProfile &nics = cluster.inter.profile;
    if (!cluster.flowHash.chooses() || nics.adaptiveRouting || !p.collective || job.layout.hosts < 2)
      return;
    int least = std::max(1, nics.collisionFlowsPerNic);
    for (int connections = least; connections <= std::max(least, nics.mostFlowsPerNic); connections *= 2) {
      auto [found, isNew] = p.paths.try_emplace(connections);
      if (isNew)
        found->second = planPaths(*p.collective, networkOf(p, topology->links()), connections);
      if (!found->second)
        continue;
      PlayedNetwork network = networkOf(p, topology->links());
      network.chosen = found->second->ways;
      bool small = plain.chunks > 1 && spec.bytes.value < plain.chunks * smallestSegment;
      PlayOptions options;
      options.reduction = p.reduction;
      Result<Seconds> played =
          p.collective->play(small ? Bytes{plain.chunks * smallestSegment} : spec.bytes, network, options);
      if (!played)
        continue;
      Candidate c = plain;
      c.path = found->second->path;
      c.channels = connections;
      c.fixed = c.latency = c.wire = {};
      c.why.parts.clear();
      addTerms(c, {*played, p.empty, p.emptyInter}, p.serialMessages, p.uplinks, job, toString(spec.bytes));
      addTerm(c, &Candidate::fixed, "path", nics.flowCost * (double(connections - least) * c.serialMessages),
              found->second->how);
      sumUp(c);
      keepCheapest(all, std::move(c));
    }
  }

  const LinkClass &linksOf(int hosts) const { return hosts > 1 ? cluster.inter : cluster.intra; }

  /// Of a collective alone; of one of empty messages; and of that with latency between hosts only.
  struct Times {
    Seconds played, empty, emptyInter;
  };
  /// What a candidate's time is made of, and its place for draws.
  void addTerms(Candidate &c, const Times &times, int64_t serialMessages, const UplinkFlows &uplinks, const Job &job,
                const std::string &size) const {
    int hosts = job.layout.hosts;
    c.nodes = hosts;
    c.why.name = c.algorithm;
    addTerm(c, &Candidate::fixed, "launch", job.members.launch, "device.launch of the cluster file");
    addTerm(c, &Candidate::latency, hosts > 1 ? "latency between hosts" : "latency",
            hosts > 1 ? times.emptyInter : times.empty,
            text("longest chain of %lld empty messages", (long long)serialMessages));
    if (hosts > 1)
      addTerm(c, &Candidate::fixed, "latency inside hosts", times.empty - times.emptyInter,
              "what the links inside hosts add to it");
    addTerm(c, &Candidate::wire, "transfer", times.played - times.empty,
            text("%s: links at their bandwidth, first come first served, and reduction at %s; beyond the latency",
                 size.c_str(), toString(job.members.reduction).c_str()));
    if (cluster.contention) { // else none collide
      c.flows = uplinks.total;
      c.flowsPerLeaf = uplinks.perLeaf;
      c.streamsPerNic = uplinks.streams;
    }
    double each = linksOf(hosts).latency.value;
    c.serialMessages = each > 0 ? std::max(1.0, c.latency.value / each) : double(serialMessages);
  }

  /// An all_to_all of blocks that differ in size, by every algorithm that serves it.
  std::vector<Candidate> raggedCandidates(const CollectiveSpec &spec, const Job &job) {
    int size = groupSize(*spec.groups);
    std::vector<Candidate> all;
    std::vector<int64_t> empty; // a byte for each message that there is
    for (int64_t bytes : *spec.counts)
      empty.push_back(bytes > 0);
    for (const algorithms::Algorithm &algorithm : algorithms::registry()) {
      if (!algorithms::servesRagged(algorithm, size))
        continue;
      algorithms::StepOptions options;
      options.ragged = true;
      PlayedCollective collective(algorithm, spec.kind, *spec.groups, options, *topology, placement);
      auto play = [&](const std::vector<int64_t> &counts, const std::vector<Topology::Link> &links) {
        PlayOptions options;
        options.counts = &counts;
        Result<Seconds> time = collective.play({0}, PlayedNetwork(*topology, placement, links), options);
        return time ? *time : never;
      };
      Candidate c;
      c.algorithm = algorithm.name;
      c.why.how = text("the ragged step program of %d ranks played on the topology", size);
      Seconds none = play(empty, topology->links());
      addTerms(c, {play(*spec.counts, topology->links()), none, play(empty, linksBetween())},
               collective.serialMessages(), collective.uplinks(PlayedNetwork(*topology, placement)), job,
               "blocks of " + toString(spec.bytes) + " from the rank that sends most");
      c.noisePerMessage = chainNoise(linksOf(job.layout.hosts).profile.bulkSigma, size, c.serialMessages);
      c.exposedNodes = job.layout.allHosts;
      sumUp(c);
      all.push_back(std::move(c));
    }
    return all;
  }

  const Cluster &cluster;
  const Placement &placement;
  Result<Topology> topology;           ///< read from a checked file: it builds
  std::vector<Topology::Link> between; ///< see linksBetween
  mutable std::mutex mutex;
  std::set<std::string> withheld; ///< algorithms that the cluster does not grant, with the reason
  Packings packings;
  std::map<std::tuple<bool, std::vector<std::vector<int>>, std::vector<std::pair<int, int>>>, Job> jobs;
  std::map<std::tuple<std::string, CollectiveKind, int, const Job *>, Prepared> prepared;
};

} // namespace

std::unique_ptr<EngineModel> makeBraidEngine(const Cluster &cluster, const Placement &placement) {
  return std::make_unique<BraidEngine>(cluster, placement);
}

} // namespace braid::cost
