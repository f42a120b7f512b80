//===- NcclTest.cpp - NCCL's published formula, and what it says of a measured machine --------------------------===//
#include "PricedClusters.h"
#include "cost_models/pricing/NcclModel.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

using namespace braid::cost;

static double us(const Candidate &c) { return c.time.value * 1e6; }

TEST_CASE("256 B on 4 GPUs per host: the values that NCCL's own table gives", "[nccl]") {
  const int hosts[] = {4, 8, 16, 32, 64};
  const double ring[] = {47, 92, 184, 366, 731}, tree[] = {30, 40, 50, 60, 70};
  for (int i = 0; i < 5; ++i) {
    Cluster cluster = quietCluster(hosts[i], 4);
    Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
    CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 256, groupsOf(4 * hosts[i]));
    CAPTURE(hosts[i]);
    CHECK(us(candidateOf(pricer, spec, "ring", "LL")) == Approx(ring[i]).margin(0.6));
    CHECK(us(candidateOf(pricer, spec, "tree", "LL")) == Approx(tree[i]).margin(0.6));
  }
}

TEST_CASE("the formula, by hand", "[nccl]") {
  Cluster cluster = quietCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  int64_t m = 64 << 20;
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, m, groupsOf(128));
  // Ring, Simple: 254 steps, 30 of them between hosts; 64 MiB / (16 channels x 128 ranks) is above 64 B: x 1.4.
  CHECK(us(candidateOf(pricer, spec, "ring", "Simple")) ==
        Approx(1.4 * (8.4 + 224 * 3.4 + 30 * 14) + m / (1000 * 360.0 * 128 / 254)));
  // LL: half is flags, capped at 20.4 GB/s by the CPU.
  CHECK(us(candidateOf(pricer, spec, "ring", "LL")) ==
        Approx(6.6 + 224 * 1 + 30 * 2.7 + m / (1000 * 20.4 * 128 / 254)));
  CHECK(us(candidateOf(pricer, spec, "ring", "LL128")) ==
        Approx(14 + 224 * 1.9 + 30 * 4 + m / (1000 * 0.92 * 360 * 128 / 254)));
  // Tree, Simple, index log2(2^26 / 2^6) = 20: factor 0.8.
  CHECK(us(candidateOf(pricer, spec, "tree", "Simple")) ==
        Approx(8.4 + 2 * (7 * 4 + 4 * 14) + m / (1000 * 0.92 * 360 * 0.8 / 2)));
  // all_gather counts its result.
  CollectiveSpec gather = specOf(CollectiveKind::AllGather, m / 128, groupsOf(128));
  CHECK(us(candidateOf(pricer, gather, "ring", "Simple")) ==
        Approx(8.4 + (127 - 15) * 3.4 + 15 * 14 + m / (1000 * 360.0 * 128 / 127)));
  CHECK(pricer.candidates(gather).size() == 3); // ring x LL, LL128, Simple
}

TEST_CASE("one host uses the host's figures, one rank costs nothing", "[nccl]") {
  Cluster cluster = quietCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  int64_t m = 1 << 30;
  CollectiveSpec inside = specOf(CollectiveKind::AllReduce, m, groupsOf(128, 16));
  CHECK(us(candidateOf(pricer, inside, "ring", "Simple")) == Approx(8.4 + 14 * 3.4 + m / (1000 * 360.0 * 8 / 14)));
  CHECK(us(candidateOf(pricer, inside, "ring", "LL")) == Approx(6.6 + 14 * 0.6 + m / (1000 * 141.0 * 8 / 14)));
  CHECK(pricer.fabric(inside) == Fabric::Intra);
  CollectiveSpec alone = specOf(CollectiveKind::AllReduce, m, groupsOf(128, 128));
  CHECK(pricer.candidates(alone).size() == 1);
  CHECK(pricer.candidates(alone)[0].time.value == 0);
}

TEST_CASE("groups that run at once share the NICs of a host", "[nccl]") {
  Cluster cluster = quietCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  int64_t m = 256 << 20;
  // 8 groups of one GPU per host: each has one NIC of 8, and pays the tree's hop, as nothing hides it.
  CollectiveSpec strided = specOf(CollectiveKind::AllReduce, m, groupsOf(128, 8, true));
  CHECK(us(candidateOf(pricer, strided, "ring", "Simple")) ==
        Approx(1.4 * (8.4 + 30 * 14) + m / (1000 * 45.0 * 16 / 30)));
  CHECK(pricer.fabric(strided) == Fabric::Inter);
  // With 2 NICs for 8 GPUs, 4 groups share each NIC.
  cluster.nicsPerHost = 2;
  cluster.nccl.busBandwidthInter = {90e9};
  Pricer few(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CHECK(us(candidateOf(few, strided, "ring", "Simple")) ==
        Approx(1.4 * (8.4 + 30 * 14) + m / (1000 * (45.0 / 4) * 16 / 30)));
}

TEST_CASE("the tree's factor agrees with NCCL's at powers of two and never makes time fall", "[nccl]") {
  CHECK(ncclTreeFactor(0, 1024) == Approx(0.9));
  CHECK(ncclTreeFactor(2, 1 << 20) == Approx(0.5));
  CHECK(ncclTreeFactor(2, 1 << 21) == Approx(0.6));
  CHECK(ncclTreeFactor(2, 512 << 20) == Approx(0.9));
  CHECK(ncclTreeFactor(2, 1 << 30) == Approx(1));
  CHECK(ncclTreeFactor(0, 8) == Approx(1));
  for (int protocol = 0; protocol < 3; ++protocol) {
    double before = 0;
    for (double bytes = 8; bytes < 4e9; bytes *= 1.01) {
      double time = bytes / ncclTreeFactor(protocol, bytes);
      REQUIRE(time > before);
      before = time;
    }
  }
}

TEST_CASE("8-bit floats avoid long rings, PCIe hosts have no LL128", "[nccl]") {
  Cluster cluster = quietCluster(2, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 30, groupsOf(16));
  spec.elementType = "f8E4M3FN";
  CHECK(pricer.candidates(spec)[0].algorithm == "tree");
  cluster.intra.name = "pcie";
  Pricer pcie(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  for (const Candidate &c : pcie.candidates(spec))
    CHECK(c.protocol != "LL128");
}

TEST_CASE("point-to-point: a message through the busiest NIC", "[nccl]") {
  Cluster cluster = quietCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  auto shift = std::make_shared<RankGroups>();
  for (int r = 0; r < 128; ++r)
    shift->pairs.push_back({r, (r + 8) % 128}); // to the same GPU of the next host
  double m = 45e6;
  CHECK(us(pricer.candidates(specOf(CollectiveKind::Permute, int64_t(m), shift))[0]) == Approx(8.4 + 14 + 1000));
  auto swap = std::make_shared<RankGroups>();
  swap->pairs = {{0, 1}, {1, 0}, {2, 2}};
  const Candidate &inside = pricer.candidates(specOf(CollectiveKind::Permute, 1024, swap))[0];
  CHECK(inside.protocol == "LL");
  CHECK(us(inside) == Approx(6.6 + 0.6 + 1024 / 180e3));
  auto nobody = std::make_shared<RankGroups>();
  nobody->pairs = {{2, 2}};
  CHECK(pricer.candidates(specOf(CollectiveKind::Permute, 1024, nobody))[0].time.value == 0);
  // all_to_all over all: 120 of 128 parts leave the host through one NIC per GPU.
  const Candidate &all = pricer.candidates(specOf(CollectiveKind::AllToAll, 128 * 1000000, groupsOf(128)))[0];
  CHECK(us(all) == Approx(8.4 + 14 + 119 + 120e6 / 45e3));
}

TEST_CASE("what is not modelled is said", "[nccl]") {
  Cluster cluster = quietCluster(2, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  std::string all;
  for (const std::string &sentence : pricer.notModelled())
    all += sentence + "; ";
  for (const char *name : {"NVLS", "NVLSTree", "CollNet", "PAT"})
    CHECK(all.find(name) != std::string::npos);
}

/// Ring and tree, forced, on MareNostrum 5 (4 GPUs per host, 200 Gb/s per GPU): microseconds by (hosts, bytes), ring
/// and tree.
static std::map<std::pair<int, int64_t>, std::pair<double, double>> marenostrum() {
  std::ifstream file(BRAID_SOURCE_DIR "/test/data/measured/marenostrum5_ib_ndr200_nccl_allreduce.csv");
  std::map<std::pair<int, int64_t>, std::pair<double, double>> rows;
  for (std::string line; std::getline(file, line);) {
    std::stringstream fields(line);
    std::vector<std::string> f;
    for (std::string field; std::getline(fields, field, ',');)
      f.push_back(field);
    if (f.size() < 7 || f[0] != "allreduce")
      continue;
    auto &row = rows[{std::stoi(f[1]), std::stoll(f[5])}];
    (f[4] == "ring" ? row.first : row.second) = std::stod(f[6]);
  }
  return rows;
}

TEST_CASE("MareNostrum 5: ring or tree chosen right, with one number fitted", "[nccl][measured]") {
  auto rows = marenostrum();
  REQUIRE(rows.size() == 27);
  int right = 0;
  double worst = 1;
  std::vector<double> errors;
  for (auto &[where, measured] : rows) {
    auto [hosts, bytes] = where;
    Cluster cluster = quietCluster(hosts, 4);
    cluster.inter.bandwidth = {25e9};
    cluster.nccl.busBandwidthInter = {85e9}; // of 100: the large all_reduce of 4 hosts reaches 89, of 64 66
    cluster.nccl.channels = 16;
    Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
    CollectiveSpec spec = specOf(CollectiveKind::AllReduce, bytes, groupsOf(4 * hosts));
    std::map<std::string, double> model; // cheapest protocol of each algorithm
    for (const Candidate &c : pricer.candidates(spec))
      model.try_emplace(c.algorithm, us(c));
    bool ring = model["ring"] < model["tree"];
    double chosen = ring ? measured.first : measured.second, best = std::min(measured.first, measured.second);
    right += chosen == best;
    worst = std::max(worst, chosen / best);
    errors.push_back(std::abs(model["ring"] / measured.first - 1));
    errors.push_back(std::abs(model["tree"] / measured.second - 1));
  }
  std::sort(errors.begin(), errors.end());
  CAPTURE(right, worst, errors[errors.size() / 2], errors.back());
  CHECK(right >= 24);
  CHECK(worst <= 1.19);
  CHECK(errors[errors.size() / 2] <= 0.20);
}

TEST_CASE("an oversubscribed third tier costs NCCL what it does to its flows", "[nccl]") {
  Cluster c = quietCluster(16, 1);
  c.topology = "three_tier";
  c.hostsPerLeaf = 2;
  c.leavesPerPod = 4;
  auto time = [&](CollectiveKind kind, double oversubscription) {
    c.coreOversubscription = oversubscription;
    Pricer pricer(c, packed(c), Engine::Nccl, BucketForm::GroupCall);
    const Candidate &best = pricer.candidates(specOf(kind, 1 << 28, groupsOf(16))).front();
    return best.wire.value;
  };
  // Two links up a leaf, two spines a pod; four cores a spine, or one.
  CHECK(time(CollectiveKind::AllReduce, 4) == Approx(time(CollectiveKind::AllReduce, 1))); // one flow leaves each pod
  // 8 / 15 of what 8 hosts send does: 4.27 flows over two links.
  CHECK(time(CollectiveKind::AllToAll, 4) == Approx(8 * 8 / 15.0 / 2 * time(CollectiveKind::AllToAll, 1)));
}
