//===- CalibrateTest.cpp - measured tables: reading, refusing, fitting --------------------------------------------===//
#include "braid/cost_models/Fit.h"
#include "braid/cost_models/Probe.h"
#include "cost_models/pricing/Delay.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <stdlib.h>
#include <unistd.h>

using namespace braid;
using namespace braid::cost;
using Catch::Detail::Approx;

static const std::string measured = BRAID_SOURCE_DIR "/test/data/measured/";

static Cluster shipped(const std::string &name) {
  Result<Cluster> cluster = readCluster(BRAID_SOURCE_DIR "/cost_models/clusters/" + name + ".yaml");
  REQUIRE(cluster);
  return *cluster;
}

static MeasuredTable parsed(const std::string &text, const TableHints &hints = {}) {
  Result<MeasuredTable> table = parseMeasured(text, "t", hints);
  INFO((table ? "" : table.error().text()));
  REQUIRE(table);
  return *table;
}

/// A table of 2 hosts x 8: 20 us + 10 GB/s, sizes of 1 KiB to 64 MiB; `change` may spoil the i-th row's fields.
template <class Change> static std::string csv(Change change) {
  std::ostringstream out;
  out << "collective,nodes,gpus_per_node,algo,bytes,time_us,algbw_GBps,busbw_GBps\n";
  for (int i = 0; i < 17; ++i) {
    double bytes = std::exp2(10 + i), time = 20 + bytes / 10e3, alg = bytes / time / 1e3, bus = alg * 1.875;
    change(i, bytes, time, alg, bus);
    out << "allreduce,2,8,default," << int64_t(bytes) << "," << time << "," << alg << "," << bus << "\n";
  }
  return out.str();
}

/// What findDistrust says of it; empty: nothing.
static std::string distrust(const std::string &text) {
  MeasuredTable table = parsed(text);
  std::optional<Error> error = findDistrust(table, shipped("h100-ib-ndr-2x8"));
  return error ? error->text() : "";
}

TEST_CASE("readers: nccl-tests, OSU, CSV", "[calibrate]") {
  MeasuredTable nccl =
      parsed("# nThread 1 nGpus 1 minBytes 8 maxBytes 16\n"
             "#  Rank  0 Group  0 Pid 7 on node-a device  0 [0x06] NVIDIA H100\n"
             "#  Rank  1 Group  0 Pid 8 on node-b device  0 [0x06] NVIDIA H100\n"
             "#       size         count      type   redop    root     time   algbw   busbw #wrong     time\n"
             "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)\n"
             "           8             2     float     sum      -1    20.50    0.00    0.00      0    19.1\n"
             "    67108864      16777216     float     sum      -1   3355.4   20.00   20.00      0   3300\n"
             "# Out of bounds values : 0 OK\n");
  REQUIRE(nccl.rows.size() == 2);
  CHECK(nccl.rows[1].hosts == 2);
  CHECK(nccl.rows[1].perHost == 1);
  CHECK(nccl.rows[1].kind == CollectiveKind::AllReduce); // by its bus bandwidth
  CHECK(nccl.rows[1].time.value == Approx(3355.4e-6));
  CHECK(nccl.rows[1].busBandwidth == 20);

  // As pasted into a page: no #, other lines around it.
  TableHints hints;
  hints.hosts = 2;
  hints.perHost = 8;
  MeasuredTable pasted = parsed("Collective test starting: all_gather_perf\n"
                                "   size  count type redop root  time algbw busbw #wrong  time algbw busbw #wrong\n"
                                "    (B) (elements)               (us) (GB/s) (GB/s)        (us) (GB/s) (GB/s)\n"
                                "8388608 131072 float none -1 166.6 50.34 47.19 N/A 164.1 51.11 47.92 N/A\n"
                                "Avg bus bandwidth : 146.948\n",
                                hints);
  REQUIRE(pasted.rows.size() == 1);
  CHECK(pasted.rows[0].kind == CollectiveKind::AllGather);
  CHECK(pasted.rows[0].time.value == Approx(166.6e-6));

  hints.hosts = 4;
  hints.perHost = 2;
  const char *osu =
      "# OSU MPI Allgather Latency Test v7.3\n# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations   P50 Tail Lat(us)   P90 Tail "
      "Lat(us)   P99 Tail Lat(us)\n"
      "4  2.10  1.95  2.31  1000  2.05  2.2  3.0\n";
  MeasuredTable table = parsed(osu, hints);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].kind == CollectiveKind::AllGather);
  CHECK(table.rows[0].time.value == Approx(2.05e-6));
  CHECK(table.rows[0].p99.value == Approx(3e-6));
  CHECK(parseMeasured(osu, "t").error().text().find("--nodes") != std::string::npos);

  // The median where there are several times, units by suffix, ranks instead of ranks per node.
  MeasuredTable ours =
      parsed("collective,type,ranks,hosts,bytes,algorithm,transport,p50_s,p99_s,median_s,bus_bytes_per_s\n"
             "all_reduce,f32,8,2,1024,ring,tcp,3e-5,9e-5,2e-5,1e8\n");
  CHECK(ours.format == "braid-bench");
  CHECK(ours.rows[0].perHost == 4);
  CHECK(ours.rows[0].time.value == Approx(2e-5));
  CHECK(ours.rows[0].busBandwidth == Approx(0.1));
  // A time from the bandwidth where it is not printed.
  CHECK(parsed("nodes,ppn,algo,bytes,time_us,busbw_GBps\n5,8,Ring,1073741824,,190\n").rows[0].time.value ==
        Approx(1073741824 * 1.95 / 190e9));
}

TEST_CASE("readers name the line of what they cannot read", "[calibrate]") {
  auto error = [](const std::string &text) { return parseMeasured(text, "t").error().text(); };
  CHECK(error("") ==
        "t: measured table, expected what nccl-tests or the OSU benchmarks print, or a CSV with a head, got an "
        "empty file; did the benchmark run, and was its standard output kept?");
  CHECK(error("a,b\n1,2\n").find("with a column 'bytes'") != std::string::npos);
  CHECK(error("bytes,time\n8,1\n").find("with its unit") != std::string::npos);
  CHECK(error("nodes,ppn,bytes,time_us\n2,8,8\n") == "t:2: row, expected 4 fields, got 3 (was it cut off?)");
  CHECK(error("nodes,ppn,bytes,time_us\n2,8,8,fast\n") == "t:2: column time_us, expected a number above zero, got "
                                                          "'fast' (of what was not measured, leave the field empty)");
  CHECK(error("bytes,time_us\n8,1\n").find("--nodes") != std::string::npos);
  CHECK(error("nodes,ppn,bytes,time_us\n2,8,-8,1\n").find("bytes") != std::string::npos);
}

TEST_CASE("tables that cannot be trusted are refused, with the reason", "[calibrate]") {
  auto nothing = [](int, double &, double &, double &, double &) {};
  CHECK(distrust(csv(nothing)) == "");
  auto says = [](const std::string &text, const std::string &what) {
    INFO(text);
    CHECK(text.find(what) != std::string::npos);
  };
  says(distrust(csv([](int, double &, double &time, double &, double &) { time /= 1e3; })), "milliseconds");
  says(distrust(csv([](int i, double &, double &time, double &, double &) { time *= i == 9 ? 1e3 : 1; })),
       "milliseconds");
  says(distrust(csv([](int, double &, double &, double &alg, double &bus) {
         alg /= 1.048576;
         bus /= 1.048576;
       })),
       "MB and MiB");
  says(distrust(csv([](int, double &, double &, double &alg, double &bus) { std::swap(alg, bus); })), "bus bandwidth");
  says(distrust(csv([](int, double &, double &, double &alg, double &bus) { bus = alg; })), "hold the same");
  says(distrust(csv([](int i, double &, double &time, double &alg, double &bus) {
         if (i == 12)
           time /= 3, alg *= 3, bus *= 3;
       })),
       "--accept-inversions");
  // Without bandwidths beside the times, only what is possible can be asked.
  auto alone = [](double factor, double step = 1) {
    std::ostringstream out;
    out << "nodes,gpus_per_node,bytes,time_us\n";
    for (int i = 0; i < 17; ++i)
      out << "2,8," << int64_t(std::exp2(10 + i) / (i > 10 ? step : 1)) << ","
          << factor * (20 + std::exp2(10 + i) / 10e3) << "\n";
    return out.str();
  };
  CHECK(distrust(alone(1)) == "");
  says(distrust(alone(1e-3)), "unit");
  says(distrust(alone(1e3)), "unit");
  says(distrust(alone(1, 1.048576)), "MB and MiB");
  says(distrust("nodes,ppn,bytes,time_us\n2,8,8,20\n2,8,1024,20\n2,8,65536,30\n"), "too few points");
}

TEST_CASE("real tables are not refused", "[calibrate]") {
  const std::pair<const char *, const char *> tables[] = {
      {"marenostrum5_ib_ndr200_nccl_allreduce", "h100-ib-ndr200-64x4"},
      {"jitter_marenostrum5_ib_ndr200_nccl_allreduce", "h100-ib-ndr200-64x4"},
      {"pico_leonardo_ib_hdr_ompi_allreduce", "cpu-ib-hdr-2048x1"},
      {"pico_marenostrum5_ib_ndr_ompi_allreduce", "cpu-ib-ndr200-64x1"},
      {"dstack_nebius_ib_2x8_h100", "h100-ib-ndr-2x8"},
      {"oci_roce_2x8_a100", "a100-roce-2x8"},
      {"aws_efa_2xp4de_a100", "a100-roce-2x8"},
      {"superbench_a100_8gpu_single_node", "a100-roce-2x8"}};
  for (const auto &[name, cluster] : tables) {
    Result<MeasuredTable> table = readMeasured(measured + name + ".csv");
    REQUIRE(table);
    std::optional<Error> error = findDistrust(*table, shipped(cluster));
    INFO(name << ": " << (error ? error->text() : ""));
    CHECK(!error);
  }
}

/// Rows of both models' algorithms, with times that the given constants predict.
static MeasuredTable synthetic(CalibratedModel model, const Cluster &cluster, const FittedConstants &truth) {
  MeasuredTable table;
  table.path = "synthetic";
  std::vector<std::string> algorithms = {"ring", "tree"};
  if (model == CalibratedModel::Messages)
    algorithms = {"ring", "recursive_doubling", "rabenseifner"};
  for (int hosts : {2, 8, 32})
    for (const std::string &algorithm : algorithms)
      for (int64_t bytes = 64; bytes <= 1 << 30; bytes *= 4) {
        MeasuredRow row;
        row.hosts = hosts;
        row.perHost = cluster.devicesPerHost;
        row.algorithm = algorithm;
        row.job = "one";
        row.bytes = {bytes};
        row.time = predictRow(row, cluster, model, truth)->predicted;
        table.rows.push_back(row);
      }
  return table;
}

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
  FittedConstants truth;
  for (const ConstantInfo &info : constantsOf(CalibratedModel::Nccl))
    truth.push_back(info.start);
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
  FittedConstants truth;
  for (const ConstantInfo &info : constantsOf(CalibratedModel::Messages))
    truth.push_back(info.start);
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
  FittedConstants truth;
  for (const ConstantInfo &info : constantsOf(CalibratedModel::Nccl))
    truth.push_back(info.start);
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
