//===- TcpTransportTest.cpp - messages over TCP: order, bounds, ends of all kinds ----------------------------------===//
#include "bootstrap/Hmac.h"
#include "bootstrap/StoreExchange.h"
#include "core/InProcessExchange.h"
#include "core/Transports.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <functional>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace braid::runtime;
using Catch::Matchers::Contains;

namespace {

std::vector<int> upTo(int count) {
  std::vector<int> all;
  for (int i = 0; i != count; ++i)
    all.push_back(i);
  return all;
}

/// Runs a body on `ranks` threads, each with a transport. What a body returns is an error.
void onRanks(int ranks, std::function<std::string(int, Transport &)> body, std::function<void(Exchange &, int)> = {}) {
  auto exchanges = inProcessExchanges(ranks);
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank != ranks; ++rank)
    threads.emplace_back([&, rank] {
      TransportContext context{*exchanges[rank], upTo(ranks), rank, "test", 20, "", 0};
      std::unique_ptr<Transport> transport;
      Outcome done = makeTcpTransport(context, transport);
      errors[rank] = done ? body(rank, *transport) : done.text;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(errors == std::vector<std::string>(static_cast<size_t>(ranks)));
}

/// Goes on until `done` or a fault or 20 s.
std::string until(Transport &transport, const std::function<bool()> &done) {
  Deadline deadline(20);
  for (unsigned spins = 0; !done(); ++spins) {
    transport.progress();
    if (Fault fault = transport.fault())
      return fault.what;
    if (deadline.passed())
      return "nothing came within 20 s";
    transport.idle(spins);
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

const size_t sizes[] = {0, 1, 17, 65535, 65536, 65537, 300, (1 << 20) + 1};

} // namespace

TEST_CASE("tcp: every rank to every rank, several lanes, all sizes, in order", "[tcp]") {
  for (int ranks : {1, 2, 3, 5}) {
    INFO(ranks);
    onRanks(ranks, [=](int rank, Transport &transport) -> std::string {
      constexpr int lanes = 3, messages = 24;
      struct Stream {
        int peer, lane, offered = 0, received = 0;
        std::string current;
      };
      std::vector<Stream> streams;
      for (int peer = 0; peer != ranks; ++peer)
        for (int lane = 0; lane != lanes && peer != rank; ++lane)
          streams.push_back({peer, lane * 700, 0, 0, ""});
      std::string error;
      size_t left = streams.size() * 2 * messages;
      std::string failed = until(transport, [&] {
        for (Stream &one : streams) {
          // The one before has been accepted: its bytes may be overwritten.
          if (one.offered != messages && transport.accepted(one.peer, one.lane) == uint64_t(one.offered)) {
            one.current = payload(rank, one.peer, one.lane, one.offered, sizes[one.offered % 8]);
            if (transport.offer(one.peer, one.lane, one.current.data(), one.current.size()))
              ++one.offered, --left;
          }
          Message message;
          while (one.received != messages && transport.peek(one.peer, one.lane, message)) {
            std::string expected = payload(one.peer, rank, one.lane, one.received, sizes[one.received % 8]);
            if (message.bytes != expected.size() ||
                (message.bytes && std::memcmp(message.data, expected.data(), message.bytes)))
              error = "message " + std::to_string(one.received) + " from " + std::to_string(one.peer) + " is wrong";
            transport.accept(one.peer, one.lane);
            ++one.received, --left;
          }
        }
        for (Stream &one : streams)
          if (left == 0 && transport.accepted(one.peer, one.lane) != messages)
            return false;
        return left == 0 || !error.empty();
      });
      return failed + error;
    });
  }
}

TEST_CASE("tcp: a lane that nobody reads stops neither the others nor grows", "[tcp]") {
  onRanks(2, [](int rank, Transport &transport) -> std::string {
    static const std::string big(1 << 20, 'b');
    Message message;
    if (rank == 0) {
      int taken = 0;
      // The receiver answers on lane 1 only after it has seen lane 1's message, sent behind a lane 0 that is full.
      std::string error = until(transport, [&] {
        while (transport.offer(1, 0, big.data(), big.size()))
          ++taken;
        return taken >= 16;
      });
      if (!error.empty())
        return error;
      transport.offer(1, 1, "x", 1);
      error = until(transport, [&] { return transport.peek(1, 1, message); });
      if (!error.empty() || taken != 16)
        return error + ", taken " + std::to_string(taken);
      transport.accept(1, 1);
      return until(transport, [&] { return transport.offer(1, 0, big.data(), big.size()); }); // goes on
    }
    std::string error = until(transport, [&] { return transport.peek(0, 1, message); });
    if (!error.empty())
      return error;
    transport.accept(0, 1);
    transport.offer(0, 1, "y", 1);
    for (int i = 0; i != 17 && error.empty(); ++i) {
      error = until(transport, [&] { return transport.peek(0, 0, message); });
      if (error.empty() && (message.bytes != big.size() || std::memcmp(message.data, big.data(), big.size())))
        error = "wrong bytes";
      transport.accept(0, 0);
    }
    return error;
  });
}

TEST_CASE("tcp: who leaves in good order has its last words read, and then is known to have left", "[tcp]") {
  onRanks(2, [](int rank, Transport &transport) -> std::string {
    static const std::string big(8 << 20, 'l');
    if (rank == 1) {
      transport.offer(0, 0, big.data(), big.size());
      return until(transport, [&] { return transport.accepted(0, 0) == 1; }); // and ends
    }
    Message message;
    std::string error = until(transport, [&] { return transport.peek(1, 0, message); });
    if (!error.empty() || message.bytes != big.size() || transport.left(1, 0))
      return error + " not whole";
    transport.accept(1, 0);
    return until(transport, [&] { return transport.left(1, 0) && transport.left(1, 5); });
  });
}

TEST_CASE("tcp: an abort reaches everybody, also through a full connection", "[tcp]") {
  onRanks(3, [](int rank, Transport &transport) -> std::string {
    static const std::string big(4 << 20, 'a');
    if (rank == 0) {
      {
        std::string freed = big; // gone before the bytes are sent
        for (int peer : {1, 2})
          while (transport.offer(peer, 0, freed.data(), freed.size()))
            ;
        transport.abort("the user gave up");
      }
      return transport.fault() ? "a fault of its own" : "";
    }
    std::string error = until(transport, [&] { return false; });
    Fault fault = transport.fault();
    return error == "the user gave up" && fault.kind == Fault::Aborted ? "" : "got: " + error;
  });
}

namespace {

/// Lets strangers connect to every rank's port before the ranks do.
class Visited : public Exchange {
public:
  explicit Visited(std::shared_ptr<Exchange> inner) : inner(std::move(inner)) {}
  int rank() const override { return inner->rank(); }
  int ranks() const override { return inner->ranks(); }
  bool sameHost(int a, int b) const override { return inner->sameHost(a, b); }
  Outcome allgather(const std::string &key, const std::vector<int> &members, const std::string &mine, double deadline,
                    std::vector<std::string> &all) override {
    Outcome done = inner->allgather(key, members, mine, deadline, all);
    for (const std::string &text : all) {
      if (key != "test/tcp" || text.size() < 20)
        continue;
      Address address{"127.0.0.1", uint16_t(uint8_t(text[14]) | uint8_t(text[15]) << 8)}; // u8, u32, "127.0.0.1", port
      for (int kind = 0; kind != 2; ++kind) {
        strangers.emplace_back();
        if (connectTo(address, Deadline(5), strangers.back()) && kind)
          (void)sendAll(strangers.back(), "what is here?", 13, Deadline(5));
      }
    }
    return done;
  }
  std::vector<Socket> strangers;
  std::shared_ptr<Exchange> inner;
};

} // namespace

TEST_CASE("tcp: strangers at the door are refused and the ranks meet", "[tcp]") {
  auto exchanges = inProcessExchanges(3);
  std::vector<std::string> errors(3);
  std::vector<size_t> visits(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank != 3; ++rank)
    threads.emplace_back([&, rank] {
      Visited visited(exchanges[rank]);
      TransportContext context{visited, upTo(3), rank, "test", 20, "", 0};
      std::unique_ptr<Transport> transport;
      Outcome done = makeTcpTransport(context, transport);
      errors[rank] = done.text;
      for (Socket &stranger : visited.strangers)
        visits[rank] += !!stranger;
      Message message;
      int next = (rank + 1) % 3, before = (rank + 2) % 3;
      if (done) {
        transport->offer(next, 0, &rank, sizeof rank);
        errors[rank] += until(*transport, [&] { return transport->peek(before, 0, message); });
        errors[rank] += std::memcmp(message.data, &before, sizeof before) ? "wrong bytes" : "";
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(errors == std::vector<std::string>(3));
  CHECK(visits == std::vector<size_t>{6, 6, 6});
}

namespace {

using Acts = std::vector<std::function<void(Transport &)>>;

/// Ranks 1, 2, ... in processes of their own act; rank 0, here, waits for a message that never comes. `late`: it first looks when
/// all of them have ended.
std::string withProcesses(const Acts &acts, bool late, Fault &fault, double &seconds) {
  Socket listener;
  Address free;
  REQUIRE(listenOn({"127.0.0.1", 0}, listener, free));
  listener.close();
  RankInfo info;
  info.ranks = int(acts.size()) + 1;
  std::string random = randomBytes(16);
  info.secret = hex(random.data(), random.size());
  info.rendezvous = {free.text()};
  auto make = [&](const RankInfo &of, std::shared_ptr<StoreExchange> &exchange, std::unique_ptr<Transport> &transport) {
    Outcome done = StoreExchange::connect(of, 20, exchange);
    return done ? makeTcpTransport({*exchange, upTo(of.ranks), of.rank, "test", 20, "", 0}, transport) : done;
  };
  std::vector<pid_t> children;
  for (size_t i = 0; i != acts.size(); ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      info.rank = int(i) + 1;
      std::shared_ptr<StoreExchange> exchange;
      std::unique_ptr<Transport> transport;
      if (make(info, exchange, transport))
        acts[i](*transport);
      _exit(1);
    }
  }
  std::shared_ptr<StoreExchange> exchange;
  std::unique_ptr<Transport> transport;
  Outcome done = make(info, exchange, transport);
  REQUIRE(done.text == "");
  auto reap = [&](int signal) {
    for (pid_t child : children) {
      if (signal)
        kill(child, signal);
      waitpid(child, nullptr, 0);
    }
    children.clear();
  };
  if (late) {
    char unread[64] = "what a rank has not read when it ends resets its connection";
    for (int peer = 1; peer != info.ranks; ++peer)
      transport->offer(peer, 9, unread, sizeof unread);
    reap(0);
  }
  auto started = std::chrono::steady_clock::now();
  Message message;
  std::string error = until(*transport, [&] { return transport->peek(1, 5, message); });
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  fault = transport->fault();
  reap(SIGKILL);
  return error;
}

std::string withProcess(const std::function<void(Transport &)> &act, Fault &fault, double &seconds) {
  return withProcesses({act}, false, fault, seconds);
}

/// Until a peer is lost, and then ends without a word of its own.
void untilLost(Transport &transport) {
  (void)until(transport, [] { return false; });
}

} // namespace

TEST_CASE("tcp: who looks late blames the rank that was killed, not those that ended since", "[tcp]") {
  Fault fault;
  double seconds = 0;
  // Both orders of the numbers: the connections are looked at by rank.
  std::string error =
      withProcesses({untilLost, [](Transport &) { kill(getpid(), SIGKILL); }, untilLost}, true, fault, seconds);
  CHECK(fault.kind == Fault::PeerDied);
  CHECK(fault.peer == 2);
  CHECK_THAT(error, Contains("its process ended") && Contains(" says"));
  (void)withProcesses({[](Transport &) { kill(getpid(), SIGKILL); }, untilLost}, true, fault, seconds);
  CHECK(fault.peer == 1);
}

TEST_CASE("tcp: a killed process is a fault at once", "[tcp]") {
  Fault fault;
  double seconds = 0;
  std::string error = withProcess([](Transport &) { kill(getpid(), SIGKILL); }, fault, seconds);
  CHECK(fault.kind == Fault::PeerDied);
  CHECK(fault.peer == 1);
  CHECK_THAT(error, Contains("its process ended"));
  CHECK(seconds < 1);
  SECTION("also in the middle of a message") {
    error = withProcess(
        [](Transport &transport) {
          std::string big(32 << 20, 'x');
          transport.offer(0, 5, big.data(), big.size());
          kill(getpid(), SIGKILL);
        },
        fault, seconds);
    CHECK(fault.kind == Fault::PeerDied);
    CHECK(seconds < 1);
  }
}
