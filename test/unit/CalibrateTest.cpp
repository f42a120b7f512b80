//===- CalibrateTest.cpp - fitting constants to measured tables -------------------------------------------------------===//
#include "MeasuredTables.h"
#include <cmath>
#include <stdlib.h>
#include <unistd.h>

using namespace braid;
using namespace braid::cost;
using Catch::Detail::Approx;

static const std::string measured = BRAID_SOURCE_DIR "/test/data/measured/";

TEST_CASE("a fit finds the constants that made a table", "[calibrate]") {
  for (CalibratedModel model : {CalibratedModel::Nccl, CalibratedModel::Messages}) {
    Cluster cluster = shipped(model == CalibratedModel::Nccl ? "h100-ib-ndr200-64x4" : "cpu-ib-ndr200-64x1");
    FittedConstants truth;
    int i = 0;
    for (const ConstantInfo &info : constantsOf(model)) // each off by a third of its width, to either side
      truth.push_back(info.start * std::exp(info.width * (i++ % 2 ? 0.33 : -0.33)));
    Result<FitResult> fit = fitTable(synthetic(model, cluster, truth), cluster);
    REQUIRE(fit);
    CAPTURE(name(model), fit->medianError(false));
    CHECK(fit->model == model);
    CHECK(fit->medianError(false) < 0.01);
    CHECK(fit->worstRegret(false) < 1.02); // ties may go either way
    int inside = 0;
    for (size_t k = 0; k < truth.size(); ++k)
      inside += !fit->constants[k].fitted || (fit->constants[k].low <= truth[k] && truth[k] <= fit->constants[k].high);
    CHECK(inside >= int(truth.size()) - 1); // 95 % each
    // Twice: the same to the last digit.
    CHECK(toJson(*fit, synthetic(model, cluster, truth)) ==
          toJson(*fitTable(synthetic(model, cluster, truth), cluster), synthetic(model, cluster, truth)));
  }
}

TEST_CASE("a constant that a table confirms is one that it shows, with its interval", "[calibrate]") {
  Cluster cluster = shipped("h100-ib-ndr200-64x4");
  FittedConstants published;
  for (const ConstantInfo &info : constantsOf(CalibratedModel::Nccl))
    published.push_back(info.start);
  MeasuredTable table = synthetic(CalibratedModel::Nccl, cluster, published);
  Result<FitResult> fit = fitTable(table, cluster);
  REQUIRE(fit);
  for (const FittedConstant &c : fit->constants)
    if (std::string key = c.info->key; key == "startup" || key == "bandwidth_simple" || key == "tree_bandwidth") {
      CAPTURE(key);
      CHECK(c.fitted);
      CHECK(c.low < c.value);
      CHECK(c.value < c.high);
    }
  // The last sizes all too fast for it: said, with the worst row.
  for (MeasuredRow &row : table.rows)
    if (row.bytes.value >= 1 << 24)
      row.time = row.time * (row.algorithm == "ring" ? 0.6 : 0.9);
  fit = fitTable(table, cluster);
  REQUIRE(fit);
  CHECK(toText(*fit, table).find("worst row: ") != std::string::npos);
}

TEST_CASE("one slow row does not bend a fit", "[calibrate]") {
  Cluster cluster = shipped("h100-ib-ndr200-64x4");
  FittedConstants truth = startsOf(CalibratedModel::Nccl);
  MeasuredTable table = synthetic(CalibratedModel::Nccl, cluster, truth);
  table.rows[5].time = table.rows[5].time * 5;
  Result<FitResult> fit = fitTable(table, cluster);
  REQUIRE(fit);
  CHECK(fit->medianError(false) < 0.02);
}

TEST_CASE("a fit says which prices it changes and which of them were measured", "[calibrate]") {
  auto covered = [](const char *algorithm) {
    MeasuredTable table = parsed(csv([](int, double, double, double, double) {}));
    for (MeasuredRow &row : table.rows)
      row.algorithm = algorithm;
    Result<FitResult> fit = fitTable(table, shipped("h100-ib-ndr-2x8"));
    REQUIRE(fit);
    CHECK(toYaml(*fit, table, "/base.yaml", "mine").find("# not covered: all_to_all") != std::string::npos);
    return toText(*fit, table);
  };
  std::string rings = covered("ring");
  CHECK(rings.find("fitted to: all_reduce by ring\n") != std::string::npos);
  CHECK(rings.find("no row is of it: all_gather by ring, all_reduce by tree, broadcast by ring") != std::string::npos);
  CHECK(rings.find("not covered: all_to_all, permute") != std::string::npos);
  std::string chosen = covered("");
  CHECK(chosen.find("fitted to: all_reduce by the library's choice\n") != std::string::npos);
  CHECK(chosen.find("all_reduce by tree") == std::string::npos);
}

TEST_CASE("counts of constants: 16, of one scale 8; the scale's own stay", "[calibrate]") {
  Cluster cluster = shipped("h100-ib-ndr-2x8");
  Result<MeasuredTable> table = readMeasured(measured + "dstack_nebius_ib_2x8_h100.csv");
  REQUIRE(table);
  Result<FitResult> fit = fitTable(*table, cluster);
  REQUIRE(fit);
  CHECK(fit->fittedCount() <= 8);
  for (const FittedConstant &constant : fit->constants)
    if (constant.info->ofScale || !constant.fitted)
      CHECK(constant.value == constant.info->start);
}

TEST_CASE("jobs are told apart by their latency, a new one by its one smallest row", "[calibrate]") {
  Cluster cluster = shipped("cpu-ib-ndr200-64x1");
  FittedConstants truth = startsOf(CalibratedModel::Messages);
  MeasuredTable table = synthetic(CalibratedModel::Messages, cluster, truth);
  for (MeasuredRow &row : table.rows) {
    row.job = std::to_string(row.hosts);
    row.time = predictRow(row, cluster, CalibratedModel::Messages, truth, row.hosts == 8 ? 2 : 1)->predicted;
  }
  Result<FitResult> fit = fitTable(table, cluster);
  REQUIRE(fit);
  CHECK(fit->rebase["8"] / fit->rebase["2"] == Approx(2).epsilon(0.03));
  FitOptions options;
  options.heldOut = [](const MeasuredRow &row) { return row.job == "8"; };
  fit = fitTable(table, cluster, options);
  REQUIRE(fit);
  CHECK(fit->rebase["8"] / fit->rebase["2"] == Approx(2).epsilon(0.05));
  CHECK(fit->medianError(true) < 0.03);
}

TEST_CASE("a calibrated cluster file is read, hashed and priced from", "[calibrate]") {
  Cluster plain = shipped("h100-ib-ndr200-64x4");
  Result<MeasuredTable> table = readMeasured(measured + "marenostrum5_ib_ndr200_nccl_allreduce.csv");
  REQUIRE(table);
  Result<FitResult> fit = fitTable(*table, plain);
  REQUIRE(fit);
  char path[] = "/tmp/calibrated_XXXXXX";
  int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  std::string yaml = toYaml(*fit, *table, plain.path, "calibrated");
  REQUIRE(write(descriptor, yaml.data(), yaml.size()) == ssize_t(yaml.size()));
  close(descriptor);
  Result<Cluster> cluster = readCluster(path);
  unlink(path);
  INFO((cluster ? "" : cluster.error().text()) << "\n" << yaml);
  REQUIRE(cluster);
  CHECK(cluster->hash != plain.hash);
  for (const std::string &assumption : cluster->assumptions)
    CHECK(assumption.find("no source given") == std::string::npos);
  // What the pricer says is what the fit said.
  auto everyone = std::make_shared<RankGroups>();
  everyone->groups.emplace_back();
  Placement placement;
  for (int rank = 0; rank < 64; ++rank) {
    everyone->groups[0].push_back(rank);
    placement.deviceOf.push_back(rank);
  }
  cluster->inter.profile = cluster->intra.profile = {};
  Pricer pricer(*cluster, placement, Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec;
  spec.groups = everyone;
  for (const Residual &residual : fit->residuals)
    if (residual.row.hosts == 16) {
      spec.bytes = residual.row.bytes;
      for (const Candidate &c : pricer.candidates(spec))
        if (c.algorithm == residual.row.algorithm && c.protocol == residual.protocol)
          CHECK(c.time / residual.predicted == Approx(1).epsilon(1e-4));
    }
}

TEST_CASE("a fitted constant is near its start, or 0, which counts for nothing", "[calibrate]") {
  auto read = [](const std::string &key, const std::string &value) {
    std::string yaml = "base: " + std::string(BRAID_SOURCE_DIR) + "/cost_models/clusters/h100-ib-ndr200-64x4.yaml\n" +
                       "name: written\nsource: a test\ncalibration:\n  nccl:\n";
    for (const ConstantInfo &info : constantsOf(CalibratedModel::Nccl))
      yaml += std::string("    ") + info.key + ": " + (info.key == key ? value : std::to_string(info.start)) + "\n";
    char path[] = "/tmp/constants_XXXXXX";
    int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, yaml.data(), yaml.size()) == ssize_t(yaml.size()));
    close(descriptor);
    Result<Cluster> cluster = readCluster(path);
    unlink(path);
    return cluster;
  };
  auto error = [&](const std::string &key, const std::string &value) {
    Result<Cluster> cluster = read(key, value);
    return cluster ? "" : cluster.error().message;
  };
  // Hops that count for nothing cost nothing: the price is finite and below that of hops that count.
  Result<Cluster> nothing = read("ring_hop_ll", "0"), usual = read("ring_hop_ll", "1");
  REQUIRE(nothing);
  REQUIRE(usual);
  auto price = [](const Cluster &cluster) {
    MeasuredRow row;
    row.hosts = 4;
    row.perHost = 4;
    row.algorithm = "ring";
    row.bytes = {1024};
    return predictRow(row, cluster, CalibratedModel::Nccl, cluster.ncclFit)->predicted.value;
  };
  CHECK(price(*nothing) > 0);
  CHECK(price(*nothing) < price(*usual));
  for (const char *key : {"startup", "tree_hop_simple", "long_trees", "contention", "tree_chunk", "loaded_ring"})
    CHECK(error(key, "0") == "");
  CHECK(error("loaded_ring", "1e-9") ==
        "calibration.nccl.loaded_ring: expected 0 (it counts for nothing) or a number from 0.0003 to 300, got 1e-09");
  CHECK(error("bandwidth_ll", "0") == "calibration.nccl.bandwidth_ll: expected a number from 0.001 to 1000, got 0");
  CHECK(error("startup", "1e4") == "calibration.nccl.startup: expected a number from 0 to 1000, got 1e4");
}

TEST_CASE("keys of a cluster file can be set from outside", "[calibrate]") {
  std::string path = BRAID_SOURCE_DIR "/cost_models/clusters/h100-roce-16x8.yaml";
  Result<Cluster> cluster = readCluster(path, {{"inter.latency", "7 us"}, {"inter.profile.queue_pairs", "16"}});
  REQUIRE(cluster);
  CHECK(cluster->inter.latency.value == Approx(7e-6));
  CHECK(cluster->inter.profile.collisionFlowsPerNic == 16);
  cluster = readCluster(path, {{"inter.profile.queue_pairs", "16"}, {"inter.profile.distinct_source_ports", "off"}});
  REQUIRE(cluster);
  CHECK(cluster->inter.profile.collisionFlowsPerNic == 1); // one source port, one way
  cluster = readCluster(path, {{"inter.profile.adaptive_routing", "on"}});
  REQUIRE(cluster);
  CHECK(cluster->inter.profile.collisionUplinks == 0);
  CHECK(readCluster(path, {{"inter.latensy", "7 us"}}).error().text().find("did you mean") != std::string::npos);
  CHECK(readCluster(path, {{"inter.latency", "7"}}).error().text().find("unit") != std::string::npos);
}

TEST_CASE("percentiles per iteration give a fabric's noise", "[calibrate]") {
  // Percentiles that the formula gives for p = 1e-3, index 2.5 from 30 us on.
  Cluster cluster = shipped("h100-ib-ndr200-64x4");
  FittedConstants truth = startsOf(CalibratedModel::Nccl);
  MeasuredTable table = synthetic(CalibratedModel::Nccl, cluster, truth);
  for (MeasuredRow &row : table.rows) {
    row.p99 = row.time + microseconds(30) * std::pow(1e-3 * row.hosts / 0.01, 1 / 2.5);
    row.p999 = row.time + microseconds(30) * std::pow(1e-3 * row.hosts / 0.001, 1 / 2.5);
  }
  Result<FitResult> fit = fitTable(table, cluster);
  REQUIRE(fit);
  REQUIRE(fit->noise);
  CHECK(fit->noise->spikeProbability == Approx(1e-3).epsilon(0.05));
  CHECK(fit->noise->spikeIndex == Approx(2.5).epsilon(0.05));
  CHECK(toYaml(*fit, table, "base.yaml", "n").find("spike_probability: {value: 0.001") != std::string::npos);
  // The published raw data: 1e-4 to 7e-4 per node and operation of more than 50 us, indices of 1 to 4.
  Result<MeasuredTable> jitter = readMeasured(measured + "jitter_marenostrum5_ib_ndr200_nccl_allreduce.csv");
  REQUIRE(jitter);
  fit = fitTable(*jitter, cluster);
  REQUIRE(fit);
  REQUIRE(fit->noise);
  CHECK(fit->noise->spikeProbability > 5e-5);
  CHECK(fit->noise->spikeProbability < 5e-3);
  CHECK(fit->noise->spikeIndex > 1);
  CHECK(fit->noise->spikeIndex < 5);
}
