//===- NcclTunerTest.cpp - NCCL's tuner plugin chooses what cost_models does --------------------------------------------===//
#include "NcclTunerDriver.h"
#include "braid/cost_models/Choices.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

using namespace tuner_test;
namespace cost = braid::cost;

static const std::string clusters = BRAID_SOURCE_DIR "/cost_models/clusters/";

static cost::Cluster readCluster(const std::string &name) {
  auto cluster = cost::readCluster(clusters + name + ".yaml");
  REQUIRE(cluster);
  return *cluster;
}

static std::string emitted(const cost::Cluster &cluster, cost::TunerRequest request = {}) {
  auto text = cost::emitNcclTuner(cluster, request);
  INFO((text ? std::string() : text.error().text()));
  REQUIRE(text);
  return *text;
}

static cost::Pricer pricerOf(const cost::Cluster &cluster) {
  cost::Placement packed;
  packed.deviceOf.resize(cluster.ranks());
  std::iota(packed.deviceOf.begin(), packed.deviceOf.end(), 0);
  return cost::Pricer(cluster, packed, cost::Engine::Nccl, cost::BucketForm::OneLaunch);
}

struct Asked {
  int function;
  cost::CollectiveKind kind;
};
static const Asked asked[] = {{AllReduce, cost::CollectiveKind::AllReduce},
                              {AllGather, cost::CollectiveKind::AllGather},
                              {ReduceScatter, cost::CollectiveKind::ReduceScatter},
                              {Broadcast, cost::CollectiveKind::Broadcast}};

TEST_CASE("NCCL's tuner: every version chooses what the cost model does, among what NCCL can take", "[tuner]") {
  int compared = 0;
  std::set<std::string> seen;
  for (const char *name :
       {"h100-roce-16x8", "h100-ib-ndr200-64x4", "a100-roce-2x8", "cpu-ib-ndr200-64x1", "h100-ib-ndr-1x8"}) {
    cost::Cluster cluster = readCluster(name);
    TunerFile file(emitted(cluster));
    for (const cost::CommunicatorShape &shape : cost::usualShapes(cluster)) {
      cost::Pricer pricer = pricerOf(cluster);
      cost::CollectiveSpec spec;
      spec.groups = *cost::groupsOf(shape, cluster);
      for (int version : {4, 5, 6}) {
        Communicator communicator(version, size_t(shape.ranks), size_t(shape.nodes));
        REQUIRE(communicator.status == Success);
        for (const Asked &a : asked)
          for (double exponent = 3; exponent <= 34; exponent += 0.35) {
            spec.kind = a.kind;
            spec.bytes = {int64_t(std::exp2(exponent)) / (a.function == AllGather ? shape.ranks : 1)};
            if (spec.bytes.value < 1)
              continue;
            size_t bytes = size_t(spec.bytes.value) * (a.function == AllGather ? size_t(shape.ranks) : 1);
            for (unsigned without : {0u, 1u, 2u, 4u, 7u, 8u, 9u, 16u, 56u}) { // cells that NCCL can't take, as bits
              Costs costs = Costs::ringsAndTrees(), before = costs;
              for (int bit = 0; bit < 6; ++bit)
                if (without >> bit & 1)
                  costs.cell[bit / 3][bit % 3] = before.cell[bit / 3][bit % 3] = impossible;
              int channels = 0;
              REQUIRE(communicator.ask(a.function, bytes, costs, channels) == Success);
              const cost::Candidate *best = nullptr;
              for (const cost::Candidate &c : pricer.candidates(spec))
                for (int algorithm : {0, 1})
                  for (int p = 0; p < protocols && !best; ++p)
                    if (c.algorithm == algorithmNames[algorithm] && c.protocol == protocolNames[p] &&
                        before.cell[algorithm][p] >= 0)
                      best = &c;
              auto [algorithm, protocol] = costs.taken();
              INFO(name << ", " << shape.ranks << " ranks, version " << version << ", " << functionNames[a.function]
                        << " of " << bytes << " B without " << without);
              if (best) {
                CHECK(std::string(algorithmNames[algorithm]) == best->algorithm);
                CHECK(std::string(protocolNames[protocol]) == best->protocol);
                CHECK(costs.cell[algorithm][protocol] == 0);
                CHECK((channels == 0 || channels == best->channels));
                before.cell[algorithm][protocol] = 0;
                seen.insert(best->algorithm + best->protocol);
              }
              CHECK(std::memcmp(&costs, &before, sizeof costs) == 0); // nothing else has changed
              ++compared;
            }
          }
      }
    }
    CHECK(warnings() == 0);
  }
  CHECK(compared > 100000);
  CHECK(seen.size() == 6); // every cell was chosen somewhere
}

TEST_CASE("NCCL's tuner: channels where NCCL takes them all, else its own number", "[tuner]") {
  cost::Cluster cluster = readCluster("h100-roce-4x2");
  TunerFile file(emitted(cluster));
  Communicator communicator(6, 8, 4);
  Costs small = Costs::ringsAndTrees(), large = small;
  int few = 0, all = 0;
  communicator.ask(AllReduce, 4096, small, few);
  communicator.ask(AllReduce, 1 << 30, large, all);
  CHECK(few == 0);
  CHECK(all == cluster.nccl.channels);
}

TEST_CASE("NCCL's tuner: what has no price stays, unless the file overrules it", "[tuner]") {
  cost::Cluster cluster = readCluster("h100-ib-ndr-1x8");
  constexpr int nvls = 4, simple = 2;
  Costs own = Costs::ringsAndTrees();
  own.cell[nvls][simple] = 3; // NCCL's own choice
  int channels = 0;
  {
    TunerFile file(emitted(cluster));
    Communicator communicator(5, 8, 1);
    Costs costs = own;
    communicator.ask(AllReduce, 1 << 26, costs, channels);
    CHECK(std::memcmp(&costs, &own, sizeof costs) == 0);
    CHECK(channels == 0);
    CHECK(logged.back().text.find("NCCL's nvls stays") != std::string::npos);
  }
  TunerFile file(emitted(cluster, {{}, {1 << 30}, false, /*overrule=*/true}));
  Communicator communicator(5, 8, 1);
  communicator.ask(AllReduce, 1 << 26, own, channels);
  CHECK(own.taken() == std::pair(1, simple)); // ring, Simple
}

TEST_CASE("NCCL's tuner: a cell that would lose accuracy is left alone, whatever its price", "[tuner]") {
  TunerFile file(emitted(readCluster("h100-ib-ndr-2x8")));
  Communicator communicator(6, 16, 2);
  Costs costs = Costs::ringsAndTrees();
  for (float &cost : costs.cell[1])
    cost *= 1024; // a ring over more than 8 ranks, of 8-bit floats
  int channels = 0;
  communicator.ask(AllReduce, size_t(1) << 33, costs, channels);
  CHECK(costs.taken().first == 0);
  Costs plain = Costs::ringsAndTrees();
  communicator.ask(AllReduce, size_t(1) << 33, plain, channels);
  CHECK(plain.taken().first == 1); // of other types it is the choice
}

TEST_CASE("NCCL's tuner: each choice is explained; a communicator of another shape is left alone and says so once",
          "[tuner]") {
  TunerFile file(emitted(readCluster("h100-roce-4x2")));
  int channels = 0;
  {
    Communicator communicator(4, 8, 4);
    Costs costs = Costs::ringsAndTrees();
    communicator.ask(AllReduce, 65536, costs, channels);
    CHECK(logged.back().level == Info);
    for (const char *part :
         {"all_reduce of 65536 B on 8 ranks, 4 nodes: ring LL, predicted", "next: tree LL", "why: at ", "base latency"})
      CHECK_THAT(logged.back().text, Catch::Contains(part));
    communicator.ask(AllReduce, 65536, costs, channels, 3);
    CHECK_THAT(logged.back().text, Catch::Contains("3 in one group call: NCCL chooses"));
  }
  for (int version : {4, 5, 6}) {
    logged.clear();
    Communicator other(version, 6, 3);
    Costs costs = Costs::ringsAndTrees(), before = costs;
    channels = 0;
    for (int i = 0; i < 3; ++i)
      other.ask(AllReduce, 65536, costs, channels);
    CHECK(std::memcmp(&costs, &before, sizeof costs) == 0);
    CHECK(channels == 0);
    REQUIRE(logged.size() == 1);
    CHECK_THAT(logged[0].text, Catch::Contains("6 ranks on 3 nodes, got 8 on 4 nodes, 2 on 1 node, 4 on 4 nodes"));
  }
}

TEST_CASE("NCCL's tuner: odd questions change nothing", "[tuner]") {
  TunerFile file(emitted(readCluster("h100-roce-4x2"), {{}, {1 << 20}, false, false}));
  Communicator communicator(6, 8, 4);
  Costs costs = Costs::ringsAndTrees(), before = costs;
  int channels = 0;
  for (int function : {-1, int(Reduce), 5, 7, 99})
    CHECK(communicator.ask(function, 4096, costs, channels) == Success);
  for (size_t bytes : {size_t(0), size_t(1) << 40, ~size_t(0)})
    CHECK(communicator.ask(AllReduce, bytes, costs, channels) == Success);
  Costs none; // nothing is possible
  CHECK(communicator.ask(AllReduce, 4096, none, channels) == Success);
  CHECK(none.taken().first == -1);
  GetCollInfo get = Communicator::v6()->getCollInfo;
  CHECK(get(communicator.context, AllReduce, 4096, 1, nullptr, 7, 3, 0, &channels) == Success);
  CHECK(get(nullptr, AllReduce, 4096, 1, reinterpret_cast<float **>(&costs.cell), 7, 3, 0, &channels) == Success);
  CHECK(get(communicator.context, AllReduce, 4096, 1, reinterpret_cast<float **>(&costs.cell), 0, 0, 0, &channels) ==
        Success);
  CHECK(std::memcmp(&costs, &before, sizeof costs) == 0);
  CHECK(channels == 0);
  CHECK(get(communicator.context, AllReduce, 4096, 1, reinterpret_cast<float **>(&costs.cell), 7, 3, 0, nullptr) ==
        Success);
  CHECK(costs.taken() == std::pair(0, 0));
  size_t chunk = 12345;
  CHECK(Communicator::v6()->getChunkSize(communicator.context, AllReduce, 4096, 0, 0, 4, &chunk) == Success);
  CHECK(chunk == 12345);
}

TEST_CASE("NCCL's tuner: constants reach version 5 and later, and nothing beside them", "[tuner]") {
  cost::Cluster cluster = readCluster("h100-ib-ndr200-64x4");
  REQUIRE(cluster.ncclFit.empty());
  CHECK(!cost::emitNcclTuner(cluster, {{}, {1 << 20}, /*constants=*/true, false})); // NCCL's own would stay
  for (const cost::ConstantInfo &info : cost::constantsOf(cost::CalibratedModel::Nccl))
    cluster.ncclFit.push_back(info.start);
  cluster.ncclFit[cost::ncclfit::StartUp] = 2;
  TunerFile file(emitted(cluster, {{}, {1 << 20}, true, false}));
  for (int version : {5, 6}) {
    ConstantsV5 constants;
    std::fill_n(&constants.baseLatency[0][0], sizeof constants / sizeof(double), -7.);
    Communicator communicator(version, 256, 64, &constants);
    CHECK(constants.baseLatency[0][0] == Approx(2 * 6.8)); // tree, LL
    CHECK(constants.baseLatency[1][2] == Approx(2 * 8.4)); // ring, Simple
    CHECK(constants.baseLatency[4][2] == -7);              // NVLS
    CHECK(constants.hopLatency[2][1][0] == Approx(2.7 * cluster.ncclFit[cost::ncclfit::RingHop]));
    CHECK(constants.llMost[3][2] > 0);
    CHECK(constants.ringLl128PerChannel[0][0] == -7);
    Costs costs = Costs::ringsAndTrees(), before = costs;
    int channels = 0;
    communicator.ask(AllReduce, 4096, costs, channels);
    CHECK(std::memcmp(&costs, &before, sizeof costs) == 0);
  }
  Communicator old(4, 256, 64);
  CHECK_THAT(logged.back().text, Catch::Contains("constants need version 5"));
}

TEST_CASE("NCCL's tuner: communicators on several threads, each with its own and one that all share", "[tuner]") {
  TunerFile file(emitted(readCluster("h100-roce-4x2")));
  Communicator shared(6, 8, 4);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        Communicator own(4 + t % 3, 2, 1);
        Costs first = Costs::ringsAndTrees(), second = first;
        int channels = 0;
        shared.ask(AllReduce, 4096, first, channels);
        own.ask(AllReduce, 1 << 27, second, channels);
        wrong += first.taken() != std::pair(0, 0) || second.taken() != std::pair(1, 2);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
}
