//===- EmulatedComputeTest.cpp - ranks that compute at rates of their own, and slower beside communication --------===//
//
// On the virtual clock. What operations take is asked of them (braid_op_times); what computation takes beside them is a sum over
// the pieces in which as many of them are in flight.
//===------------------------------------------------------------------------------------------------------------===//
#include "PricedClusters.h"
#include "braid/cost_models/EmitProfile.h"
#include "braid/runtime/braid_module.h"
#include "braid/runtime/draws/Draws.h"
#include "test/unit/PlannedOps.h"
#include "transports/emulated/Profile.h"
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace braid;
using namespace braid::cost;
using namespace braid::test;

namespace {

/// Two hosts of two devices; kernels are slowed 1.2-fold inside hosts, 1.5-fold between them.
Cluster slowing() {
  Cluster c = quietCluster(2, 2);
  c.compute.slowdown[int(Fabric::Intra)] = 1.2;
  c.compute.slowdown[int(Fabric::Inter)] = 1.5;
  return c;
}

Cluster skewed(double perJob, double perStep) {
  Cluster c = quietCluster(4, 1);
  c.compute.skewPerJob = perJob;
  c.compute.skewPerStep = perStep;
  return c;
}

runtime::CommunicatorOptions optionsOf(const Cluster &cluster, const char *clock = "virtual") {
  runtime::CommunicatorOptions options;
  options.transport = "emulated+shm";
  options.clock = clock;
  options.profile = *emitProfile(cluster, packed(cluster));
  options.seed = 7;
  options.deadline = 20;
  return options;
}

/// All_reduces of one rank.
class Flights {
public:
  ~Flights() {
    for (braid_op *op : all)
      braid_op_destroy(op);
  }
  /// Planned, and executed once, when ranks compare what it is. Null: an error.
  braid_op *make(braid_comm *comm, size_t count, int queue = 0) {
    in.emplace_back(count, 1.f);
    out.emplace_back(count, 0.f);
    braid_buffer buffer = {in.back().data(), out.back().data(), count, count};
    braid_op_options asked = test::optionsOf(BRAID_ALL_REDUCE, &buffer, 1, nullptr);
    asked.type = BRAID_F32;
    asked.algorithm = "ring";
    asked.queue = queue;
    braid_op *op = nullptr;
    if (braid_op_plan(comm, &asked, &op) || braid_op_start(op) || braid_op_wait(op))
      return nullptr;
    all.push_back(op);
    return op;
  }

private:
  std::vector<std::vector<float>> in, out;
  std::vector<braid_op *> all;
};

struct Span {
  double begin = 0, end = 0;
  double length() const { return end - begin; }
};

Span timesOf(braid_op *op) {
  Span span;
  braid_op_times(op, &span.begin, &span.end);
  return span;
}

/// What `seconds` of computation take from `begin` on, beside operations in flight inside and between hosts.
double overlapped(double seconds, double begin, const std::vector<Span> &inside, const std::vector<Span> &between) {
  std::vector<double> edges;
  for (const std::vector<Span> &spans : {inside, between})
    for (const Span &span : spans)
      for (double edge : {span.begin, span.end})
        if (edge > begin)
          edges.push_back(edge);
  std::sort(edges.begin(), edges.end());
  double now = begin;
  for (size_t i = 0; seconds > 0; ++i) {
    auto within = [&](const std::vector<Span> &spans) {
      return std::any_of(spans.begin(), spans.end(), [&](const Span &s) { return s.begin <= now && now < s.end; });
    };
    double rate = (within(inside) ? 1.2 : 1) * (within(between) ? 1.5 : 1);
    if (i == edges.size() || seconds * rate <= edges[i] - now)
      return now + seconds * rate - begin;
    seconds -= (edges[i] - now) / rate;
    now = edges[i];
  }
  return now - begin;
}

bool sleeps(braid_comm *comm, double seconds, Span &span) {
  return !braid_now(comm, &span.begin) && !braid_sleep(comm, seconds) && !braid_now(comm, &span.end);
}

} // namespace

TEST_CASE("a kernel is slowed for as long as operations are in flight", "[emulated][runtime][skew]") {
  for (double seconds : {400e-6, 20e-6, 3e-6}) { // the operation ends within it; does not; nearly at once
    std::vector<Span> flown(4), alone(4), kernel(4), after(4);
    std::vector<double> quiet(4);
    for (bool slows : {true, false}) {
      Cluster cluster = slows ? slowing() : quietCluster(2, 2);
      Ranks job(4, optionsOf(cluster));
      REQUIRE(job.failed() == "");
      REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
        Flights flights;
        size_t me = size_t(rank);
        braid_op *op = flights.make(comm, 1 << 20);
        Span free;
        if (!op || braid_step(comm, 0, 0, nullptr) || braid_op_start(op) ||
            !sleeps(comm, seconds, slows ? kernel[me] : free) || braid_op_wait(op))
          return braid_last_error();
        (slows ? flown : alone)[me] = timesOf(op);
        if (slows && !sleeps(comm, seconds, after[me]))
          return braid_last_error();
        quiet[me] = free.length();
        return braid_step(comm, 0, 1, nullptr) ? braid_last_error() : "";
      }) == "");
    }
    for (size_t rank = 0; rank < 4; ++rank) {
      CAPTURE(seconds, rank);
      double length = flown[rank].length();
      CHECK(length > 100e-6);
      CHECK(length == Approx(alone[rank].length()).epsilon(1e-9)); // communication is not slowed
      double closed = seconds * 1.5 < length ? seconds * 1.5 : seconds + length * (1 - 1 / 1.5);
      CHECK(kernel[rank].length() == Approx(closed).epsilon(1e-9));
      CHECK(after[rank].length() == Approx(seconds).epsilon(1e-9)); // nothing is in flight
      CHECK(quiet[rank] == Approx(seconds).epsilon(1e-9));
    }
  }
}

TEST_CASE("operations inside hosts and between them slow a kernel by the product", "[emulated][runtime][skew]") {
  for (size_t inside : {1 << 10, 1 << 22}) { // ends before the other one, and after it
    Ranks job(4, optionsOf(slowing()));
    REQUIRE(job.failed() == "");
    std::vector<Span> inner(4), outer(4), kernel(4);
    REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
      int32_t host[] = {rank / 2 * 2, rank / 2 * 2 + 1}, rail[] = {rank % 2, rank % 2 + 2};
      braid_comm *pair = nullptr, *across = nullptr; // which share no links
      if (braid_comm_subset(comm, host, 2, &pair) || braid_comm_subset(comm, rail, 2, &across))
        return braid_last_error();
      size_t me = size_t(rank);
      {
        Flights flights;
        braid_op *all = flights.make(across, 1 << 14), *two = flights.make(pair, inside);
        if (!all || !two || braid_step(comm, 0, 0, nullptr) || braid_op_start(all) || braid_op_start(two) ||
            !sleeps(comm, 300e-6, kernel[me]) || braid_op_wait(all) || braid_op_wait(two))
          return braid_last_error();
        outer[me] = timesOf(all);
        inner[me] = timesOf(two);
        if (braid_step(comm, 0, 1, nullptr))
          return braid_last_error();
      }
      return braid_comm_destroy(pair) || braid_comm_destroy(across) ? braid_last_error() : "";
    }) == "");
    for (size_t rank = 0; rank < 4; ++rank) {
      CAPTURE(inside, rank);
      CHECK((inner[rank].end < outer[rank].end) == (inside == 1 << 10));
      CHECK(kernel[rank].length() ==
            Approx(overlapped(300e-6, kernel[rank].begin, {inner[rank]}, {outer[rank]})).epsilon(1e-9));
    }
  }
}

TEST_CASE("an operation of a communicator that has failed slows nothing any more", "[emulated][runtime][skew]") {
  Ranks job(4, optionsOf(slowing()));
  REQUIRE(job.failed() == "");
  std::vector<Span> kernel(4);
  std::atomic<int> begun = 0;
  REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
    const int32_t everyone[] = {0, 1, 2, 3};
    braid_comm *part = nullptr;
    if (braid_comm_subset(comm, everyone, 4, &part))
      return braid_last_error();
    std::string problem;
    {
      Flights flights;
      braid_op *op = flights.make(part, 1 << 16);
      bool begins = op && !braid_op_start(op);
      begun += begins;
      bool fine = begins && !braid_comm_abort(part, "enough");
      fine = fine || std::strstr(braid_last_error(), "enough"); // another was faster
      problem = fine && sleeps(comm, 1e-3, kernel[size_t(rank)]) ? "" : braid_last_error();
    }
    braid_comm_destroy(part);
    return problem;
  }) == "");
  CHECK(begun > 0);
  for (const Span &span : kernel)
    CHECK(span.length() == Approx(1e-3).epsilon(1e-9));
}

TEST_CASE("an operation that waits for its turn slows nothing by itself", "[emulated][runtime][skew]") {
  Ranks job(4, optionsOf(slowing()));
  REQUIRE(job.failed() == "");
  std::vector<Span> last(4), kernel(4);
  REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
    Flights flights;
    size_t me = size_t(rank);
    braid_op *ops[] = {flights.make(comm, 1 << 16, 1), flights.make(comm, 1 << 17, 1)};
    bool fine = ops[0] && ops[1] && !braid_step(comm, 0, 0, nullptr) && !braid_op_start(ops[0]) &&
                !braid_op_start(ops[1]) && sleeps(comm, 1e-3, kernel[me]) && !braid_op_wait(ops[0]) &&
                !braid_op_wait(ops[1]);
    last[me] = fine ? timesOf(ops[1]) : Span();
    return fine && !braid_step(comm, 0, 1, nullptr) ? "" : braid_last_error();
  }) == "");
  for (size_t rank = 0; rank < 4; ++rank) // one after another without a gap, by 1.5 and never by its square
    CHECK(kernel[rank].length() == Approx(1e-3 + (last[rank].end - kernel[rank].begin) * (1 - 1 / 1.5)).epsilon(1e-9));
}

TEST_CASE("ranks compute at rates that are drawn for them, and a step takes what the slowest does",
          "[emulated][runtime][skew]") {
  constexpr double seconds = 1e-3;
  constexpr uint64_t steps = 4;
  auto run = [&](double perJob, double perStep, uint64_t number) {
    runtime::CommunicatorOptions options = optionsOf(skewed(perJob, perStep));
    Ranks job(4, options);
    REQUIRE(job.failed() == "");
    std::vector<double> kernels(4 * steps), ends(steps);
    REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
      Flights flights;
      braid_op *op = flights.make(comm, 4);
      for (uint64_t step = 0; op && step < steps; ++step) {
        double begin = 0, end = 0;
        Span kernel;
        if (braid_step(comm, number, step, &begin) || !sleeps(comm, seconds, kernel) || braid_op_start(op) ||
            braid_op_wait(op) || braid_now(comm, &end))
          return braid_last_error();
        kernels[size_t(rank) * steps + step] = kernel.length();
        if (rank == 0)
          ends[step] = end - begin;
      }
      return op && !braid_step(comm, 0, 0, nullptr) ? "" : braid_last_error();
    }) == "");
    for (uint64_t step = 0; step < steps; ++step) {
      double slowest = 0;
      for (uint64_t rank = 0; rank < 4; ++rank) {
        draws::Place place;
        place.seed = options.seed;
        place.job = number;
        place.step = step;
        place.where = rank; // the device: ranks are placed in order
        double factor = draws::computeFactor(perJob, perStep, place);
        CHECK(kernels[rank * steps + step] == Approx(seconds * factor).epsilon(1e-9));
        slowest = std::max(slowest, seconds * factor);
      }
      CHECK(ends[step] > slowest);
      CHECK(ends[step] < slowest + 20e-6); // a launch and six messages
    }
    for (double &time : kernels)
      time = std::round(time * 1e12); // clocks began at different times: ps are exact
    return kernels;
  };
  std::vector<double> both = run(0.05, 0.02, 3);
  CHECK(both == run(0.05, 0.02, 3));
  std::vector<double> sorted = both;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::unique(sorted.begin(), sorted.end()) == sorted.end());
  std::vector<double> ofJob = run(0.05, 0, 3), other = run(0.05, 0, 4);
  for (size_t i = 0; i < ofJob.size(); ++i) {
    CHECK(ofJob[i] == Approx(ofJob[i / steps * steps]).epsilon(1e-9)); // the same in all steps of a job
    CHECK(ofJob[i] != Approx(other[i]).epsilon(1e-6));
  }
  CHECK(run(0, 0, 3) == std::vector<double>(4 * steps, 1e9)); // nothing is drawn
}

TEST_CASE("what a profile states of computation, and what it can't state", "[emulated][skew]") {
  Cluster quiet = quietCluster(2, 1), stated = slowing();
  std::string text = *emitProfile(quiet, packed(quiet));
  CHECK(text.find("compute") == std::string::npos);
  stated.compute.skewPerStep = 0.01;
  runtime::EmulatedProfile profile;
  CHECK(runtime::EmulatedProfile::parse(*emitProfile(stated, packed(stated)), profile) == "");
  CHECK(profile.skewPerJob == 0);
  CHECK(profile.skewPerStep == 0.01);
  CHECK(profile.slowdownOf(true, false) == 1.2);
  CHECK(profile.slowdownOf(false, true) == 1.5);
  CHECK(profile.slowdownOf(true, true) == Approx(1.8));
  CHECK(profile.slowdownOf(false, false) == 1);
  auto error = [&](const std::string &section) {
    profile = {};
    std::string with = text;
    with.insert(with.find("\"noise\""), "\"compute\": " + section + ", ");
    return runtime::EmulatedProfile::parse(with, profile);
  };
  CHECK(error("{\"slowdown\": {\"intra\": 1.1}}") == "");
  CHECK(profile.slowdownOf(true, true) == 1.1);
  CHECK(profile.skewPerStep == 0);
  const std::string wayOut = "; braid-sim emit-profile writes it from a cluster file";
  for (auto [section, wrong] : {
           std::pair("{\"slowdown\": {\"inter\": 0.9}}", "slowdown.inter: expected a number from 1 to 100, got 0.9"),
           std::pair("{\"slowdown\": {\"intra\": 1e308}}",
                     "slowdown.intra: expected a number from 1 to 100, got 1e+308"), // no kernel would end
           std::pair("{\"slowdown\": {\"intra\": null}}", "slowdown.intra: expected a number from 1 to 100"),
           std::pair("{\"slowdown\": {\"intr\": 2}}", "slowdown: expected intra or inter, got \"intr\""),
           std::pair("{\"slowdown\": 2}", "slowdown: expected an object of numbers"),
           std::pair("{\"skew\": {\"per_job\": -1}}", "skew.per_job: expected a number from 0 to 10, got -1"),
           std::pair("{\"skew\": {\"per_job\": 1e200}}", "skew.per_job: expected a number from 0 to 10, got 1e+200"),
           std::pair("{\"skew\": {\"per_step\": \"1\"}}", "skew.per_step: expected a number from 0 to 10"),
           std::pair("{\"skew\": {\"per_step\": true}}", "skew.per_step: expected a number from 0 to 10"),
           std::pair("{\"skew\": {\"job\": 1}}", "skew: expected per_job or per_step, got \"job\""),
       })
    CHECK(error(section) == std::string("compute.") + wrong + wayOut);
  CHECK(error("{\"slow\": {}}") == "compute: expected skew or slowdown, got \"slow\"" + wayOut);
  CHECK(error("[1.2]") == "compute: expected an object with skew or slowdown" + wayOut);
  CHECK(error("{\"slowdown\": {\"intra\": 1.1, \"intra\": 3}}") == "expected \"intra\" once, got it twice at line 9");
}

TEST_CASE("a recorded kernel says how much of it the fabric has added", "[emulated][module][skew]") {
  Ranks job(4, optionsOf(skewed(0.05, 0)));
  REQUIRE(job.failed() == "");
  std::vector<double> slowed(4);
  for (int only = 0; only < 4; ++only) // one module for each thread that has none of its own: one after another
    REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
      if (rank != only)
        return "";
      double seconds = 1e-3;
      int64_t bits = 0;
      std::memcpy(&bits, &seconds, sizeof bits);
      braid_module_use(comm);
      braid_module_record(1);
      braid_module_mark(5);
      braid_module_compute(bits, 0);
      braid_module_compute(bits, 0);
      braid_module_mark(6);
      braid_module_mark(-1);
      const braid_module_event *events = nullptr;
      bool fine = braid_module_events(&events) == 2 && events[0].mark == 5 && events[1].slowed == 0 &&
                  events[0].end - events[0].begin - events[0].slowed == Approx(2 * seconds).epsilon(1e-9);
      slowed[size_t(rank)] = events[0].slowed;
      braid_module_record(0);
      braid_module_reset();
      return fine ? "" : "expected two events, of two kernels and of none";
    }) == "");
  for (size_t rank = 0; rank < 4; ++rank) {
    draws::Place place;
    place.seed = 7;
    place.where = rank;
    CHECK(slowed[rank] == Approx(2e-3 * (draws::computeFactor(0.05, 0, place) - 1)).epsilon(1e-6));
  }
}
