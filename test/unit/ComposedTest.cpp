//===- ComposedTest.cpp - an all_reduce planned as a reduce_scatter and an all_gather ----------------------------===//
#include "cost_models/pricing/Composed.h"
#include "PricedClusters.h"
#include "braid/cost_models/Schedule.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace braid::cost;

static bool offered(const Pricer &pricer, const CollectiveSpec &spec) {
  const std::vector<Candidate> &all = pricer.candidates(spec);
  return std::any_of(all.begin(), all.end(), [](const Candidate &c) { return c.algorithm == composition; });
}

TEST_CASE("a composition is its reduce_scatter and its all_gather, and never the engine's own choice", "[composed]") {
  Cluster cluster = quietCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  int64_t bytes = int64_t(1) << 34;
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, bytes, groupsOf(128));
  double scatter = candidateOf(pricer, specOf(CollectiveKind::ReduceScatter, bytes, groupsOf(128)), "ring", "Simple")
                       .time.value,
         gather = candidateOf(pricer, specOf(CollectiveKind::AllGather, bytes / 128, groupsOf(128)), "ring", "Simple")
                      .time.value;
  const std::vector<Candidate> &all = pricer.candidates(spec);
  CHECK(all.back().algorithm == composition);
  CHECK(all.back().protocol == "Simple");
  CHECK(all.back().time.value == Approx(scatter + gather));
  CHECK(all.back().time < all.front().time); // by the model's factor of 1.4 on the hops of a ring over hosts
  CHECK(all.front().algorithm == "ring");
  CHECK(pricer.cheapest(spec) == int(all.size()) - 1);
  CHECK(pricer.cheapestTime(spec).value == all.back().time.value);
  CHECK(all.back().exposedNodes == 2 * 16); // two operations, each with spikes of its own

  // One host: the same hops, and one start-up more.
  CollectiveSpec inside = specOf(CollectiveKind::AllReduce, bytes, groupsOf(128, 16));
  CHECK(offered(pricer, inside));
  CHECK(pricer.cheapest(inside) == 0);
}

TEST_CASE("a composition is priced with its padding", "[composed]") {
  Cluster cluster = quietCluster(16, 8);
  CollectiveSpec whole = specOf(CollectiveKind::AllReduce, 4 * 128 * 1000, groupsOf(128)), odd = whole;
  odd.bytes = {whole.bytes.value - 4};
  CHECK(paddedBytes(odd, 128).value == whole.bytes.value);
  CHECK(paddedBytes(whole, 128).value == whole.bytes.value);
  for (BucketForm form : {BucketForm::OneLaunch, BucketForm::Copies}) {
    Pricer pricer(cluster, packed(cluster), Engine::Nccl, form);
    auto price = [&](CollectiveSpec spec, int tensors) {
      spec.tensors = tensors;
      return candidateOf(pricer, spec, composition).time.value;
    };
    double copies = form == BucketForm::Copies ? 2 * 2 * double(odd.bytes.value) / 3.35e12 + 2 * 5e-6 : 0;
    CHECK(price(odd, 1) == Approx(price(whole, 1) + copies)); // its own bytes are copied, whole shares are sent
    CHECK(price(odd, 0) == price(whole, 1));                  // what bounds count
    CHECK(price(odd, 2) == Approx(price(whole, 1) + copies)); // zeros behind what is packed anyway
  }
}

TEST_CASE("a composition is offered only where it can be run", "[composed]") {
  Cluster cluster = quietCluster(4, 4);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 20, groupsOf(16));
  CHECK(offered(pricer, spec));
  spec.groups = nullptr; // all ranks
  CHECK(offered(pricer, spec));
  auto uneven = std::make_shared<RankGroups>();
  uneven->groups = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11, 12, 13, 14, 15}};
  spec.groups = uneven;
  CHECK_FALSE(offered(pricer, spec)); // shapes are the same on all ranks
  CHECK_FALSE(offered(pricer, specOf(CollectiveKind::ReduceScatter, 1 << 20, groupsOf(16))));
  CHECK_FALSE(offered(pricer, specOf(CollectiveKind::AllReduce, 1 << 20, groupsOf(16, 16)))); // each rank alone
  // NCCL keeps 8-bit floats from rings of more than 8 ranks: this is no way around.
  spec = specOf(CollectiveKind::AllReduce, 1 << 20, groupsOf(16));
  spec.elementType = "f8E4M3FN";
  CHECK_FALSE(offered(pricer, spec));
  spec.groups = groupsOf(16, 2);
  CHECK(offered(pricer, spec));

  Pricer grouped(cluster, packed(cluster), Engine::Nccl, BucketForm::GroupCall);
  CHECK(offered(grouped, specOf(CollectiveKind::AllReduce, 1 << 20, groupsOf(16))));
  CHECK_FALSE(offered(grouped, specOf(CollectiveKind::AllReduce, 1 << 20, groupsOf(16), 3)));
  // Braid's own all_reduce programs are such compositions in one launch already.
  Pricer braid(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  CHECK_FALSE(offered(braid, specOf(CollectiveKind::AllReduce, 1 << 20, groupsOf(16))));
}

TEST_CASE("plans choose compositions, baselines don't, and the bound knows them", "[composed]") {
  Cluster cluster = quietCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::Copies);
  Program program;
  program.ranks = 128;
  Task make, reduce;
  make.name = "gradient";
  make.duration = microseconds(100);
  reduce.kind = Task::Collective;
  reduce.name = "sum";
  reduce.operands = {0};
  reduce.key = 0;
  reduce.spec = specOf(CollectiveKind::AllReduce, int64_t(1) << 34, groupsOf(128));
  program.blocks.push_back({"main", {make, reduce}, {}});
  Result<PlanResult> result = plan(program, pricer, {});
  REQUIRE(result);
  auto algorithm = [&](const PolicyResult &policy) {
    return pricer.candidates(reduce.spec)[policy.schedule.blocks[0].buckets[0].candidate].algorithm;
  };
  for (const PolicyResult &policy : result->policies)
    CHECK(algorithm(policy) == (policy.policy == Policy::Braid ? composition : "ring"));
  double expected = 100e-6 + pricer.cheapestTime(reduce.spec).value;
  CHECK(result->braid().total.value == Approx(expected));
  CHECK(result->bound.time.value == Approx(expected));
  PlanOptions greedy;
  greedy.budget = {};
  result = plan(program, pricer, greedy);
  REQUIRE(result);
  CHECK(algorithm(result->braid()) == composition);
}
