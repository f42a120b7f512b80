//===- VirtualClockTest.cpp - step programs on the emulated fabric take what the model's player says --------------===//
//
// The player knows the collective and computes its time; the emulated transport delays messages and knows neither. They
// share the link rule as a sentence, not as code.
//===------------------------------------------------------------------------------------------------------------===//
#include "EmulatedRanks.h"
#include "PricedClusters.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid;
using namespace braid::cost;
using namespace braid::runtime;
namespace alg = braid::algorithms;

namespace {

struct Case {
  const char *algorithm;
  CollectiveKind kind;
  alg::StepOptions settings;
  int64_t bytes; ///< of the operand; the chunks divide it
  std::shared_ptr<const RankGroups> groups;
};

/// Time until the last rank is done, on the emulated fabric.
double emulated(const Case &c, const EmulatedProfile &profile, bool fibers, bool checkSums = false) {
  std::vector<double> ends(size_t(profile.ranks)), wrong(size_t(profile.ranks));
  onRanks(profile, {}, fibers, [&](int rank, EmulatedTransport &transport) {
    for (const std::vector<int> &group : c.groups->groups) {
      auto me = std::find(group.begin(), group.end(), rank);
      if (me == group.end())
        continue;
      int n = int(group.size());
      alg::StepProgram program = alg::find(c.algorithm)->program(c.kind, n, int(me - group.begin()), c.settings);
      int64_t buffer = alg::bufferBytes(c.kind, n, c.bytes);
      std::vector<float> data;
      if (checkSums)
        data.assign(size_t(buffer) / sizeof(float), float(rank + 1));
      test::StepDriver driver(transport, program, group, size_t(buffer / program.chunks), 0,
                              checkSums ? data.data() : nullptr);
      transport.clock()->align();
      driver.begin(0, 0);
      drive(driver, transport);
      ends[size_t(rank)] = transport.fault() ? -1 : transport.clock()->now();
      transport.clock()->align(); // others may still read what this rank sent
      float sum = 0;
      for (int member : group)
        sum += float(member + 1);
      for (float x : data)
        wrong[size_t(rank)] += x != sum;
    }
  });
  for (double count : wrong)
    if (count > 0)
      return -1;
  return *std::max_element(ends.begin(), ends.end());
}

double predicted(const Case &c, const Cluster &cluster, const Placement &placement, const DrawPlace *noise = nullptr) {
  Result<Seconds> time = playStepPrograms(*alg::find(c.algorithm), specOf(c.kind, c.bytes, c.groups), c.settings,
                                          cluster, placement, noise);
  REQUIRE(time);
  return time->value;
}

/// Chunks of whole floats for every number of ranks up to 9 and 8 segments of two trees.
constexpr int64_t even = 4 * 2520 * 16;

std::vector<Case> casesFor(int ranks, int groups = 1, bool strided = false) {
  alg::StepOptions one, eight;
  eight.segments = 8;
  auto all = groupsOf(ranks, groups, strided);
  return {{"ring", CollectiveKind::AllReduce, one, even, all},
          {"ring", CollectiveKind::ReduceScatter, one, even, all},
          {"ring", CollectiveKind::AllGather, one, even, all},
          {"double_binary_tree", CollectiveKind::AllReduce, one, even, all},
          {"double_binary_tree", CollectiveKind::AllReduce, eight, even, all},
          {"naive_exchange", CollectiveKind::AllReduce, one, even, all},
          {"naive_exchange", CollectiveKind::AllGather, one, even, all},
          {"pairwise_exchange", CollectiveKind::AllToAll, one, even, all}};
}

/// A profile in which no two paths share a link: an emulation that ignores contention.
EmulatedProfile withoutContention(const EmulatedProfile &profile) {
  EmulatedProfile free = profile;
  free.links.clear();
  for (std::vector<std::vector<int>> &ways : free.ways)
    for (std::vector<int> &path : ways)
      for (int &link : path) {
        free.links.push_back(profile.links[size_t(link)]);
        link = int(free.links.size()) - 1;
      }
  return free;
}

} // namespace

TEST_CASE("virtual clock: step programs take what the player says", "[emulated][virtual]") {
  for (int ranks = 2; ranks <= 9; ++ranks)
    for (const Case &c : casesFor(ranks)) {
      Cluster cluster = quietCluster(ranks, 1);
      CAPTURE(ranks, c.algorithm, int(c.kind), c.settings.segments);
      double expected = predicted(c, cluster, packed(cluster));
      CHECK(emulated(c, profileOf(cluster, packed(cluster)), /*fibers=*/true) ==
            Approx(expected).epsilon(1e-9).margin(0));
    }
}

TEST_CASE("virtual clock: groups that share links contend as in the player", "[emulated][virtual]") {
  Cluster cluster = quietCluster(4, 2);
  cluster.nicsPerHost = 1; // two devices, one NIC
  Placement placement = packed(cluster);
  EmulatedProfile profile = profileOf(cluster, placement);
  int slower = 0;
  for (Case c : casesFor(8, 2, /*strided=*/true)) {
    c.bytes *= 16; // mostly transfer
    CAPTURE(c.algorithm, int(c.kind), c.settings.segments);
    double expected = predicted(c, cluster, placement);
    CHECK(emulated(c, profile, true) == Approx(expected).epsilon(1e-9).margin(0));
    // One that sleeps the time of its own group's collective does not see the other group.
    Case alone = c;
    auto first = std::make_shared<RankGroups>();
    first->groups = {c.groups->groups[0]};
    alone.groups = first;
    slower += predicted(alone, cluster, placement) < 0.9 * expected;
    // Nor does one without contention.
    slower += emulated(c, withoutContention(profile), true) < 0.9 * expected;
  }
  CHECK(slower == 16);
}

TEST_CASE("virtual clock: threads and fibers agree, and the sums are right", "[emulated][virtual]") {
  for (int ranks : {2, 5, 8}) {
    Cluster cluster = quietCluster(ranks, 1);
    EmulatedProfile profile = profileOf(cluster, packed(cluster));
    for (const Case &c : casesFor(ranks)) {
      CAPTURE(ranks, c.algorithm, int(c.kind), c.settings.segments);
      bool sums = c.kind == CollectiveKind::AllReduce;
      double fibers = emulated(c, profile, true, sums);
      CHECK(fibers > 0);
      CHECK(emulated(c, profile, false, sums) == fibers);
    }
  }
}

TEST_CASE("virtual clock: with the bulk noise of messages too", "[emulated][virtual]") {
  for (int ranks : {2, 3, 8})
    for (const Case &c : casesFor(ranks)) {
      Cluster cluster = quietCluster(ranks, 1);
      cluster.inter.profile.bulkMean = 0.3;
      cluster.inter.profile.bulkSigma = 0.7;
      CAPTURE(ranks, c.algorithm, int(c.kind), c.settings.segments);
      DrawPlace place;
      double expected = predicted(c, cluster, packed(cluster), &place);
      CHECK(expected > predicted(c, cluster, packed(cluster)));
      CHECK(emulated(c, profileOf(cluster, packed(cluster)), true) == Approx(expected).epsilon(1e-9).margin(0));
    }
}

TEST_CASE("virtual clock: sleeping, launching and reducing take what they are charged", "[emulated][virtual]") {
  Cluster cluster = quietCluster(2, 1);
  EmulatedProfile profile = profileOf(cluster, packed(cluster));
  std::vector<double> times;
  onRanks(profile, {}, false, [&](int rank, EmulatedTransport &transport) {
    Clock &clock = *transport.clock();
    if (rank == 0) {
      clock.sleepUntil(1000); // a quarter of an hour, at once
      times.push_back(clock.now());
      times.push_back(clock.launched() - clock.now());
      times.push_back(clock.reduced(1 << 20) - clock.now());
      times.push_back(clock.reduced(1 << 20) - clock.now()); // after the first
    }
    clock.align();
    if (rank == 1)
      times.push_back(clock.now());
  });
  REQUIRE(times.size() == 5);
  CHECK(times[0] == 1000);
  CHECK(times[1] == Approx(5e-6).margin(1e-12));
  CHECK(times[2] == Approx(double(1 << 20) / 1e12).margin(1e-12));
  CHECK(times[3] == Approx(2 * double(1 << 20) / 1e12).margin(1e-12));
  CHECK(times[4] == 1000);
}

TEST_CASE("virtual clock: a receive that no message comes for is an error, not a hang", "[emulated][virtual]") {
  Cluster cluster = quietCluster(2, 1);
  std::string what[2];
  onRanks(profileOf(cluster, packed(cluster)), {}, false, [&](int rank, EmulatedTransport &transport) {
    Message message;
    while (!transport.peek(1 - rank, 0, message) && !transport.fault())
      transport.idle(0);
    what[rank] = transport.fault().what;
  });
  for (const std::string &text : what)
    CHECK(text == "emulated fabric: every rank is blocked and no message is under way");
}

namespace {
/// Moves nothing: what the emulation says is all there is.
class Nothing : public Transport {
public:
  const char *name() const override { return "nothing"; }
  void *allocate(size_t) override { return nullptr; }
  void release(void *) override {}
  bool offer(int, int, const void *, size_t, uint16_t) override { return true; }
  uint64_t accepted(int, int) override { return ~0ull; }
  bool peek(int, int, Message &) override { return true; }
  void accept(int, int) override {}
  void progress() override {}
  void idle(unsigned) override {}
  Fault fault() override { return {}; }
  void abort(const std::string &) override {}
  TransportCounters counters() const override { return {}; }
};
} // namespace

TEST_CASE("virtual clock: ranks as processes", "[emulated][virtual]") {
  for (int ranks : {2, 8})
    for (const Case &c : casesFor(ranks)) {
      Cluster cluster = quietCluster(ranks, 1);
      EmulatedProfile profile = profileOf(cluster, packed(cluster));
      EmulationOptions options;
      options.messages = 4096;
      size_t bytes = Emulation::regionBytes(profile, options) + size_t(ranks) * sizeof(double);
      void *region = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      REQUIRE(region != MAP_FAILED);
      double *ends = reinterpret_cast<double *>(static_cast<char *>(region) + Emulation::regionBytes(profile, options));
      std::vector<pid_t> children;
      for (int rank = 0; rank < ranks; ++rank) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
          {
            EmulatedTransport transport(Emulation::attach(profile, options, region, rank == 0),
                                        std::make_unique<Nothing>(), rank);
            alg::StepProgram program = alg::find(c.algorithm)->program(c.kind, ranks, rank, c.settings);
            size_t chunk = size_t(alg::bufferBytes(c.kind, ranks, c.bytes) / program.chunks);
            test::StepDriver driver(transport, program, c.groups->groups[0], chunk, 0);
            driver.begin(0, 0);
            drive(driver, transport);
            ends[rank] = transport.fault() ? -1 : transport.clock()->now();
          }
          _exit(0);
        }
        children.push_back(child);
      }
      int died = 0;
      for (pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        died += status != 0;
      }
      CAPTURE(ranks, c.algorithm, int(c.kind), c.settings.segments);
      CHECK(died == 0);
      CHECK(*std::max_element(ends, ends + ranks) ==
            Approx(predicted(c, cluster, packed(cluster))).epsilon(1e-9).margin(0));
      munmap(region, bytes);
    }
}
