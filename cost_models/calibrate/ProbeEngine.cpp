//===- ProbeEngine.cpp - a cluster's links re-based to a job of Braid's runtime -----------------------------------===//
//
// A price of Braid's engine is a step program played on the topology, too dear for each step of least squares. It comes in
// parts, fixed + latency + wire, and with devices that reduce in no time it says what of the wire's part is reduction. So near
// the factors (l0, b0, r0) it takes about fixed + latency l / l0 + (wire - reduction) b0 / b + reduction r0 / r. Factors are
// found for these parts, the rows priced again where they lead, and so on until they stay.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/Rebase.h"
#include "pricing/Delay.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace braid::cost {

namespace {

/// The cluster of a job, and the prices on it.
class Job {
public:
  Job(const Cluster &cluster, const Placement &placement, bool between, const Factors &factors)
      : factors(factors), between(between),
        pricer(rebased(cluster, between, factors), placement, Engine::Braid, BucketForm::OneLaunch),
        freely(withoutReduction(rebased(cluster, between, factors)), placement, Engine::Braid, BucketForm::OneLaunch) {}

  static Cluster rebased(Cluster c, bool between, const Factors &factors) {
    LinkClass &links = between ? c.inter : c.intra;
    links.latency = links.latency * factors.latency;
    links.bandwidth = links.bandwidth * factors.bandwidth;
    c.device.reduction = c.device.reduction * factors.reduction;
    if (between) {
      c.spineLatency = c.spineLatency * factors.latency;
      c.coreLatency = c.coreLatency * factors.latency;
    }
    return c;
  }

  const std::vector<Candidate> &candidates(Bytes bytes) const { return pricer.candidates(asked(bytes)); }
  /// Nothing where the algorithm is none for this collective; "": the cheapest.
  const Candidate *find(const std::string &algorithm, Bytes bytes) const { return find(pricer, algorithm, bytes); }

  /// A candidate, its latency with the mean noise of messages, which medians hold and prices without noise do not, and what of
  /// its wire's part is reduction.
  struct Parts {
    const Candidate *all;
    Seconds latency, reduction;
    Seconds time() const { return all->fixed + latency + all->wire; }
  };
  Parts parts(const Candidate &c, Bytes bytes) const {
    Seconds rest = c.time - find(freely, c.algorithm, bytes)->time;
    const LinkClass &links = between ? pricer.cluster().inter : pricer.cluster().intra;
    return {&c, c.latency + meanDelay(c, links.profile), std::clamp(rest, Seconds{}, c.wire)};
  }
  /// Its time where the factors are these instead of this job's.
  Seconds near(const Parts &parts, const Factors &other) const {
    const Candidate &c = *parts.all;
    return c.fixed + parts.latency * (other.latency / factors.latency) +
           (c.wire - parts.reduction) * (factors.bandwidth / other.bandwidth) +
           parts.reduction * (factors.reduction / other.reduction);
  }
  std::vector<Seconds> near(const std::vector<Parts> &some, const Factors &other) const {
    std::vector<Seconds> times;
    for (const Parts &one : some)
      times.push_back(near(one, other));
    return times;
  }

  const Factors factors;

private:
  static Cluster withoutReduction(Cluster c) {
    c.device.reduction = c.device.reduction * 1e9;
    c.intra.profile.bulkMean = c.inter.profile.bulkMean = 0; // not asked for
    return c;
  }
  static CollectiveSpec asked(Bytes bytes) {
    CollectiveSpec spec;
    spec.bytes = bytes;
    return spec;
  }
  static const Candidate *find(const Pricer &prices, const std::string &algorithm, Bytes bytes) {
    for (const Candidate &c : prices.candidates(asked(bytes)))
      if (algorithm.empty() || c.algorithm == algorithm)
        return &c;
    return nullptr;
  }

  bool between;
  Pricer pricer, freely;
};

} // namespace

static std::string yamlOf(const Cluster &c, const Cluster &job, bool between, const std::string &source) {
  auto key = [&](const char *indent, const char *name, const std::string &value) {
    return text("%s%s: {value: \"%s\", source: \"%s\"}\n", indent, name, value.c_str(), source.c_str());
  };
  auto seconds = [](Seconds s) { return text("%.6g us", s.value * 1e6); };
  const LinkClass &links = between ? job.inter : job.intra;
  std::string out = text("%s:\n", between ? "inter" : "intra");
  out += key("  ", "latency", seconds(links.latency));
  out += key("  ", "bandwidth", text("%.6g GB/s", links.bandwidth.value / 1e9));
  if (between && c.spineLatency.value > 0) {
    out += "topology:\n" + key("  ", "spine_latency", seconds(job.spineLatency));
    if (c.coreLatency.value > 0)
      out += key("  ", "core_latency", seconds(job.coreLatency));
  }
  return out + "device:\n" + key("  ", "reduction", text("%.6g GB/s", job.device.reduction.value / 1e9));
}

Result<ProbeResult> probeEngine(const MeasuredTable &table, const Cluster &cluster, const Placement &placement) {
  ProbeResult result;
  result.model = "braid";
  result.notes = table.notes;
  std::set<int> hosts;
  for (size_t rank = 0; rank < placement.deviceOf.size(); ++rank)
    hosts.insert(placement.hostOf(int(rank), cluster));
  bool between = hosts.size() > 1;
  Job profile(cluster, placement, between, {});
  std::vector<MeasuredRow> rows;
  for (const MeasuredRow &row : table.rows) {
    std::string why = row.kind != CollectiveKind::AllReduce ? std::string("no all_reduce")
                      : row.ranks() != int(placement.deviceOf.size())
                          ? text("%d ranks, placed are %d", row.ranks(), int(placement.deviceOf.size()))
                      : row.hostsKnown && row.hosts != int(hosts.size())
                          ? text("measured on %d hosts, placed on %d (--placement says where the ranks are)", row.hosts,
                                 int(hosts.size()))
                      : !profile.find(row.algorithm, row.bytes) ? "not offered: algorithm '" + row.algorithm + "'"
                                                                : "";
    if (why.empty())
      rows.push_back(row);
    else
      result.notes.push_back("line " + std::to_string(row.line) + " set aside: " + why);
  }
  if (rows.empty())
    return Error{"probe: expected at least one all_reduce of Braid's runtime on the ranks that are placed, got none" +
                     (result.notes.empty() ? "" : " (" + result.notes.front() + ")"),
                 table.path};

  auto job = std::make_unique<Job>(cluster, placement, between, Factors{});
  Position position;
  for (int round = 0; round < 12; ++round) { // setting: two are enough mostly
    std::vector<Job::Parts> parts;
    for (const MeasuredRow &row : rows)
      parts.push_back(job->parts(*job->find(row.algorithm, row.bytes), row.bytes));
    position = rebase(result, rows, [&](const Factors &other) { return job->near(parts, other); }, true);
    auto moved = [](double to, double from) { return std::abs(std::log(to / from)) > 1e-4; }; // setting: tolerance
    const Factors from = job->factors, &to = position.best;
    job = std::make_unique<Job>(cluster, placement, between, to);
    if (!moved(to.latency, from.latency) && !moved(to.bandwidth, from.bandwidth) &&
        !moved(to.reduction, from.reduction))
      break;
  }
  auto timeOf = [](const Job &on, const MeasuredRow &row) {
    return on.parts(*on.find(row.algorithm, row.bytes), row.bytes).time();
  };
  for (const MeasuredRow &row : rows)
    result.rows.push_back({row, timeOf(profile, row), timeOf(*job, row)});
  if (std::optional<Error> far = outOfReach(result, table, cluster))
    return *far;
  for (Bytes bytes : probedSizes()) {
    std::vector<std::string> algorithms;
    std::vector<Seconds> before;
    std::vector<Job::Parts> parts;
    for (const Candidate &c : job->candidates(bytes)) {
      algorithms.push_back(c.algorithm);
      before.push_back(profile.parts(*profile.find(c.algorithm, bytes), bytes).time());
      parts.push_back(job->parts(c, bytes));
    }
    result.choices.push_back(
        chosen(position, bytes, algorithms, before, [&](const Factors &other) { return job->near(parts, other); }));
  }
  result.yaml = yamlOf(cluster, Job::rebased(cluster, between, position.best), between, sourceOf(result, table));
  return result;
}

} // namespace braid::cost
