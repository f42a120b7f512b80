//===- VerbsManagedTest.cpp - queue pairs that rdma_cm connects (BRAID_IB_CM=rdma_cm), on the double ------------------===//
#include "bootstrap/Deadline.h"
#include "core/InProcessExchange.h"
#include "test/unit/OverVerbs.h"
#include "transports/verbs/ConnectionManager.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

using namespace braid;
using namespace braid::test;
using namespace braid::runtime;
using namespace braid::runtime::verbs;
using Catch::Matchers::Contains;

namespace {

/// What each rank says of connecting over the fabric.
std::vector<std::string> connectAll(int ranks, const FabricSettings &settings, double deadline = 20) {
  auto fabric = Fabric::create(settings);
  auto exchanges = inProcessExchanges(ranks);
  std::vector<int> members;
  for (int rank = 0; rank < ranks; ++rank)
    members.push_back(rank);
  std::vector<std::string> said(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank != ranks; ++rank)
    threads.emplace_back([&, rank] {
      TransportContext context{*exchanges[size_t(rank)], members, rank, "test", deadline, "", 0};
      std::unique_ptr<Transport> transport;
      std::unique_ptr<Provider> provider = fabric->provider(rank);
      said[size_t(rank)] = runtime::verbs::makeTransport(context, "verbs-double", *provider, transport).text;
    });
  for (std::thread &thread : threads)
    thread.join();
  return said;
}

FabricSettings faulty(ManagerFault fault) {
  FabricSettings settings;
  settings.managerFault = fault;
  return settings;
}

/// Collectives of small and large messages over the fabric: empty, or what was wrong.
std::string collectives(const std::shared_ptr<Fabric> &fabric, int count) {
  Use use(fabric);
  Ranks ranks(count, overVerbs());
  if (ranks.failed() != "")
    return ranks.failed();
  return ranks.run([&](int rank, braid_comm *comm) -> std::string {
    std::string problem;
    for (braid_collective collective : {BRAID_ALL_REDUCE, BRAID_ALL_GATHER, BRAID_ALL_TO_ALL, BRAID_BROADCAST})
      for (size_t block : {size_t(5), size_t(20000)}) {
        size_t all = size_t(count) * block, in = collective == BRAID_ALL_GATHER ? block : all;
        std::vector<int32_t> send(in, rank + 1), receive(all, -1);
        braid_buffer buffer = {send.data(), receive.data(), in, all};
        if (collective == BRAID_BROADCAST && rank != 0)
          buffer = {nullptr, receive.data(), 0, all};
        braid_op *op = nullptr;
        problem = plan(comm, optionsOf(collective, &buffer, 1, "managed"), op);
        for (int i = 0; i < 3 && problem.empty(); ++i)
          problem = startAndWait(op);
        for (size_t i = 0; i < all && problem.empty(); ++i) {
          int expected = collective == BRAID_ALL_REDUCE  ? count * (count + 1) / 2
                         : collective == BRAID_BROADCAST ? (rank == 0 ? receive[i] : 1)
                                                         : int(i / block) + 1;
          if (receive[i] != expected)
            problem = "expected " + std::to_string(expected) + " at " + std::to_string(i) + " of collective " +
                      std::to_string(int(collective)) + ", got " + std::to_string(receive[i]);
        }
        if (op && braid_op_destroy(op))
          problem += braid_last_error();
        if (!problem.empty())
          return problem;
      }
    return problem;
  });
}

} // namespace

TEST_CASE("verbs: collectives over queue pairs that rdma_cm connects, in all modes", "[verbs][rdma_cm]") {
  Forced manager("BRAID_IB_CM", "rdma_cm");
  const char *mode = GENERATE("auto", "write", "read", "send");
  Forced forced("BRAID_IB_MODE", mode), pairs("BRAID_IB_QPS_PER_CONNECTION", "2");
  INFO(mode);
  for (int ranks : {2, 3, 5}) {
    INFO(ranks);
    auto fabric = Fabric::create();
    CHECK(collectives(fabric, ranks) == "");
    // 3 queue pairs on 2 rails for each two ranks were asked for and answered; without the manager none is.
    CHECK(fabric->figures().managed == uint64_t(ranks * (ranks - 1) / 2 * 2 * 3));
    CHECK(fabric->figures().regions == 0);
  }
}

TEST_CASE("verbs: without BRAID_IB_CM nobody asks for a connection manager", "[verbs][rdma_cm]") {
  auto fabric = Fabric::create(faulty(ManagerFault::NoManager));
  CHECK(collectives(fabric, 2) == "");
  CHECK(fabric->figures().managed == 0);
}

TEST_CASE("verbs: what goes wrong with rdma_cm is one sentence on all ranks, soon", "[verbs][rdma_cm]") {
  Forced manager("BRAID_IB_CM", "rdma_cm");
  struct {
    ManagerFault fault;
    const char *place, *sentence, *advice;
  } const cases[] = {
      {ManagerFault::NoManager, "rank 1: ", "expected a connection manager, got none", "leave it at exchange"},
      {ManagerFault::NoAddress,
       "double0 port 1: ", "cannot listen by rdma_cm at an IP address of its network interface", "ip address add"},
      {ManagerFault::AddressRefused, "double0 port 1 of rank 1 to rank 0 by rdma_cm, 10.0.0.0 port ",
       "its address is not resolved: Network is unreachable", "ip route get"},
      {ManagerFault::Address, "double0 port 1 of rank 1 to rank 0 by rdma_cm, 10.0.0.0 port ",
       "its address is not resolved: Connection timed out", "ip route get"},
      {ManagerFault::OtherPort, "double0 port 1 of rank 1 to rank ", "double1 port 1", "each rail needs"},
      {ManagerFault::Route, "double0 port 1 of rank 1 to rank 0 by rdma_cm",
       "its route is not resolved: No route to host", "sminfo"},
      {ManagerFault::Unreachable, "of rank 1 to rank 0 by rdma_cm", "it does not answer: Connection timed out",
       "UDP 4791"},
      {ManagerFault::Rejection, "of rank 1 to rank 0 by rdma_cm", "it has rejected the request, reason 8",
       "is its address unique"},
      {ManagerFault::WrongRequest, "rank 0: expected requests by rdma_cm for queue pairs that wait for one",
       "got rank 1, rail 64, queue pair 0", "do all ranks have the same knobs"},
      {ManagerFault::WrongSeed, "of rank 1 to rank 0 by rdma_cm", "it has rejected the request, reason 28",
       "is its address unique"},
      {ManagerFault::WrongAnswer, "of rank 1 to rank 0 by rdma_cm", "expected an answer for rail 0, queue pair 0",
       "is its address unique"},
      {ManagerFault::AnsweredEarly, "of rank 1 to rank 0 by rdma_cm",
       "expected its address, got what answers something else", "rdma_cm"},
      {ManagerFault::HangsUp, "of rank 0 to rank 1 by rdma_cm", "it has disconnected", "the other rank may say why"},
      {ManagerFault::BrokenChannel,
       "rank 1: ", "expected events of rdma_cm, got an error of their channel: Input/output error", "kernel's log"},
  };
  for (const auto &each : cases) {
    INFO(each.sentence);
    Deadline soon(10);
    std::vector<std::string> said = connectAll(3, faulty(each.fault));
    CHECK(!soon.passed());
    for (const std::string &text : said) {
      CHECK_THAT(text,
                 Contains(each.place) && Contains(each.sentence) && Contains(each.advice) && Contains("exchange"));
      CHECK(text.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("verbs: answers that come twice connect once, and as many requests are taken as ranks and paths need",
          "[verbs][rdma_cm]") {
  Forced manager("BRAID_IB_CM", "rdma_cm");
  CHECK(collectives(Fabric::create(faulty(ManagerFault::AnsweredTwice)), 3) == "");
  std::string flows; // of eight queue pairs for each two ranks, where a knob asks for one
  for (int from = 0; from < 6; ++from)
    for (int to = 0; to < 6; ++to)
      if (from != to)
        flows += (flows.empty() ? "" : ";") + std::to_string(from) + "-" + std::to_string(to) +
                 ":50001.50002.50003.50004.50005.50006.50007.50008";
  Forced paths("BRAID_PATHS", flows.c_str());
  CommunicatorOptions options = overVerbs();
  options.paths = flows;
  auto fabric = Fabric::create();
  Use use(fabric);
  Ranks ranks(6, options);
  CHECK(ranks.failed() == "");
  CHECK(fabric->figures().managed == 6 * 5 / 2 * 2 * 9);
  CHECK(fabric->figures().backlog >= 5 * 9); // all of a rail at once
}

TEST_CASE("verbs: knobs that rdma_cm does not obey are told", "[verbs][rdma_cm]") {
  Forced manager("BRAID_IB_CM", "rdma_cm");
  {
    Forced partition("BRAID_IB_PKEY", "1");
    for (const std::string &text : connectAll(2, {}))
      CHECK_THAT(text, Contains("BRAID_IB_PKEY: expected none with BRAID_IB_CM=rdma_cm") && Contains("got 1"));
  }
  Forced index("BRAID_IB_GID_INDEX", "2"); // RoCE v1 of the same address
  for (const std::string &text : connectAll(2, {}))
    CHECK_THAT(text, Contains("expected GID 2, as NCCL_IB_GID_INDEX says, got GID 3"));
  Forced same("BRAID_IB_GID_INDEX", "3");
  CHECK(connectAll(2, {}) == std::vector<std::string>(2));
}

TEST_CASE("verbs: who hears nothing of rdma_cm says so at the deadline, and so do all", "[verbs][rdma_cm]") {
  Forced manager("BRAID_IB_CM", "rdma_cm");
  Deadline soon(10);
  std::vector<std::string> said = connectAll(3, faulty(ManagerFault::Silence), 0.5);
  CHECK(!soon.passed());
  for (const std::string &text : said)
    CHECK_THAT(text, Contains("by rdma_cm") && Contains("within 0.5 s, got none") && Contains("rank 1") &&
                         Contains("queue pairs are not connected") && Contains("exchange"));
}

TEST_CASE("verbs: a device that is iWARP is connected by rdma_cm alone, and without write with immediate",
          "[verbs][rdma_cm]") {
  FabricSettings iwarp;
  iwarp.iwarp = true;
  for (const std::string &text : connectAll(2, iwarp))
    CHECK_THAT(text, Contains("device double0 port 1 is iWARP: expected BRAID_IB_CM=rdma_cm"));
  Forced manager("BRAID_IB_CM", "rdma_cm");
  for (const std::string &text : connectAll(2, iwarp))
    CHECK_THAT(text, Contains("expected BRAID_IB_MODE=send or read") && Contains("got auto"));
  {
    Forced write("BRAID_IB_MODE", "write");
    for (const std::string &text : connectAll(2, iwarp))
      CHECK_THAT(text, Contains("expected BRAID_IB_MODE=send or read") && Contains("got write"));
  }
  for (const char *mode : {"send", "read"}) {
    INFO(mode);
    Forced able("BRAID_IB_MODE", mode);
    auto fabric = Fabric::create(iwarp);
    CHECK(collectives(fabric, 3) == "");
    CHECK(fabric->figures().immediates == 0);
  }
}

TEST_CASE("verbs: a request of another job is rejected, and ends nothing", "[verbs][rdma_cm]") {
  auto fabric = Fabric::create();
  std::unique_ptr<ConnectionManager> here, there;
  REQUIRE(fabric->provider(0)->connectionManager(here));
  REQUIRE(fabric->provider(1)->connectionManager(there));
  std::unique_ptr<Device> device;
  for (int host : {0, 1})
    REQUIRE(fabric->provider(host)->open("double0", device));
  Endpoint at, own;
  int error = 0;
  auto listener = here->listen("double0", 1, {}, 4, at, error);
  auto other = there->listen("double0", 1, {}, 4, own, error);
  REQUIRE((listener && other));
  auto asking = there->make(error);
  CHECK(asking->resolveAddress({"10.9.9.9", 0}, at, 100) == EADDRNOTAVAIL);
  REQUIRE(asking->resolveAddress({own.address, 0}, at, 100) == 0);
  CHECK(asking->place() == "double0 port 1");
  CHECK(asking->connect({1, 1, 1, 7, 7, std::string(mostPrivateData + 1, 'x')}) == EINVAL);
  REQUIRE(asking->connect({1, 1, 1, 7, 7, "hello"}) == 0);
  ConnectionEvent event;
  REQUIRE(here->next(event, error));
  REQUIRE(event.kind == ConnectionEvent::Request);
  CHECK(event.privateData.substr(0, 6) == std::string("hello\0", 6));
  REQUIRE(event.made->reject() == 0);
  event = {};
  CHECK(!here->next(event, error));
  REQUIRE(there->next(event, error)); // address
  REQUIRE(there->next(event, error));
  CHECK((event.kind == ConnectionEvent::Rejected && event.connection == asking.get() && event.status == 28));
}

TEST_CASE("verbs: librdmacm that is missing is named with the way out", "[verbs][rdma_cm]") {
  Forced nowhere("BRAID_RDMACM", "/nowhere/librdmacm.so.1");
  std::unique_ptr<ConnectionManager> manager;
  Outcome outcome = openManagerLibrary(manager);
  CHECK(outcome.status == BRAID_UNSUPPORTED);
  CHECK_THAT(outcome.text, Contains("BRAID_IB_CM=rdma_cm: expected") && Contains("librdmacm") && Contains("exchange"));
}
