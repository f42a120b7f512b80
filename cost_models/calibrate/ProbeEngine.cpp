//===- ProbeEngine.cpp - a cluster's links re-based to a job of Braid's runtime -----------------------------------===//
//
// A price of Braid's engine is a step program played on the topology, too dear for each step of least squares. It comes in
// parts, fixed + latency + wire, so near a place (l0, b0) a row takes about fixed + latency l / l0 + wire b0 / b. The
// factors are found for these parts, the rows priced again where they lead, and so on until they stay.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/Rebase.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace braid::cost {

namespace {

/// The cluster of a job, and the prices on it.
class Job {
public:
  Job(Cluster cluster, const Placement &placement, bool between, double latency, double bandwidth)
      : latency(latency), bandwidth(bandwidth), pricer(rebased(std::move(cluster), between, latency, bandwidth),
                                                       placement, Engine::Braid, BucketForm::OneLaunch) {}

  static Cluster rebased(Cluster c, bool between, double latency, double bandwidth) {
    LinkClass &links = between ? c.inter : c.intra;
    links.latency = links.latency * latency;
    links.bandwidth = links.bandwidth * bandwidth;
    if (between) {
      c.spineLatency = c.spineLatency * latency;
      c.coreLatency = c.coreLatency * latency;
    }
    links.profile.bulkMean = 0; // no quantiles are asked for
    return c;
  }

  const std::vector<Candidate> &candidates(Bytes bytes) const {
    CollectiveSpec spec;
    spec.bytes = bytes;
    return pricer.candidates(spec);
  }
  /// Nothing where the algorithm is none for this collective; "": the cheapest.
  const Candidate *find(const std::string &algorithm, Bytes bytes) const {
    for (const Candidate &c : candidates(bytes))
      if (algorithm.empty() || c.algorithm == algorithm)
        return &c;
    return nullptr;
  }
  /// The candidate's time where the factors are these instead of this job's.
  Seconds near(const Candidate &c, double newLatency, double newBandwidth) const {
    return c.fixed + c.latency * (newLatency / latency) + c.wire * (bandwidth / newBandwidth);
  }

  const double latency, bandwidth;

private:
  Pricer pricer;
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
  return out;
}

Result<ProbeResult> probeEngine(const MeasuredTable &table, const Cluster &cluster, const Placement &placement) {
  ProbeResult result;
  result.model = "braid";
  result.notes = table.notes;
  std::set<int> hosts;
  for (size_t rank = 0; rank < placement.deviceOf.size(); ++rank)
    hosts.insert(placement.hostOf(int(rank), cluster));
  bool between = hosts.size() > 1;
  Job profile(cluster, placement, between, 1, 1);
  std::vector<MeasuredRow> rows;
  for (const MeasuredRow &row : table.rows) {
    std::string why = row.kind != CollectiveKind::AllReduce ? std::string("no all_reduce")
                      : row.ranks() != int(placement.deviceOf.size())
                          ? text("%d ranks, placed are %d", row.ranks(), int(placement.deviceOf.size()))
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

  auto job = std::make_unique<Job>(cluster, placement, between, 1, 1);
  for (int round = 0; round < 12; ++round) {
    std::vector<const Candidate *> parts;
    for (const MeasuredRow &row : rows)
      parts.push_back(job->find(row.algorithm, row.bytes));
    rebase(result, rows, [&](double latency, double bandwidth) {
      std::vector<Seconds> times;
      for (const Candidate *c : parts)
        times.push_back(job->near(*c, latency, bandwidth));
      return times;
    });
    bool stays = std::abs(std::log(result.latency.factor / job->latency)) < 1e-4 &&
                 std::abs(std::log(result.bandwidth.factor / job->bandwidth)) < 1e-4;
    job = std::make_unique<Job>(cluster, placement, between, result.latency.factor, result.bandwidth.factor);
    if (stays)
      break;
  }
  for (const MeasuredRow &row : rows)
    result.rows.push_back(
        {row, profile.find(row.algorithm, row.bytes)->time, job->find(row.algorithm, row.bytes)->time});
  for (Bytes bytes : probedSizes()) {
    std::vector<std::string> algorithms;
    std::vector<Seconds> before;
    std::vector<const Candidate *> parts;
    for (const Candidate &c : job->candidates(bytes)) {
      algorithms.push_back(c.algorithm);
      before.push_back(profile.find(c.algorithm, bytes)->time);
      parts.push_back(&c);
    }
    result.choices.push_back(chosen(result, bytes, algorithms, before, [&](double latency, double bandwidth) {
      std::vector<Seconds> times;
      for (const Candidate *c : parts)
        times.push_back(job->near(*c, latency, bandwidth));
      return times;
    }));
  }
  result.yaml = yamlOf(cluster, Job::rebased(cluster, between, result.latency.factor, result.bandwidth.factor), between,
                       sourceOf(result, table));
  return result;
}

} // namespace braid::cost
