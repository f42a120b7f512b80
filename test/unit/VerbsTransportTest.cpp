//===- VerbsTransportTest.cpp - messages over the double of RDMA verbs: all ways, all faults --------------------------===//
#include "transports/verbs/VerbsTransport.h"
#include "bootstrap/Deadline.h"
#include "core/InProcessExchange.h"
#include "transports/verbs/Connect.h"
#include "transports/verbs/ConnectionManager.h"
#include "transports/verbs/Gids.h"
#include "transports/verbs/Registrations.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <mutex>
#include <sys/mman.h>
#include <thread>

using namespace braid::runtime;
using namespace braid::runtime::verbs;
using Catch::Matchers::Contains;

namespace {

using Body = std::function<std::string(int, Transport &)>;

/// Runs a body on `ranks` threads, each with a transport over the fabric. Errors of all ranks.
std::vector<std::string> onRanks(int ranks, std::shared_ptr<Fabric> fabric, const Body &body,
                                 const std::string &paths = {}) {
  auto exchanges = inProcessExchanges(ranks);
  std::vector<int> members;
  for (int rank = 0; rank < ranks; ++rank)
    members.push_back(rank);
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank != ranks; ++rank)
    threads.emplace_back([&, rank] {
      TransportContext context{*exchanges[size_t(rank)], members, rank, "test", 20, "", 0};
      context.paths = paths;
      std::unique_ptr<Transport> transport;
      std::unique_ptr<Provider> provider = fabric->provider(rank);
      Outcome done = makeTransport(context, "verbs-double", *provider, transport);
      errors[size_t(rank)] = done ? body(rank, *transport) : done.text;
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

std::vector<std::string> none(int ranks) { return std::vector<std::string>(static_cast<size_t>(ranks)); }

/// Goes on until `done` and nothing is owed to peers, which may wait for it (Transport::settled), or a fault, or 20 s.
std::string until(Transport &transport, const std::function<bool()> &done) {
  Deadline deadline(20);
  for (unsigned spins = 0; !done() || !transport.settled(); ++spins) {
    transport.progress();
    if (spins % 64 == 63)
      if (Fault fault = transport.fault())
        return fault.what;
    if (deadline.passed())
      return "nothing came within 20 s";
    transport.idle(spins % 1024);
  }
  return {};
}

std::string payload(int from, int to, int lane, int number, size_t bytes) {
  std::string text =
      std::to_string(from) + " " + std::to_string(to) + " " + std::to_string(lane) + " " + std::to_string(number) + " ";
  while (text.size() < bytes)
    text += text;
  text.resize(bytes);
  return text;
}

const size_t sizes[] = {0, 1, 17, 4096, 4097, 65537, 300, (1 << 20) + 1};

enum Memory { Foreign, Registered, Landing };

/// Every rank to every rank on several lanes, all sizes, in order; at some message a fault.
Body exchangeAll(int ranks, Memory memory, const std::function<void(int rank, int message)> &event = {},
                 int messages = 24) {
  return [=](int rank, Transport &transport) -> std::string {
    constexpr int lanes = 3;
    constexpr size_t largest = (1 << 20) + 64;
    struct Stream {
      int peer, lane, offered = 0, received = 0;
      char *out, *in;
      bool asked = false;
    };
    std::vector<std::vector<char>> buffers;
    std::vector<Stream> streams;
    for (int peer = 0; peer != ranks; ++peer)
      for (int lane = 0; lane != lanes && peer != rank; ++lane) {
        Stream stream{peer, lane * 700, 0, 0, nullptr, nullptr};
        for (char **place : {&stream.out, &stream.in}) {
          buffers.emplace_back(largest);
          *place = buffers.back().data();
          if (memory != Foreign)
            if (std::string why = transport.attach(*place, largest, place == &stream.in); !why.empty())
              return why;
        }
        streams.push_back(stream);
      }
    std::string error;
    size_t left = streams.size() * 2 * size_t(messages);
    std::string failed = until(transport, [&] {
      for (Stream &one : streams) {
        if (one.offered != messages && transport.accepted(one.peer, one.lane) == uint64_t(one.offered)) {
          std::string text = payload(rank, one.peer, one.lane, one.offered, sizes[one.offered % 8]);
          std::memcpy(one.out, text.data(), text.size());
          if (transport.offer(one.peer, one.lane, one.out, text.size(), uint16_t(7))) {
            if (event)
              event(rank, one.offered);
            ++one.offered, --left;
          }
        }
        Message message;
        if (memory == Landing && one.received != messages)
          transport.land(one.peer, one.lane, one.in, sizes[one.received % 8], 7);
        while (one.received != messages && transport.peek(one.peer, one.lane, message)) {
          std::string expected = payload(one.peer, rank, one.lane, one.received, sizes[one.received % 8]);
          if (message.bytes != expected.size() || message.note != 7 ||
              (message.bytes && std::memcmp(message.data, expected.data(), message.bytes)))
            error = "message " + std::to_string(one.received) + " from " + std::to_string(one.peer) + " is wrong";
          std::memset(one.in, 'x', largest); // whoever writes it later is seen
          transport.accept(one.peer, one.lane);
          ++one.received, --left;
          if (memory == Landing)
            break;
        }
      }
      for (Stream &one : streams)
        if (left == 0 && transport.accepted(one.peer, one.lane) != uint64_t(messages))
          return false;
      return left == 0 || !error.empty();
    });
    uint64_t copied = transport.counters().bytesCopied;
    if (memory != Foreign && ranks == 2 && copied > uint64_t(messages) * lanes * 2 * 4096)
      error += "expected no copies of large messages, got " + std::to_string(copied) + " bytes copied";
    for (Stream &one : streams)
      for (char *place : {one.out, one.in})
        if (memory != Foreign)
          transport.detach(place, largest, place == one.in);
    return failed + error;
  };
}

/// BRAID_IB_MODE, for so long.
struct Forced {
  explicit Forced(const char *mode) { setenv("BRAID_IB_MODE", mode, 1); }
  ~Forced() { unsetenv("BRAID_IB_MODE"); }
};

} // namespace

TEST_CASE("verbs: every rank to every rank, several lanes, all sizes, in order, three kinds of memory", "[verbs]") {
  for (Memory memory : {Foreign, Registered, Landing})
    for (int ranks : {1, 2, 3}) {
      INFO(memory << " " << ranks);
      auto fabric = Fabric::create();
      CHECK(onRanks(ranks, fabric, exchangeAll(ranks, memory)) == none(ranks));
      FabricFigures figures = fabric->figures();
      // A message lands where it is wanted if that is said in time, which nobody can promise for one exchange.
      for (int again = 0; ranks > 1 && memory == Landing && figures.immediates == 0 && again < 20; ++again) {
        CHECK(onRanks(ranks, fabric, exchangeAll(ranks, memory)) == none(ranks));
        figures = fabric->figures();
      }
      if (ranks > 1)
        CHECK((figures.sends > 0 && figures.inlined > 0 && figures.reads > 0));
      if (ranks > 1 && memory == Landing)
        CHECK(figures.immediates > 0);
      if (ranks > 1)
        CHECK(figures.passed > 0); // the double did reorder
      CHECK(figures.regions == 0); // nothing stays registered
    }
}

TEST_CASE("verbs: each way that large messages can come is taken where it is asked for, and no other", "[verbs]") {
  for (const char *mode : {"write", "read", "send"})
    for (Memory memory : {Foreign, Registered, Landing}) {
      INFO(mode << " " << memory);
      Forced forced(mode);
      auto fabric = Fabric::create();
      CHECK(onRanks(3, fabric, exchangeAll(3, memory)) == none(3));
      FabricFigures figures = fabric->figures();
      CHECK((figures.immediates > 0) == (mode == std::string("write")));
      CHECK((figures.reads > 0) == (mode == std::string("read")));
      CHECK(figures.regions == 0);
    }
}

TEST_CASE("verbs: one rail and one queue pair, or several with delays", "[verbs]") {
  FabricSettings one;
  one.rails = 1;
  CHECK(onRanks(2, Fabric::create(one), exchangeAll(2, Landing)) == none(2));
  FabricSettings slow;
  slow.latency = Seconds(20e-6);
  slow.jitter = Seconds(20e-6);
  slow.bytesPerSecond = 5e9;
  CHECK(onRanks(2, Fabric::create(slow), exchangeAll(2, Landing)) == none(2));
  FabricSettings bare;
  bare.inlineBytes = 0;
  CHECK(onRanks(2, Fabric::create(bare), exchangeAll(2, Landing)) == none(2));
}

TEST_CASE("verbs: paths open queue pairs, and a lane goes over the one that it is given", "[verbs]") {
  auto fabric = Fabric::create();
  CHECK(onRanks(
            2, fabric,
            [](int rank, Transport &transport) -> std::string {
              if (!transport.hasPaths())
                return "no paths";
              std::string why = transport.route(1 - rank, 0, rank == 0, 50007, 1);
              if (!why.empty())
                return why;
              if (transport.route(1 - rank, 1400, rank == 0, 50008, 0).empty())
                return "a port that nobody opened was found";
              return exchangeAll(2, Landing)(rank, transport);
            },
            "0-1:50003.50007") == none(2));
  CHECK_THAT(onRanks(2, fabric, exchangeAll(2, Foreign), "0-1:4000")[0], Contains("from 49152 to 65535"));
  for (int port : {49152, 49153, 50003, 65535}) { // ibv_flow_label_to_udp_sport of rdma-core
    uint32_t label = flowLabelOf(port), low = label & 0x3fff, high = label & 0xfc000;
    CHECK(((low ^ high >> 14) | 0xc000) == uint32_t(port));
    CHECK(label != 0);
  }
}

TEST_CASE("verbs: a rail that fails is left, and what was under way arrives once", "[verbs]") {
  enum Event { QueuePairFails, DeviceRemoved, LinkCut };
  const char *mode = GENERATE("auto", "write", "read", "send");
  Forced forced(mode);
  INFO(mode);
  for (Event what : {QueuePairFails, DeviceRemoved, LinkCut})
    for (int rail : {0, 1})
      for (Memory memory : {Registered, Landing}) {
        INFO(what << " rail " << rail << " memory " << memory);
        auto fabric = Fabric::create();
        std::once_flag once;
        auto event = [&](int rank, int message) {
          if (rank != 0 || message != 13) // a large one
            return;
          std::call_once(once, [&] {
            if (what == QueuePairFails)
              fabric->failQueuePair(0, rail, 1);
            else if (what == DeviceRemoved)
              fabric->removeDevice(1, rail);
            else
              fabric->cutLink(0, rail);
          });
        };
        CHECK(onRanks(2, fabric, exchangeAll(2, memory, event, 48)) == none(2));
      }
}

TEST_CASE("verbs: a receiver that is not ready for a while costs time only", "[verbs]") {
  auto fabric = Fabric::create();
  auto event = [&](int rank, int message) {
    if (rank == 0 && message % 8 == 2)
      fabric->deafen(1, message % 2, Seconds(2e-3));
  };
  CHECK(onRanks(2, fabric, exchangeAll(2, Landing, event)) == none(2));
  CHECK(fabric->figures().notReady > 0);
}

TEST_CASE("verbs: without a rail left, the error says peer, status and advice on all ranks", "[verbs]") {
  FabricSettings one;
  one.rails = 1;
  auto fabric = Fabric::create(one);
  std::once_flag once;
  auto event = [&](int, int message) {
    if (message == 13)
      std::call_once(once, [&] { fabric->cutLink(0, 0); });
  };
  auto errors = onRanks(2, fabric, exchangeAll(2, Registered, event, 48));
  bool said = false;
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(!errors[size_t(rank)].empty());
    std::string peer = "rank " + std::to_string(1 - rank);
    said |= errors[size_t(rank)].find("double0 port 1 to " + peer +
                                      " fails: retry exceeded (IBV_WC_RETRY_EXC_ERR, 12)") != std::string::npos &&
            errors[size_t(rank)].find("NCCL_IB_TIMEOUT") != std::string::npos;
  }
  INFO(errors[0] << "\n" << errors[1]);
  CHECK(said);
}

TEST_CASE("verbs: a completion queue that overruns ends all ranks with its name", "[verbs]") {
  auto fabric = Fabric::create();
  std::once_flag once;
  auto event = [&](int, int message) {
    if (message == 13)
      std::call_once(once, [&] { fabric->overrun(1, 1); });
  };
  auto errors = onRanks(2, fabric, [&](int rank, Transport &transport) {
    std::string error = exchangeAll(2, Registered, event, 48)(rank, transport);
    if (!error.empty() && transport.fault().kind == Fault::System)
      transport.abort(error);
    return error;
  });
  CHECK_THAT(errors[1], Contains("double1 port 1: its completion queue is broken"));
  CHECK_THAT(errors[0], Contains("double1 port 1: its completion queue is broken"));
}

TEST_CASE("verbs: who aborts is heard, who leaves is told from who is missed", "[verbs]") {
  auto errors = onRanks(2, Fabric::create(), [](int rank, Transport &transport) -> std::string {
    if (rank == 0) {
      transport.abort("enough");
      return transport.fault().what;
    }
    return until(transport, [] { return false; });
  });
  CHECK(errors == std::vector<std::string>{"enough", "enough"});
  errors = onRanks(2, Fabric::create(), [](int rank, Transport &transport) -> std::string {
    static const std::string word = "last words";
    if (rank == 0)
      return transport.offer(1, 5, word.data(), word.size(), 0) ? "" : "not taken";
    Message message;
    std::string failed = until(transport, [&] { return transport.left(0, 6); });
    if (!failed.empty() || transport.left(0, 5) || !transport.peek(0, 5, message))
      return failed + "expected the message of who has left";
    transport.accept(0, 5);
    return transport.left(0, 5) ? "" : "expected nothing more";
  });
  CHECK(errors == none(2));
}

TEST_CASE("verbs: a lane that nobody reads stops neither the others nor grows", "[verbs]") {
  auto errors = onRanks(2, Fabric::create(), [](int rank, Transport &transport) -> std::string {
    static const std::string word(3000, 'w');
    Message message;
    if (rank == 0) {
      int taken = 0;
      std::string failed = until(transport, [&] {
        taken += transport.offer(1, 0, word.data(), word.size(), 0);
        return taken == 16;
      });
      if (!failed.empty() || transport.offer(1, 0, word.data(), word.size(), 0))
        return failed + "expected room for 16 messages of a lane";
      for (int lane = 1; lane < 200; ++lane)
        failed += until(transport, [&] { return transport.offer(1, lane, word.data(), word.size(), 0); });
      return failed + until(transport, [&] { return transport.peek(1, 9, message); });
    }
    std::string failed;
    for (int lane = 1; lane < 200; ++lane) {
      failed += until(transport, [&] { return transport.peek(0, lane, message); });
      transport.accept(0, lane);
    }
    for (int i = 0; i < 16; ++i) {
      failed += until(transport, [&] { return transport.peek(0, 0, message); });
      transport.accept(0, 0);
    }
    return transport.offer(0, 9, "done", 4, 0) ? failed : failed + "no answer";
  });
  CHECK(errors == none(2));
}

TEST_CASE("verbs: knobs by NCCL's names, Braid's before them, nonsense refused", "[verbs]") {
  std::map<std::string, std::string> set;
  auto variable = [&](const char *name) { return set.count(name) ? set[name].c_str() : nullptr; };
  Knobs knobs;
  set = {{"NCCL_IB_TIMEOUT", "22"},
         {"BRAID_IB_TIMEOUT", "18"},
         {"NCCL_IB_HCA", "=mlx5_0:1,mlx5_3"},
         {"NCCL_IB_TC", "0x6a"}};
  REQUIRE(readKnobs(variable, knobs));
  CHECK((knobs.timeout == 18 && knobs.trafficClass == 0x6a && knobs.retries == 7));
  CHECK((knobs.chooses("mlx5_0", 1) && !knobs.chooses("mlx5_0", 2) && knobs.chooses("mlx5_3", 2)));
  CHECK(!knobs.chooses("mlx5_30", 1));
  knobs = {};
  set = {{"BRAID_IB_MODE", "send"}};
  REQUIRE(readKnobs(variable, knobs));
  CHECK(knobs.mode == Mode::Send);
  knobs = {};
  set = {{"NCCL_IB_HCA", "^mlx5_1"}};
  REQUIRE(readKnobs(variable, knobs));
  CHECK((knobs.chooses("mlx5_0", 1) && !knobs.chooses("mlx5_1", 1) && !knobs.chooses("mlx5_10", 1)));
  for (auto [name, value] : {std::pair<const char *, const char *>{"NCCL_IB_TIMEOUT", "32"},
                             {"BRAID_IB_QPS_PER_CONNECTION", "many"},
                             {"BRAID_IB_MODE", "eager"},
                             {"BRAID_IB_CM", "cm"},
                             {"NCCL_IB_HCA", "mlx5_0:x"}}) {
    set = {{name, value}};
    Outcome wrong = readKnobs(variable, knobs);
    CHECK(wrong.status == BRAID_INVALID);
    CHECK_THAT(wrong.text, Contains(std::string(name) + ": expected") && Contains(std::string("got '") + value));
  }
}

TEST_CASE("verbs: the GID is RoCE v2 of an IPv4 address, and says why", "[verbs]") {
  std::unique_ptr<Device> device;
  auto fabric = Fabric::create();
  REQUIRE(fabric->provider(5)->open("double1", device));
  Port port;
  REQUIRE(device->port(1, port) == 0);
  Gid gid;
  std::string why;
  Knobs knobs;
  REQUIRE(chooseGid(*device, port, knobs, gid, why));
  CHECK(gid.index == 3);
  CHECK_THAT(why, Contains("GID 3 (RoCE v2 10.1.0.5), the first of v2 and IPv4 among 4"));
  knobs.roceVersion = 1;
  REQUIRE(chooseGid(*device, port, knobs, gid, why));
  CHECK(gid.index == 2);
  knobs.gidIndex = 0;
  REQUIRE(chooseGid(*device, port, knobs, gid, why));
  CHECK_THAT(why, Contains("as NCCL_IB_GID_INDEX says"));
  knobs.gidIndex = 5;
  CHECK_THAT(chooseGid(*device, port, knobs, gid, why).text, Contains("which is empty"));
}

TEST_CASE("verbs: memory is registered while somebody holds it, and not longer", "[verbs]") {
  auto fabric = Fabric::create();
  std::unique_ptr<Device> device;
  REQUIRE(fabric->provider(0)->open("double0", device));
  Registrations registrations({device.get()});
  std::vector<char> memory(1 << 16);
  char *begin = memory.data();
  REQUIRE(registrations.hold(begin, 1 << 16, allAccess));
  REQUIRE(registrations.hold(begin + 100, 1000, RemoteRead)); // inside: shared
  CHECK(fabric->figures().registrations == 1);
  CHECK(registrations.find(begin + 500, 100, LocalWrite));
  registrations.drop(begin, 1 << 16, allAccess);
  // The registration lives for the second holder, but only for what that one holds.
  CHECK(fabric->registered(0, begin + 100));
  CHECK(registrations.find(begin + 100, 1000, RemoteRead));
  CHECK(!registrations.find(begin + 100, 1000, LocalWrite));
  CHECK(!registrations.find(begin + 2000, 10, RemoteRead));
  REQUIRE(registrations.hold(begin + 2000, 100, RemoteRead)); // not the old pages again
  CHECK(fabric->figures().registrations == 2);
  registrations.drop(begin + 2000, 100, RemoteRead);
  registrations.drop(begin + 100, 1000, RemoteRead);
  CHECK(!fabric->registered(0, begin + 100));
  CHECK(fabric->figures().regions == 0);
  CHECK(!registrations.find(begin + 100, 1, RemoteRead));
}

TEST_CASE("verbs: a device that is not chosen is not opened, and may be one that can't be", "[verbs]") {
  struct Broken : Provider {
    std::unique_ptr<Provider> good;
    Outcome devices(std::vector<std::string> &names) override { return good->devices(names); }
    Outcome connectionManager(std::unique_ptr<ConnectionManager> &manager) override {
      return good->connectionManager(manager);
    }
    Outcome open(const std::string &name, std::unique_ptr<Device> &device) override {
      return name == "double1" ? Outcome(BRAID_SYSTEM, "device double1: it is broken") : good->open(name, device);
    }
  } provider;
  auto fabric = Fabric::create();
  provider.good = fabric->provider(0);
  for (const char *list : {"=double0", "double0:1", "^double1", "^=double1"}) {
    INFO(list);
    Knobs knobs;
    std::vector<Rail> rails;
    REQUIRE(readKnobs([&](const char *name) { return std::strcmp(name, "NCCL_IB_HCA") ? nullptr : list; }, knobs));
    Outcome opened = openRails(provider, knobs, rails);
    CHECK(opened.text == "");
    CHECK(rails.size() == 1);
  }
  Knobs all;
  std::vector<Rail> rails;
  CHECK_THAT(openRails(provider, all, rails).text, Contains("it is broken"));
}

TEST_CASE("verbs: without a device the error names what there is and the way out, on all ranks", "[verbs]") {
  setenv("BRAID_IB_HCA", "mlx5", 1);
  auto errors = onRanks(2, Fabric::create(), [](int, Transport &) { return std::string(); });
  unsetenv("BRAID_IB_HCA");
  for (const std::string &error : errors)
    CHECK_THAT(error,
               Contains("rank 0: transport 'verbs': expected an RDMA device with an active port, got double0 (not "
                        "chosen by BRAID_IB_HCA='mlx5')") &&
                   Contains("the transport tcp does without"));
}
