//===- CommunicatorTest.cpp - what ranks must agree about, who leaves, where they are -----------------------------===//
#include "test/unit/PlannedOps.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <climits>
#include <cmath>
#include <cstring>

using namespace braid;
using namespace braid::test;

TEST_CASE("ranks that ask for different transports or seeds are told so before they connect", "[executor]") {
  auto problems = [](runtime::CommunicatorOptions first, runtime::CommunicatorOptions second) {
    auto exchanges = runtime::inProcessExchanges(2);
    std::string text[2];
    braid_comm *comms[2] = {};
    std::thread other([&] { text[1] = runtime::createInProcess(exchanges[1], second, &comms[1]).text; });
    text[0] = runtime::createInProcess(exchanges[0], first, &comms[0]).text;
    other.join();
    for (braid_comm *comm : comms)
      delete comm;
    return text[0] + "; " + text[1];
  };
  runtime::CommunicatorOptions one = impatient(20), two = one;
  one.transport = "shm";
  two.transport = "tcp";
  std::string both = problems(one, two);
  INFO(both);
  CHECK(contains(both,
                 "rank 0: communicator: expected version 1, transport 'shm' on all ranks, got version 1, transport "
                 "'tcp' on rank 1"));
  CHECK(contains(both,
                 "rank 1: communicator: expected version 1, transport 'tcp' on all ranks, got version 1, transport "
                 "'shm' on rank 0"));
  one.transport = two.transport = "emulated+shm";
  one.seed = 3;
  CHECK(contains(problems(one, two), "seed 3, job 0, clock '' on all ranks, got"));
}

TEST_CASE("who is waited for and has left is missed at once, who is not may leave", "[executor]") {
  for (const char *transport : {"shm", "tcp"}) {
    runtime::CommunicatorOptions options = impatient(60);
    options.transport = transport;
    auto exchanges = runtime::inProcessExchanges(3);
    std::vector<std::string> problems(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        auto &problem = problems[size_t(rank)];
        braid_comm *comm = nullptr;
        if (problem = runtime::createInProcess(exchanges[size_t(rank)], options, &comm).text; !problem.empty())
          return;
        // A broadcast: the root ends first and leaves, the others have its data all the same.
        std::vector<int32_t> data(100000, rank == 0 ? 7 : 0);
        braid_buffer buffer = {rank ? nullptr : data.data(), data.data(), rank ? 0 : data.size(), data.size()};
        braid_op *op = nullptr;
        problem = plan(comm, optionsOf(BRAID_BROADCAST, &buffer, 1, "last words"), op);
        if (rank && problem.empty() && braid_op_start(op))
          problem = braid_last_error();
        if (problem.empty())
          problem = rank ? (braid_op_wait(op) ? braid_last_error() : "") : startAndWait(op);
        if (problem.empty() && std::count(data.begin(), data.end(), 7) != long(data.size()))
          problem = "not the root's data";
        if (op && braid_op_destroy(op))
          problem += braid_last_error();
        double begin = seconds();
        if (problem.empty() && rank) {
          problem = sumOfOne(comm, 1, 3);
          bool named = contains(problem, "rank 0 has left");
          problem = named && seconds() - begin < 1 ? "" : "expected to miss rank 0, got '" + problem + "'";
        }
        delete comm;
      });
    for (std::thread &thread : threads)
      thread.join();
    INFO(transport);
    CHECK(problems == std::vector<std::string>(3));
  }
}

TEST_CASE("ranks destroy operations in different orders, among the plans of others", "[executor]") {
  // Ranks that assumed equal lanes would send `c` to where rank 0 takes `d`: both sums 101, and nobody is told.
  for (const char *transport : {"shm", "tcp"}) {
    runtime::CommunicatorOptions options = impatient(20);
    options.transport = transport;
    auto exchanges = runtime::inProcessExchanges(3);
    std::vector<std::string> problems(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        auto &problem = problems[size_t(rank)];
        braid_comm *comm = nullptr;
        if (problem = runtime::createInProcess(exchanges[size_t(rank)], options, &comm).text; !problem.empty())
          return;
        // The first takes several lanes, which leaves holes that are too small for others.
        std::vector<int32_t> values[5];
        auto make = [&](int which, int32_t value) {
          values[which].assign(6, value);
          braid_buffer buffer = {values[which].data(), values[which].data(), 6, 6};
          braid_op_options asked = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "sum");
          asked.algorithm = "ring";
          asked.channels = which == 2 ? 3 : which == 0 ? 2 : 1;
          braid_op *op = nullptr;
          problem += plan(comm, asked, op);
          return op;
        };
        auto destroy = [&](braid_op *op) { problem += braid_op_destroy(op) ? braid_last_error() : ""; };
        braid_op *a = make(0, 0), *b = make(1, 0);
        problem += startAndWait(a) + startAndWait(b);
        if (rank == 0)
          destroy(a);
        braid_op *c = make(2, 1);
        if (rank == 1)
          destroy(a);
        braid_op *d = make(3, 100), *e = make(4, 10000);
        if (rank == 2)
          destroy(a);
        for (int step = 0; step < 3; ++step) {
          for (braid_op *op : {c, d, e})
            problem += braid_op_start(op) ? braid_last_error() : "";
          for (braid_op *op : {c, d, e})
            problem += braid_op_wait(op) ? braid_last_error() : "";
        }
        for (braid_op *op : {b, c, d, e})
          destroy(op);
        for (auto [which, sum] : {std::pair(2, 27), {3, 2700}, {4, 270000}})
          if (std::count(values[which].begin(), values[which].end(), sum) != 6)
            problem += "wrong sum " + std::to_string(values[which][0]) + "; ";
        delete comm;
      });
    for (std::thread &thread : threads)
      thread.join();
    INFO(transport);
    CHECK(problems == std::vector<std::string>(3));
  }
}

TEST_CASE("another thread aborts while one waits", "[executor]") {
  // Rank 0 sends more than one round of progress does, and waits for what nobody sends: when rank 1 has all of it, rank 0
  // is in braid_op_wait.
  for (const char *transport : {"shm", "tcp"}) {
    runtime::CommunicatorOptions options = impatient(30);
    options.transport = transport;
    Ranks ranks(2, options);
    std::vector<char> data(size_t(32) << 20);
    double begin = seconds();
    std::string problem = ranks.run([&](int rank, braid_comm *comm) -> std::string {
      int32_t never = 0;
      braid_buffer much = {data.data(), nullptr, data.size(), 0}, none = {nullptr, &never, 0, 1};
      std::vector<char> received(rank ? data.size() : 0);
      if (rank)
        much = {nullptr, received.data(), 0, received.size()};
      braid_op_options first = optionsOf(rank ? BRAID_RECV : BRAID_SEND, &much, 1, "much");
      braid_op_options second = optionsOf(BRAID_RECV, &none, 1, "never");
      first.type = BRAID_U8;
      first.peer = second.peer = 1 - rank;
      second.tag = 1;
      braid_op *a = nullptr, *b = nullptr;
      std::string wrong = plan(comm, first, a) + plan(comm, second, b);
      wrong += braid_op_start(a) || braid_op_start(b) ? braid_last_error() : "";
      if (rank)
        wrong += braid_op_wait(a) || braid_comm_abort(ranks.comm(0), "the watchdog barks") ? braid_last_error() : "";
      braid_status status = braid_op_wait(b);
      std::string said = braid_last_error();
      if (status != BRAID_ABORTED || !contains(said, "the watchdog barks"))
        wrong += "expected an abort, got '" + said + "'";
      braid_op_destroy(a);
      braid_op_destroy(b);
      return wrong;
    });
    INFO(transport);
    CHECK(problem == "");
    CHECK(seconds() - begin < 10);
  }
}

TEST_CASE("what ranks do not agree about is in the error", "[executor]") {
  struct Asked {
    braid_collective collective;
    const char *algorithm;
    int32_t chunks;
    std::vector<int32_t> pairs;
    std::vector<size_t> counts;
  };
  auto disagree = [](const Asked &first, const Asked &second) {
    Ranks ranks(2, impatient(20));
    return ranks.run([&](int rank, braid_comm *comm) -> std::string {
      const Asked &asked = rank ? second : first;
      std::vector<int32_t> data(64);
      std::vector<braid_buffer> buffers;
      for (size_t count : asked.counts)
        buffers.push_back({data.data() + 8 * buffers.size(), data.data() + 8 * buffers.size(), count, count});
      braid_op_options options = optionsOf(asked.collective, buffers.data(), buffers.size(), "x");
      options.algorithm = asked.algorithm;
      options.chunks = asked.chunks;
      options.pairs = asked.pairs.size() / 2;
      options.pair_list = asked.pairs.data();
      braid_op *op = nullptr;
      std::string problem = plan(comm, options, op);
      problem += problem.empty() ? startAndWait(op) : "";
      braid_op_destroy(op);
      return problem;
    });
  };
  Asked five = {BRAID_ALL_REDUCE, "pipelined_chain", 5, {}, {8}}, six = five;
  six.chunks = 6;
  CHECK(contains(disagree(five, six), "x1 in 5 chunks on all ranks, got all_reduce 'x' sum of 8 i32 by pipelined_chain "
                                      "x1 in 6 chunks on rank 1"));
  Asked there = {BRAID_PERMUTE, nullptr, 0, {0, 1}, {8}}, back = there;
  back.pairs = {1, 0};
  CHECK(contains(disagree(there, back),
                 "expected permute 'x' of 8 i32 0 to 1 by direct x1 on all ranks, got permute 'x' "
                 "of 8 i32 1 to 0 by direct x1 on rank 1"));
  Asked bucket = {BRAID_ALL_REDUCE, "ring", 0, {}, {1, 2, 3, 4}}, other = bucket;
  other.counts[3] = 5;
  CHECK(contains(disagree(bucket, other),
                 "got another one of that description on rank 1; do the other tensors or pairs "
                 "differ?"));
}

TEST_CASE("who waits for each other is told both operations at the deadline", "[executor]") {
  for (const char *transport : {"shm", "tcp", "in-process"}) {
    runtime::CommunicatorOptions options = impatient(0.5);
    options.transport = transport;
    Ranks ranks(2, options);
    std::vector<std::string> said(2);
    INFO(transport);
    CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
      std::vector<int32_t> data(4);
      braid_buffer buffer = {nullptr, data.data(), 0, data.size()};
      braid_op_options asked = optionsOf(BRAID_RECV, &buffer, 1, rank ? "b" : "a");
      asked.peer = 1 - rank;
      braid_op *op = nullptr;
      std::string problem = plan(comm, asked, op);
      if (problem.empty())
        said[size_t(rank)] = startAndWait(op);
      braid_op_destroy(op);
      return problem;
    }) == "");
    for (const std::string &error : said) {
      CHECK(contains(error, "recv 'a'"));
      CHECK(contains(error, "recv 'b'"));
      CHECK(contains(error, "within 0.5 s"));
    }
  }
}

TEST_CASE("send and recv compare element types, not bytes", "[executor]") {
  for (const char *transport : {"shm", "tcp", "in-process"}) {
    auto exchanged = [&](braid_type sent, size_t sends, braid_type received, size_t receives) {
      runtime::CommunicatorOptions options = impatient(20);
      options.transport = transport;
      Ranks ranks(2, options);
      std::vector<char> data(64);
      return ranks.run([&](int rank, braid_comm *comm) -> std::string {
        braid_buffer buffer = {rank ? nullptr : data.data(), rank ? data.data() + 32 : nullptr, rank ? 0 : sends,
                               rank ? receives : 0};
        braid_op_options asked = optionsOf(rank ? BRAID_RECV : BRAID_SEND, &buffer, 1, "x");
        asked.type = rank ? received : sent;
        asked.peer = 1 - rank;
        braid_op *op = nullptr;
        std::string problem = plan(comm, asked, op);
        if (problem.empty())
          problem = startAndWait(op);
        if (!problem.empty())
          braid_comm_abort(comm, problem.c_str());
        braid_op_destroy(op);
        return rank || problem.empty() || contains(problem, "gave up") ? problem : "";
      });
    };
    INFO(transport);
    CHECK(exchanged(BRAID_F32, 4, BRAID_F32, 4) == "");
    CHECK(contains(exchanged(BRAID_F32, 4, BRAID_I8, 16), "recv 'x': expected i8[16] from rank 0, got f32[4]"));
    CHECK(contains(exchanged(BRAID_F32, 4, BRAID_F32, 5), "recv 'x': expected f32[5] from rank 0, got f32[4]"));
    CHECK(contains(exchanged(BRAID_F16, 0, BRAID_BF16, 0), "recv 'x': expected bf16[0] from rank 0, got f16[0]"));
  }
}

TEST_CASE("errors of a subset number ranks as the job does, and say so", "[executor]") {
  Ranks ranks(4, impatient(20));
  CHECK(ranks.run([&](int rank, braid_comm *comm) -> std::string {
    int32_t members[] = {3, 1};
    if (rank % 2 == 0)
      return "";
    braid_comm *pair = nullptr;
    if (braid_comm_subset(comm, members, 2, &pair))
      return braid_last_error();
    std::vector<int32_t> data(8);
    braid_buffer buffer = {data.data(), data.data(), 8, 8};
    braid_op_options asked = optionsOf(rank == 1 ? BRAID_ALL_REDUCE : BRAID_ALL_TO_ALL, &buffer, 1, "x");
    braid_op *op = nullptr;
    std::string problem = plan(pair, asked, op);
    if (problem.empty())
      problem = startAndWait(op);
    braid_op_destroy(op);
    braid_comm_destroy(pair);
    bool both = contains(problem, "rank 1 of the job") && contains(problem, "rank 3 of the job");
    return both ? "" : "expected both ranks by their numbers in the job, got '" + problem + "'";
  }) == "");
}

namespace {

/// Rank 1 of 2 as a broken program would be: it tells rank 0 what it asks for on lane 0.
std::string answerTo(const std::vector<char> &announcement) {
  auto exchanges = runtime::inProcessExchanges(2);
  std::string problem, broken;
  std::thread other([&] {
    std::vector<std::string> all;
    runtime::TransportContext context{*exchanges[1], {0, 1}, 1, "job", 20, ""};
    std::unique_ptr<runtime::Transport> transport;
    broken = exchanges[1]->allgather("job/hello", {0, 1}, "7 version 1, transport 'shm'", 20, all).text;
    broken += runtime::makeTransport("shm", context, transport).text;
    if (!broken.empty())
      return;
    transport->offer(0, 0, announcement.data(), announcement.size());
    for (unsigned spins = 0; !transport->fault() && !transport->left(0, 0); ++spins)
      transport->idle(spins);
  });
  runtime::CommunicatorOptions options = impatient(20);
  options.transport = "shm";
  braid_comm *comm = nullptr;
  problem = runtime::createInProcess(exchanges[0], options, &comm).text;
  if (problem.empty())
    problem = sumOfOne(comm, 1, 2);
  delete comm;
  other.join();
  return problem + broken;
}

} // namespace

TEST_CASE("what a peer announces is looked at before it is believed", "[executor]") {
  std::string tooShort = answerTo(std::vector<char>(7)), before = "announcement of rank 1: expected ";
  REQUIRE(contains(tooShort, before));
  CHECK(contains(tooShort, " bytes, got 7"));
  size_t size = std::stoul(tooShort.substr(tooShort.find(before) + before.size()));
  for (int32_t lane : {0, -1, 3072, 1 << 30, INT32_MIN}) {
    std::vector<char> announcement(size);
    std::memcpy(announcement.data() + 8, &lane, sizeof lane);
    INFO(lane);
    CHECK(contains(answerTo(announcement),
                   "expected a first lane from 1 to 3069 on rank 1, got " + std::to_string(lane)));
  }
}

TEST_CASE("options of the emulated fabric are errors without it", "[executor]") {
  auto problem = [](const char *transport, auto change) {
    runtime::CommunicatorOptions options = impatient(20);
    options.transport = transport;
    change(options);
    return Ranks(2, options).failed();
  };
  for (const char *transport : {"", "shm", "tcp"}) {
    INFO(transport);
    CHECK(contains(problem(transport, [](auto &o) { o.clock = "virtual"; }),
                   "transport: expected an emulated one (emulated+shm, ...) for clock 'virtual', got "));
    CHECK(contains(problem(transport, [](auto &o) { o.profile = "x.json"; }), "for a profile, got "));
    CHECK(contains(problem(transport, [](auto &o) { o.seed = 3; }), "for seed 3, got "));
    CHECK(contains(problem(transport, [](auto &o) { o.job = 4; }), "for job 4, got "));
  }
}

TEST_CASE("a refusal names the operation once, and the types that would do", "[executor]") {
  Ranks ranks(1, impatient(20));
  CHECK(ranks.run([](int, braid_comm *comm) -> std::string {
    std::vector<int32_t> data(8);
    braid_buffer buffer = {data.data(), data.data(), 8, 8};
    braid_op_options asked = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "");
    braid_op *op = nullptr;
    asked.type = BRAID_F16;
    asked.accumulation = BRAID_I8 + 1;
    if (std::string got = plan(comm, asked, op);
        got != "rank 0: all_reduce: accumulation of f16: expected one of f16, bf16, f32, f64, got i8")
      return got;
    asked.accumulation = 77;
    if (std::string got = plan(comm, asked, op); !contains(got, "expected one of f16, bf16, f32, f64, got number 77"))
      return got;
    asked.accumulation = 0;
    std::vector<braid_op *> all;
    for (std::string got; got.empty();) { // until the lanes are used up
      got = plan(comm, asked, op);
      if (got.empty())
        all.push_back(op);
      else if (got != "rank 0: all_reduce: expected at most 3069 lanes of planned operations, got more")
        return got;
    }
    for (braid_op *each : all)
      braid_op_destroy(each);
    return "";
  }) == "");
}

namespace {

/// Threads that believe to be on hosts of some size.
class Housed : public runtime::Exchange {
public:
  Housed(std::shared_ptr<runtime::Exchange> inner, std::vector<int> hosts)
      : inner(std::move(inner)), hosts(std::move(hosts)) {}
  int rank() const override { return inner->rank(); }
  int ranks() const override { return inner->ranks(); }
  bool sameHost(int a, int b) const override { return hosts[size_t(a)] == hosts[size_t(b)]; }
  runtime::Outcome allgather(const std::string &key, const std::vector<int> &members, const std::string &mine,
                             double deadline, std::vector<std::string> &all) override {
    return inner->allgather(key, members, mine, deadline, all);
  }

private:
  std::shared_ptr<runtime::Exchange> inner;
  std::vector<int> hosts;
};

} // namespace

TEST_CASE("algorithms with levels are given the hosts, also uneven ones, and in subsets", "[executor]") {
  for (std::vector<int> hosts :
       {std::vector<int>{5, 5, 5, 5}, {0, 0, 1, 1}, {3, 1, 3, 1}, {0, 0, 0, 1}, {2, 1, 0, 2, 1, 0}}) {
    int n = int(hosts.size());
    auto exchanges = runtime::inProcessExchanges(n);
    std::vector<std::string> problems(static_cast<size_t>(n));
    std::vector<std::thread> threads;
    runtime::CommunicatorOptions options = impatient(20);
    options.transport = "tcp";
    for (int rank = 0; rank < n; ++rank)
      threads.emplace_back([&, rank] {
        auto housed = std::make_shared<Housed>(exchanges[size_t(rank)], hosts);
        auto &problem = problems[size_t(rank)];
        braid_comm *comm = nullptr, *reversed = nullptr;
        if (problem = runtime::createInProcess(housed, options, &comm).text; !problem.empty())
          return;
        std::vector<int> expected, order;
        for (int other = 0; other < n; ++other) {
          expected.push_back(int(std::find(hosts.begin(), hosts.end(), hosts[size_t(other)]) - hosts.begin()));
          order.push_back(n - 1 - other);
        }
        if (std::count(hosts.begin(), hosts.end(), hosts[0]) == n)
          expected.clear();
        if (comm->comm->hostsOfRanks() != expected)
          problem = "other hosts";
        std::vector<int32_t> order32(order.begin(), order.end());
        if (braid_comm_subset(comm, order32.data(), size_t(n), &reversed))
          problem += braid_last_error();
        for (braid_comm *each : {comm, reversed}) {
          std::vector<int32_t> in(1000, rank), out(1000);
          braid_buffer buffer = {in.data(), out.data(), in.size(), out.size()};
          braid_op_options asked = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "levels");
          asked.algorithm = "hierarchical_ring";
          braid_op *op = nullptr;
          problem += plan(each, asked, op);
          problem += op ? startAndWait(op) : "";
          if (std::count(out.begin(), out.end(), n * (n - 1) / 2) != 1000)
            problem += "wrong sum";
          braid_op_destroy(op);
        }
        problem += braid_comm_destroy(reversed) ? braid_last_error() : "";
        delete comm;
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(problems == std::vector<std::string>(static_cast<size_t>(n)));
  }
}

TEST_CASE("programs of older and newer headers", "[executor]") {
  struct Newer {
    braid_comm_options known;
    uint64_t unknown;
  } newer = {};
  newer.known.size = sizeof newer;
  newer.known.ranks = 1;
  auto *options = &newer.known;
  braid_comm *comm = nullptr;
  REQUIRE(braid_comm_create(options, &comm) == BRAID_OK); // it asks for nothing new
  CHECK(braid_comm_destroy(comm) == BRAID_OK);
  comm = nullptr;
  newer.unknown = 1;
  CHECK(braid_comm_create(options, &comm) == BRAID_UNSUPPORTED);
  CHECK(contains(braid_last_error(), "the program was built for a newer one"));
  CHECK(comm == nullptr);
  newer.known.size = offsetof(braid_comm_options, job); // the first header's
  newer.known.clock = "none";                           // behind its end
  REQUIRE(braid_comm_create(options, &comm) == BRAID_OK);
  struct NewerOp {
    braid_op_options known;
    uint64_t unknown;
  } op = {};
  op.known = optionsOf(BRAID_BARRIER, nullptr, 0, "b");
  op.known.size = sizeof op;
  op.unknown = 1;
  braid_op *planned = nullptr;
  CHECK(braid_op_plan(comm, &op.known, &planned) == BRAID_UNSUPPORTED);
  CHECK(contains(braid_last_error(), "braid_op_options"));
  CHECK(braid_comm_destroy(comm) == BRAID_OK);
  newer.known.size = 8;
  CHECK(braid_comm_create(options, &comm) == BRAID_INVALID);
  CHECK(braid_version() == BRAID_RT_VERSION);
  CHECK(std::string(braid_status_name(BRAID_MISMATCH)) == "BRAID_MISMATCH");
  CHECK(std::string(braid_status_name(braid_status(9))) == "unknown status");
  CHECK(std::string(braid_status_name(braid_status(-1))) == "unknown status");
}

TEST_CASE("of several deaths the exchange's account is believed, but only of deaths", "[executor]") {
  struct Account : runtime::Exchange {
    runtime::Outcome said;
    int rank() const override { return 0; }
    int ranks() const override { return 4; }
    bool sameHost(int, int) const override { return true; }
    runtime::Outcome allgather(const std::string &, const std::vector<int> &, const std::string &, double,
                               std::vector<std::string> &) override {
      return said;
    }
  } exchange;
  runtime::Outcome messenger(BRAID_PEER_DIED, "rank 1 died: the connection was closed by the other side");
  runtime::Outcome refused(BRAID_SYSTEM, "no descriptors");
  exchange.said = {BRAID_PEER_DIED, "rank 3 died: was ended by signal 9 (Killed)"};
  CHECK(exchange.agree("key", {0, 1, 2, 3}, messenger, 1).text == exchange.said.text);
  CHECK(exchange.agree("key", {0, 1, 2, 3}, {}, 1).text == exchange.said.text);
  CHECK(exchange.agree("key", {0, 1, 2, 3}, refused, 1).text == refused.text);
  exchange.said = {BRAID_PEER_DIED, "the store at 127.0.0.1:1 is gone"};
  CHECK(exchange.agree("key", {0, 1, 2, 3}, messenger, 1).text == messenger.text);
}

TEST_CASE("a sleep without end is refused", "[runtime]") {
  Ranks ranks(1, {});
  for (double seconds : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    CHECK(braid_sleep(ranks.comm(0), seconds) == BRAID_INVALID);
    CHECK(std::string(braid_last_error()).find("sleep: expected a time in seconds, got ") != std::string::npos);
  }
}
