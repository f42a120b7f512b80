//===- RaggedTest.cpp - all to all of blocks that differ in size: what is refused, what it costs ----------------===//
//
// That blocks arrive is the conformance suite's matter, that programs are right the step programs' tests'.
//===------------------------------------------------------------------------------------------------------------===//
#include "PlannedOps.h"
#include "PricedClusters.h"
#include "braid/cost_models/EmitProfile.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace braid;
using namespace braid::test;
using cost::CollectiveKind;

namespace {

/// A rank's ragged all_to_all of int32 with these counts.
struct Exchange {
  std::vector<size_t> gives, takes;
  std::vector<int32_t> in, out;
  braid_buffer buffer = {};

  Exchange(std::vector<size_t> give, std::vector<size_t> take) : gives(std::move(give)), takes(std::move(take)) {
    for (size_t count : gives)
      in.resize(in.size() + count);
    for (size_t count : takes)
      out.resize(out.size() + count);
    buffer = {in.data(), out.data(), in.size(), out.size()};
  }
  braid_op_options options(const char *name) {
    braid_op_options asked = optionsOf(BRAID_ALL_TO_ALL, &buffer, 1, name);
    asked.send_counts = gives.data();
    asked.receive_counts = takes.data();
    return asked;
  }
};

} // namespace

TEST_CASE("ragged: ranks that do not expect each other's sizes are told so, with both names", "[executor][ragged]") {
  for (const char *transport : {"shm", "tcp"}) {
    runtime::CommunicatorOptions settings;
    settings.transport = transport;
    Ranks ranks(3, settings);
    REQUIRE(ranks.failed() == "");
    std::vector<std::string> said(3);
    ranks.run([&](int rank, braid_comm *comm) -> std::string {
      // Rank 1 sends 5 elements to rank 2, which expects 4.
      std::vector<std::vector<size_t>> counts = {{1, 2, 3}, {0, 2, 5}, {4, 0, 0}};
      std::vector<size_t> takes;
      for (int source = 0; source < 3; ++source)
        takes.push_back(counts[size_t(source)][size_t(rank)] - (source == 1 && rank == 2));
      Exchange exchange(counts[size_t(rank)], takes);
      braid_op *op = nullptr;
      if (std::string problem = plan(comm, exchange.options("tokens"), op); !problem.empty())
        return problem;
      if (braid_op_start(op) == BRAID_OK)
        braid_op_wait(op);
      said[size_t(rank)] = braid_last_error();
      braid_op_destroy(op);
      return {};
    });
    for (int rank : {1, 2}) {
      INFO(transport << ", rank " << rank << ": " << said[size_t(rank)]);
      CHECK(contains(said[size_t(rank)], "all_to_all 'tokens': expected what rank 2 receives from rank 1"));
      CHECK(contains(said[size_t(rank)], "got 4 elements expected on rank 2 and 5 sent by rank 1"));
    }
    CHECK(said[0] != "");
  }
}

TEST_CASE("ragged: what can't be done is refused in words", "[executor][ragged]") {
  Ranks ranks(2, {});
  braid_comm *comm = ranks.comm(0);
  Exchange exchange({1, 3}, {1, 2});
  auto refused = [&](braid_op_options options, braid_status status, const std::string &words) {
    braid_op *op = nullptr;
    CHECK(braid_op_plan(comm, &options, &op) == status);
    INFO(braid_last_error());
    CHECK(contains(braid_last_error(), words));
    CHECK(contains(braid_last_error(), "got"));
  };
  auto with = [&](auto change) {
    braid_op_options options = exchange.options("x");
    change(options);
    return options;
  };
  size_t pairs[] = {1, 3, 2, 0}, others[] = {1, 4, 2, 0}, uneven[] = {2, 1};
  braid_buffer wrong = exchange.buffer, missing = exchange.buffer;
  wrong.send_count = 3;
  missing.receive = nullptr;
  refused(with([](auto &o) { o.receive_counts = nullptr; }), BRAID_INVALID, "send_counts alone");
  refused(with([](auto &o) { o.collective = BRAID_ALL_GATHER; }), BRAID_INVALID, "all_to_all of one tensor");
  refused(with([](auto &o) { o.tensors = 2; }), BRAID_INVALID, "all_to_all of one tensor");
  refused(with([&](auto &o) { o.buffers = &wrong; }), BRAID_INVALID, "4 elements to send and 3 to receive, got 3");
  refused(with([&](auto &o) { o.buffers = &missing; }), BRAID_INVALID, "a buffer to receive");
  refused(with([&](auto &o) { o.buffers = nullptr; }), BRAID_INVALID, "at least one tensor");
  refused(with([&](auto &o) { o.pair_counts = others; }), BRAID_INVALID, "pair_counts says, got others for rank 1");
  refused(with([&](auto &o) { o.receive_counts = uneven; }), BRAID_INVALID, "1 that it sends to itself and 2");
  refused(with([](auto &o) { o.algorithm = "bruck"; }), BRAID_UNSUPPORTED, "expected pair_counts");
  refused(with([](auto &o) { o.algorithm = "ring"; }), BRAID_UNSUPPORTED, "serves");
  refused(with([](auto &o) { o.algorithm = "pairwise_exchange(order=hosts)"; }), BRAID_INVALID, "got 'order'");
  braid_op *op = nullptr;
  CHECK(plan(comm, with([&](auto &o) { o.pair_counts = pairs, o.algorithm = "bruck"; }), op) == "");
  braid_op_destroy(op);
}

TEST_CASE("orders and helpers that the algorithm does not take are refused", "[executor]") {
  Ranks ranks(3, {});
  int32_t data[16] = {};
  braid_buffer one = {data, data + 8, 4, 4};
  braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &one, 1, "x");
  braid_op *op = nullptr;
  options.algorithm = "ring(order=1.0)";
  CHECK(braid_op_plan(ranks.comm(0), &options, &op) == BRAID_INVALID);
  CHECK(contains(braid_last_error(), "expected an order of 3 ranks, got 2"));
  options.algorithm = "ring";
  options.helpers = 1;
  CHECK(braid_op_plan(ranks.comm(0), &options, &op) == BRAID_UNSUPPORTED);
  CHECK(contains(braid_last_error(), "expected an algorithm that takes 1 helpers, got 'ring', which takes 0"));
}

TEST_CASE("ragged: the runtime takes the time that the player says", "[emulated][ragged]") {
  setenv("BRAID_EMULATED_CLOCK", "virtual", 1);
  for (int n : {2, 3, 8})
    for (const char *algorithm : {"naive_exchange", "pairwise_exchange", "bruck", "hierarchical"}) {
      cost::Cluster cluster = cost::quietCluster(n, 1);
      std::vector<size_t> elements;
      auto bytes = std::make_shared<std::vector<int64_t>>();
      for (int pair = 0; pair < n * n; ++pair) {
        elements.push_back(size_t(pair * 7 % 5 * (pair * 11 % 3)) * 1000);
        bytes->push_back(int64_t(elements.back() * sizeof(int32_t)));
      }
      cost::CollectiveSpec spec = cost::specOf(CollectiveKind::AllToAll, 0, cost::groupsOf(n));
      spec.counts = bytes;
      auto played = cost::playStepPrograms(*algorithms::find(algorithm), spec, {}, cluster, cost::packed(cluster));
      REQUIRE(played);
      runtime::CommunicatorOptions settings;
      settings.transport = "emulated+shm";
      settings.profile = *cost::emitProfile(cluster, cost::packed(cluster));
      settings.deadline = 20;
      Ranks job(n, settings);
      REQUIRE(job.failed() == "");
      std::vector<double> took(static_cast<size_t>(n));
      CHECK(job.run([&](int rank, braid_comm *comm) -> std::string {
        std::vector<size_t> gives, takes;
        for (int other = 0; other < n; ++other) {
          gives.push_back(elements[size_t(rank * n + other)]);
          takes.push_back(elements[size_t(other * n + rank)]);
        }
        Exchange exchange(gives, takes);
        braid_op_options asked = exchange.options("timed");
        asked.algorithm = algorithm;
        asked.pair_counts = elements.data();
        braid_op *op = nullptr;
        if (std::string problem = plan(comm, asked, op); !problem.empty())
          return problem;
        for (int round = 0; round < 2; ++round) { // the first one compares the ranks' operations too
          double begin = 0;
          if (braid_step(comm, 0, uint64_t(round), &begin))
            return braid_last_error();
          if (std::string problem = startAndWait(op); !problem.empty())
            return problem;
          double now = 0;
          braid_now(comm, &now);
          took[size_t(rank)] = now - begin;
        }
        return braid_op_destroy(op) ? braid_last_error() : "";
      }) == "");
      CAPTURE(n, algorithm);
      CHECK(*std::max_element(took.begin(), took.end()) ==
            Approx(cluster.device.launch.value + played->value).epsilon(1e-9).margin(0));
    }
  unsetenv("BRAID_EMULATED_CLOCK");
}

TEST_CASE("ragged: prices are those of blocks, never below what the busiest link carries", "[price][ragged]") {
  cost::Cluster cluster = cost::quietCluster(4, 2);
  cost::Pricer pricer(cluster, cost::packed(cluster), cost::Engine::Braid, cost::BucketForm::OneLaunch);
  cost::CollectiveSpec even = cost::specOf(CollectiveKind::AllToAll, 8 << 20, cost::groupsOf(8));
  cost::CollectiveSpec same = even, skewed = even;
  same.counts = std::make_shared<std::vector<int64_t>>(64, 1 << 20);
  auto counts = std::make_shared<std::vector<int64_t>>(64, 0);
  for (int rank = 1; rank < 8; ++rank)
    (*counts)[size_t(rank * 8)] = 8 << 20; // all to rank 0
  skewed.counts = counts;
  for (const char *algorithm : {"naive_exchange", "pairwise_exchange", "bruck", "hierarchical"}) {
    CAPTURE(algorithm);
    CHECK(cost::candidateOf(pricer, same, algorithm).time.value ==
          Approx(cost::candidateOf(pricer, even, algorithm).time.value).epsilon(1e-6));
    // Rank 0 gets 7 x 8 MiB, of which 6 over the NIC of its host's rail, or of both.
    double most = double(48 << 20) / (cluster.inter.bandwidth.value * 2);
    CHECK(cost::candidateOf(pricer, skewed, algorithm).time.value > most);
  }
  CHECK(pricer.candidates(skewed).front().time > pricer.candidates(even).front().time);
  cost::Pricer nccl(cluster, cost::packed(cluster), cost::Engine::Nccl, cost::BucketForm::OneLaunch);
  CHECK(nccl.candidates(skewed).front().time > nccl.candidates(same).front().time);
  CHECK(nccl.candidates(same).front().time.value == Approx(nccl.candidates(even).front().time.value).epsilon(1e-6));
}
