//===- ProbeTest.cpp - a job's latency and bandwidth from a few rows --------------------------------------------------===//
#include "braid/cost_models/Probe.h"
#include "MeasuredTables.h"
#include "cost_models/pricing/Delay.h"
#include <cmath>

using namespace braid;
using namespace braid::cost;
using Catch::Detail::Approx;

TEST_CASE("two rows re-base a job, and say which choices stand", "[calibrate]") {
  Cluster cluster = shipped("h100-ib-ndr200-64x4");
  for (const ConstantInfo &info : constantsOf(CalibratedModel::Nccl))
    cluster.ncclFit.push_back(info.start);
  FittedConstants slow = cluster.ncclFit; // twice the latency, 0.8 of the bandwidth
  for (int i = ncclfit::StartUp; i < ncclfit::Bandwidth; ++i)
    slow[i] *= 2;
  slow[ncclfit::Bandwidth] *= 0.8;
  slow[ncclfit::Bandwidth + 2] *= 0.8;
  MeasuredTable table;
  for (int64_t bytes : {1 << 10, 1 << 28}) {
    MeasuredRow row;
    row.hosts = 16;
    row.perHost = 4;
    row.algorithm = "ring";
    row.bytes = {bytes};
    row.time = predictRow(row, cluster, CalibratedModel::Nccl, slow)->predicted;
    table.rows.push_back(row);
  }
  Result<ProbeResult> probe = probeFit(table, cluster, CalibratedModel::Nccl);
  REQUIRE(probe);
  CHECK(probe->latency.factor == Approx(2).epsilon(0.06));
  CHECK(probe->bandwidth.factor == Approx(0.8).epsilon(0.06));
  CHECK(probe->choices.size() == 21);
  CHECK(probe->choices.front().after == "tree");
  CHECK(probe->choices.front().regret < 1.01);
  double worst = 1;
  for (const ProbedChoice &choice : probe->choices)
    worst = std::max(worst, choice.regret);
  CHECK(worst > 1.002); // near the crossing it is not certain
  // One long row alone says little of latency: its factor stays near 1, and its interval is wider.
  table.rows.erase(table.rows.begin());
  Result<ProbeResult> half = probeFit(table, cluster, CalibratedModel::Nccl);
  REQUIRE(half);
  CHECK(half->latency.deviation > 2 * probe->latency.deviation);
}

TEST_CASE("a job a little slower than a profile whose prices stop at the links' rate", "[calibrate]") {
  // A step up in bandwidth shows nothing there, and one down does: rows are met from below, not left where they were.
  Cluster cluster = shipped("h100-ib-ndr200-64x4");
  for (const ConstantInfo &info : constantsOf(CalibratedModel::Nccl))
    cluster.ncclFit.push_back(info.start);
  cluster.ncclFit[ncclfit::Bandwidth + 2] *= 3;
  for (double slower : {1.02, 1.04, 1.1}) {
    MeasuredTable table;
    for (int64_t bytes : {1 << 10, 1 << 28}) {
      MeasuredRow row;
      row.hosts = 16;
      row.perHost = 4;
      row.bytes = {bytes};
      row.algorithm = "ring";
      row.time = predictRow(row, cluster, CalibratedModel::Nccl, cluster.ncclFit)->predicted * slower;
      table.rows.push_back(row);
    }
    Result<ProbeResult> probe = probeFit(table, cluster, CalibratedModel::Nccl);
    REQUIRE(probe);
    CAPTURE(slower, probe->bandwidth.factor);
    CHECK(probe->bandwidth.factor < 1);
    for (const ProbedRow &row : probe->rows)
      CHECK(row.after / row.row.time == Approx(1).epsilon(0.01));
  }
}

// More than 1.26 times the bandwidth of the 4x2 would not show: then the way from device to NIC is the bottleneck.
TEST_CASE("two rows of Braid's runtime re-base a cluster's links", "[calibrate]") {
  struct Planted {
    const char *cluster;
    double latency, bandwidth;
  };
  for (Planted planted : {Planted{"h100-roce-4x2", 1.3, 0.8}, Planted{"h100-ib-ndr-4x2", 0.5, 1.2},
                          Planted{"h100-ib-ndr-1x8", 1.3, 0.8}, Planted{"h100-roce-one-leaf-16x8", 1, 0.6}}) {
    Cluster profile = shipped(planted.cluster), truth = profile;
    LinkClass &links = truth.hosts > 1 ? truth.inter : truth.intra;
    links.latency = links.latency * planted.latency;
    links.bandwidth = links.bandwidth * planted.bandwidth;
    truth.spineLatency = truth.spineLatency * (truth.hosts > 1 ? planted.latency : 1);
    Placement placement;
    for (int rank = 0; rank < std::min(16, profile.ranks()); ++rank)
      placement.deviceOf.push_back(rank);
    Pricer before(profile, placement, Engine::Braid, BucketForm::OneLaunch),
        after(truth, placement, Engine::Braid, BucketForm::OneLaunch);
    MeasuredTable table;
    for (int64_t bytes : {1 << 10, 16 << 20}) {
      CollectiveSpec spec;
      spec.bytes = {bytes};
      MeasuredRow row;
      row.perHost = int(placement.deviceOf.size());
      row.hostsKnown = false; // the placement says it
      row.bytes = spec.bytes;
      for (const Candidate &c : before.candidates(spec))
        if (c.chunks == 1 && row.algorithm.empty())
          row.algorithm = c.algorithm;
      for (const Candidate &c : after.candidates(spec))
        if (c.algorithm == row.algorithm) // a median holds the mean noise of messages
          row.time = c.time + meanDelay(c, links.profile);
      table.rows.push_back(row);
    }
    Result<ProbeResult> probe = probeEngine(table, profile, placement);
    REQUIRE(probe);
    CAPTURE(planted.cluster, probe->latency.factor, probe->bandwidth.factor, probe->reduction->factor,
            toText(*probe, 1.1));
    CHECK(probe->latency.factor == Approx(planted.latency).epsilon(0.05));
    CHECK(probe->bandwidth.factor == Approx(planted.bandwidth).epsilon(0.05));
    for (const ProbedRow &row : probe->rows)
      CHECK(row.after / row.row.time == Approx(1).epsilon(0.02));
  }
  // What is no all_reduce of these ranks is set aside, and said.
  MeasuredTable table;
  table.rows.emplace_back();
  table.rows[0].perHost = 3;
  table.rows[0].line = 7;
  Placement placement;
  placement.deviceOf = {0, 1};
  Result<ProbeResult> none = probeEngine(table, shipped("h100-roce-4x2"), placement);
  REQUIRE(!none);
  CHECK(none.error().text().find("line 7 set aside: 3 ranks, placed are 2") != std::string::npos);
  // Where no row is met nothing is re-based: here both take less than a kernel's launch, which is no link's.
  Cluster cluster = shipped("h100-roce-4x2");
  table.rows.assign(2, MeasuredRow());
  for (int i = 0; i < 2; ++i) {
    table.rows[size_t(i)].perHost = 2;
    table.rows[size_t(i)].hostsKnown = false;
    table.rows[size_t(i)].line = i + 1;
    table.rows[size_t(i)].bytes = {i ? 1 << 16 : 1 << 10};
    table.rows[size_t(i)].time = cluster.device.launch * (i ? 0.6 : 0.5);
  }
  Result<ProbeResult> unmet = probeEngine(table, cluster, placement);
  REQUIRE(!unmet);
  CHECK(unmet.error().text().find("expected a latency and a bandwidth that meet one row at least within 1.3") !=
        std::string::npos);
}
