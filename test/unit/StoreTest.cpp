//===- StoreTest.cpp - the store: who meets, who is told of a death, and who is kept out ---------------------------===//
#include "bootstrap/StoreClient.h"
#include "bootstrap/StoreExchange.h"
#include "bootstrap/StoreThread.h"
#include "bootstrap/Wire.h"
#include "core/Transports.h"
#include <catch2/catch.hpp>
#include <future>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

using namespace braid::runtime;
using Catch::Matchers::Contains;

namespace {

const std::string secret = "a secret of this test";

/// A store for `ranks` on a port of its own.
struct Served {
  explicit Served(int ranks) : ranks(ranks) {
    Socket listener;
    Address bound;
    Outcome done = listenOn({"127.0.0.1", 0}, listener, bound);
    REQUIRE(done.text == "");
    address = bound.text();
    thread = std::make_unique<StoreThread>(std::make_unique<StoreServer>(std::move(listener), secret, ranks));
  }
  Outcome connect(int rank, std::unique_ptr<StoreClient> &client, const std::string &with = secret,
                  double seconds = 5) {
    return StoreClient::connect({address}, with, rank, ranks, "rank 0", Deadline(seconds), client);
  }
  std::unique_ptr<StoreClient> client(int rank) {
    std::unique_ptr<StoreClient> client;
    Outcome done = connect(rank, client);
    REQUIRE(done.text == "");
    return client;
  }
  Socket stranger() {
    Address parsed;
    Socket socket;
    REQUIRE(parseAddress(address, parsed));
    REQUIRE(connectTo(parsed, Deadline(5), socket));
    return socket;
  }
  int ranks;
  std::string address;
  std::unique_ptr<StoreThread> thread;
};

/// The other side closed the connection.
bool closedByPeer(const Socket &socket, double seconds) {
  char buffer[256];
  for (;;) {
    Outcome done = receiveAll(socket, buffer, 1, Deadline(seconds));
    if (!done)
      return done.status == BRAID_PEER_DIED;
  }
}

} // namespace

TEST_CASE("addresses", "[store]") {
  Address address;
  REQUIRE(parseAddress("[::1]:80", address));
  CHECK(address.host == "::1");
  CHECK(address.text() == "[::1]:80");
  CHECK(address.loopback());
  for (const char *bad : {"", "host", ":1", "host:", "host:65536", "host:1x", "::1:80", "host:-1"}) {
    INFO(bad);
    CHECK_THAT(parseAddress(bad, address).text, Contains("expected host:port, got"));
  }
  // A port that the system chooses would be known to nobody else.
  CHECK_THAT(parseAddress("host:0", address).text, Contains("expected a port from 1 to 65535, got \"host:0\""));
}

TEST_CASE("keys: set, get, add, remove, wait", "[store]") {
  Served store(2);
  auto a = store.client(0), b = store.client(1);
  std::optional<std::string> value;
  REQUIRE(a->get("k", value, 5));
  CHECK_FALSE(value);
  REQUIRE(a->set("k", std::string("v\0w", 3), 5));
  REQUIRE(b->get("k", value, 5));
  CHECK(*value == std::string("v\0w", 3));
  int64_t sum = 0;
  REQUIRE(a->add("n", 5, sum, 5));
  REQUIRE(b->add("n", -7, sum, 5));
  CHECK(sum == -2);
  CHECK(a->add("k", 1, sum, 5).status == BRAID_MISMATCH);
  REQUIRE(a->remove("k", 5));
  REQUIRE(a->get("k", value, 5));
  CHECK_FALSE(value);
  std::string got;
  auto waiting = std::async(std::launch::async, [&] { return b->wait("later", -1, got, 5).text; });
  REQUIRE(a->set("later", "now", 5));
  CHECK(waiting.get() == "");
  CHECK(got == "now");
  Outcome late = b->wait("never", -1, got, 0.05);
  CHECK(late.status == BRAID_TIMEOUT);
  CHECK_THAT(late.text, Contains("nobody has set \"never\" within 0.05 s"));
}

TEST_CASE("gather: everybody's bytes in the members' order, subsets and many rounds", "[store]") {
  constexpr int ranks = 5;
  Served store(ranks);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(ranks);
  for (int rank = 0; rank != ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<StoreClient> client;
      errors[rank] = store.connect(rank, client).text;
      std::vector<int> members = {4, 0, 3, 1, 2}, odd = {3, 1};
      std::vector<std::string> all;
      for (int round = 0; round != 200 && errors[rank].empty(); ++round) {
        std::string key = "round " + std::to_string(round);
        errors[rank] = client->gather(key, members, key + std::string(rank * 1000, 'x'), all, 10).text;
        for (int i = 0; i != ranks; ++i)
          if (all[i] != key + std::string(members[i] * 1000, 'x'))
            errors[rank] = key + ": wrong bytes";
        if (rank % 2 && errors[rank].empty())
          errors[rank] = client->gather("odd " + key, odd, std::to_string(rank), all, 10).text;
      }
      client->leave();
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(errors == std::vector<std::string>(ranks));
}

TEST_CASE("who does not come is named, who dies is named at once, survivors meet again", "[store]") {
  Served store(4);
  auto a = store.client(0), b = store.client(1), c = store.client(2);
  std::vector<std::string> all;
  auto late = [&](StoreClient &client) {
    return std::async(std::launch::async, [&] {
      std::vector<std::string> mine;
      return client.gather("everybody", {0, 1, 2, 3}, "", mine, 0.2);
    });
  };
  auto first = late(*a), second = late(*b);
  for (Outcome outcome : {first.get(), second.get()}) {
    CHECK(outcome.status == BRAID_TIMEOUT);
    CHECK_THAT(outcome.text, Contains("ranks 2, 3 have not come within 0.2 s"));
  }
  // c leaves without a farewell while a waits for it.
  auto waiting = std::async(std::launch::async, [&] { return a->gather("again", {0, 2}, "", all, 30); });
  auto started = std::chrono::steady_clock::now();
  c.reset();
  Outcome died = waiting.get();
  CHECK(died.status == BRAID_PEER_DIED);
  CHECK_THAT(died.text, Contains("rank 2 died"));
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(1));
  // Known from now on, also to who asks later.
  CHECK(a->gather("third", {0, 1, 2}, "", all, 30).status == BRAID_PEER_DIED);
  std::string value;
  CHECK(b->wait("of c", 2, value, 30).status == BRAID_PEER_DIED);
  auto other = std::async(std::launch::async, [&] {
    std::vector<std::string> mine;
    return b->gather("survivors", {0, 1}, "b", mine, 5).text;
  });
  CHECK(a->gather("survivors", {0, 1}, "a", all, 5).text == "");
  CHECK(other.get() == "");
  CHECK(all == std::vector<std::string>{"a", "b"});
  // Of several deaths the first is named: the others may be its consequence.
  Served many(4);
  auto zero = many.client(0), one = many.client(1), three = many.client(3);
  three.reset();
  CHECK_THAT(zero->gather("x", {0, 3}, "", all, 30).text, Contains("rank 3 died"));
  one.reset();
  CHECK_THAT(zero->gather("y", {0, 1}, "", all, 30).text, Contains("rank 1 died"));
  CHECK_THAT(zero->gather("z", {0, 1, 3}, "", all, 30).text, Contains("rank 3 died"));
  // Who says farewell has not died, but does not come any more either.
  b->leave();
  CHECK_THAT(a->gather("fourth", {0, 1}, "", all, 30).text, Contains("rank 1 has left"));
}

TEST_CASE("a rank that ends while connections are made is missed at once", "[store][tcp]") {
  Served store(3);
  auto exchangeOf = [&](int rank) {
    RankInfo info;
    info.rank = rank;
    info.ranks = 3;
    info.secret = secret;
    info.rendezvous = {store.address};
    info.launcherServes = true;
    std::shared_ptr<StoreExchange> exchange;
    CHECK(StoreExchange::connect(info, 5, exchange).text == "");
    return exchange;
  };
  std::vector<std::future<std::string>> ranks;
  for (int rank : {0, 1, 2})
    ranks.push_back(std::async(std::launch::async, [&, rank]() -> std::string {
      auto exchange = exchangeOf(rank);
      if (rank == 2) { // says where it is, and is gone before it connects
        std::string mine;
        Writer(mine).u8(0).string("127.0.0.1").u32(1).string("random");
        std::vector<std::string> all;
        return exchange->allgather("job/tcp", {0, 1, 2}, mine, 20, all).text;
      }
      std::unique_ptr<Transport> transport;
      Deadline begun(20);
      Outcome outcome = makeTcpTransport({*exchange, {0, 1, 2}, rank, "job", 20, "", 0}, transport);
      return outcome.status == BRAID_PEER_DIED && begun.left() > 19 ? outcome.text : "late: " + outcome.text;
    }));
  CHECK(ranks[2].get() == "");
  for (int rank : {0, 1})
    CHECK_THAT(ranks[size_t(rank)].get(), Contains("rank 2 has left") && !Contains("late"));
}

TEST_CASE("ranks that disagree are told so", "[store]") {
  Served store(3);
  auto a = store.client(0), b = store.client(1);
  auto waiting = std::async(std::launch::async, [&] {
    std::vector<std::string> all;
    return a->gather("key", {0, 1}, "", all, 5);
  });
  std::vector<std::string> all;
  // Whoever comes second is refused; then the two meet properly.
  Outcome other = b->gather("key", {1, 0}, "", all, 0.3);
  CHECK((other.status == BRAID_MISMATCH || other.status == BRAID_TIMEOUT));
  if (other.status == BRAID_MISMATCH) {
    CHECK_THAT(other.text, Contains("expected the same members"));
    CHECK(b->gather("key", {0, 1}, "", all, 5).text == "");
    CHECK(waiting.get().text == "");
  } else {
    CHECK(waiting.get().status == BRAID_MISMATCH);
  }
}

TEST_CASE("ranks that wait for each other at different meetings are told so at once", "[store]") {
  struct Case {
    std::vector<std::pair<std::string, std::vector<int>>> meetings; ///< of ranks 0, 1, ...
    std::vector<std::string> words;
    bool late; ///< the last rank comes when the others know
  };
  for (const Case &one : std::vector<Case>{
           {{{"a", {0, 1, 2}}, {"b", {0, 1, 3}}, {"a", {0, 1, 2}}},
            {"expected the same members on all ranks", "ranks 0, 1, 2 on rank 0", "ranks 0, 1, 3 on rank 1"},
            true},
           {{{"a", {0, 1}}, {"b", {1, 2}}, {"c", {2, 0}}},
            {"ranks 0, 1 on rank 0", "ranks 1, 2 on rank 1", "ranks 2, 0 on rank 2", "wait for each other"},
            false},
           {{{"a", {0, 1}}, {"b", {0, 1}}},
            {"expected meetings in the same order on all ranks", "\"a\" on rank 0", "\"b\" on rank 1"},
            false}}) {
    Served store(4);
    std::vector<std::unique_ptr<StoreClient>> clients;
    std::vector<std::future<Outcome>> outcomes;
    for (size_t rank = 0; rank < one.meetings.size(); ++rank)
      clients.push_back(store.client(int(rank)));
    for (size_t rank = 0; rank < one.meetings.size(); ++rank) {
      if (one.late && rank + 1 == one.meetings.size())
        for (std::future<Outcome> &outcome : outcomes)
          outcome.wait();
      outcomes.push_back(std::async(std::launch::async, [&, rank] {
        std::vector<std::string> all;
        return clients[rank]->gather(one.meetings[rank].first, one.meetings[rank].second, "", all, 60);
      }));
    }
    auto begun = std::chrono::steady_clock::now();
    for (std::future<Outcome> &future : outcomes) {
      Outcome outcome = future.get();
      CHECK(outcome.status == BRAID_MISMATCH);
      for (const std::string &words : one.words)
        CHECK_THAT(outcome.text, Contains(words));
    }
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
  }
  // Who waits for one that waits for a third is only early.
  Served store(3);
  auto a = store.client(0), b = store.client(1), c = store.client(2);
  auto meet = [](StoreClient &client, const char *key, std::vector<int> members) {
    return std::async(std::launch::async, [&client, key, members] {
      std::vector<std::string> all;
      return client.gather(key, members, "", all, 20).text;
    });
  };
  auto early = meet(*a, "01", {0, 1}), middle = meet(*b, "12", {1, 2}), last = meet(*c, "12", {1, 2});
  CHECK(middle.get() + last.get() == "");
  CHECK(meet(*b, "01", {0, 1}).get() + early.get() == "");
  std::vector<std::string> all;
  CHECK_THAT(a->gather("x", {0, 7}, "", all, 20).text, Contains("expected ranks below 3, got 7"));
}

TEST_CASE("strangers are refused and the job goes on", "[store]") {
  Served store(2);
  auto a = store.client(0);
  std::unique_ptr<StoreClient> client;
  Outcome wrong = store.connect(1, client, "another secret of sixteen");
  CHECK(wrong.status == BRAID_INVALID);
  CHECK_THAT(wrong.text, Contains("expected the same job secret"));
  CHECK_THAT(store.connect(0, client).text, Contains("rank 0 is connected already"));
  CHECK_THAT(store.connect(2, client).text, Contains("expected a rank below 2, got 2"));
  Outcome size = StoreClient::connect({store.address}, secret, 1, 3, "rank 0", Deadline(5), client);
  CHECK_THAT(size.text, Contains("expected a job of 2 ranks, got 3"));

  SECTION("garbage is answered by an end at once") {
    Socket socket = store.stranger();
    std::string garbage = "GET / HTTP/1.1\r\n\r\n";
    REQUIRE(sendAll(socket, garbage.data(), garbage.size(), Deadline(5)));
    CHECK(closedByPeer(socket, 2));
  }
  SECTION("another version is told which one is spoken") {
    Socket socket = store.stranger();
    std::string hello = "BRAIDJOB";
    Writer(hello).u32(99);
    REQUIRE(sendAll(socket, hello.data(), hello.size(), Deadline(5)));
    std::string bytes(44 + 8, '\0'); // the greeting, then verdict and version
    REQUIRE(receiveAll(socket, bytes.data(), bytes.size(), Deadline(5)));
    Reader reader(bytes.data() + 44, 8);
    CHECK(reader.u32() == 2);
    CHECK(reader.u32() == handshakeVersion);
    CHECK(closedByPeer(socket, 2));
  }
  SECTION("a recorded hello is worth nothing on another connection") {
    // A proxy that plays what a rank said to the store a second time.
    Socket listener, rank;
    Address bound;
    REQUIRE(listenOn({"127.0.0.1", 0}, listener, bound));
    auto caller = std::async(std::launch::async, [&] {
      std::unique_ptr<StoreClient> client;
      return StoreClient::connect({bound.text()}, secret, 1, 2, "rank 0", Deadline(2), client).text;
    });
    while (!rank)
      rank = Socket(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK));
    Socket first = store.stranger(), second = store.stranger();
    std::string greeting(44, '\0'), hello(92, '\0');
    REQUIRE(receiveAll(first, greeting.data(), greeting.size(), Deadline(5)));
    REQUIRE(sendAll(rank, greeting.data(), greeting.size(), Deadline(5)));
    REQUIRE(receiveAll(rank, hello.data(), hello.size(), Deadline(5)));
    REQUIRE(receiveAll(second, greeting.data(), greeting.size(), Deadline(5)));
    REQUIRE(sendAll(second, hello.data(), hello.size(), Deadline(5)));
    std::string verdict(4, '\0');
    REQUIRE(receiveAll(second, verdict.data(), 4, Deadline(5)));
    CHECK(verdict == std::string("\1\0\0\0", 4));
    rank.close();
    listener.close();
    caller.get();
  }
  SECTION("a crowd of silent ones does not keep a rank out") {
    std::vector<Socket> crowd;
    for (int i = 0; i != 200; ++i)
      crowd.push_back(store.stranger());
    auto b = store.client(1);
    std::optional<std::string> value;
    CHECK(b->get("k", value, 5).text == "");
    CHECK(closedByPeer(crowd.front(), 2)); // made room for later ones
  }
  SECTION("a silent one is dropped after a while") {
    Socket socket = store.stranger();
    CHECK(closedByPeer(socket, Doorman::patience + 2));
  }
  auto b = store.client(1);
  std::vector<std::string> all;
  auto other = std::async(std::launch::async, [&] { return a->barrier("b", {0, 1}, 5).text; });
  CHECK(b->barrier("b", {0, 1}, 5).text == "");
  CHECK(other.get() == "");
}

TEST_CASE("what a client can make the store hold is bounded", "[store]") {
  Served store(2);
  auto a = store.client(0), b = store.client(1);
  std::string big(storeMaximumFrame - 100, 'x');
  CHECK_THAT(a->set("k", big + std::string(100, 'x'), 5).text, Contains("expected at most"));
  Outcome outcome;
  int taken = 0;
  for (; taken != 12 && (outcome = a->set("k" + std::to_string(taken), big, 20)); ++taken)
    ;
  CHECK(outcome.status == BRAID_MISMATCH);
  CHECK_THAT(outcome.text, Contains("the store is full"));
  CHECK(taken == 8);
  for (int i = 0; i != 12; ++i) // the same key again is no growth
    CHECK(b->set("k0", big, 20).text == "");
}

TEST_CASE("a frame larger than allowed ends the connection, not the store", "[store]") {
  Served store(2);
  auto b = store.client(1);
  Socket socket = store.stranger();
  REQUIRE(introduce(socket, {0, 2, storeTopic}, secret, Deadline(5)));
  std::string head;
  Writer(head).u32(0xffffffffu);
  REQUIRE(sendAll(socket, head.data(), head.size(), Deadline(5)));
  CHECK(closedByPeer(socket, 2));
  std::string value;
  CHECK(b->wait("k", 0, value, 5).status == BRAID_PEER_DIED); // rank 0 is gone by that
}

TEST_CASE("the store's own death is said", "[store]") {
  auto store = std::make_unique<Served>(2);
  auto a = store->client(0);
  auto waiting = std::async(std::launch::async, [&] { return a->barrier("b", {0, 1}, 30); });
  store->thread.reset();
  Outcome outcome = waiting.get();
  CHECK(outcome.status == BRAID_PEER_DIED);
  CHECK_THAT(outcome.text, Contains("the store at 127.0.0.1:") && Contains("is gone") && Contains("rank 0"));
  CHECK(a->barrier("c", {0, 1}, 30).status == BRAID_PEER_DIED);
  CHECK(a->broken());
}

TEST_CASE("port in use: an error if it was asked for, another one if not", "[store]") {
  Served store(2); // its port
  auto connect = [&](RankInfo info, double seconds) {
    return std::async(std::launch::async, [info, seconds] {
      std::shared_ptr<StoreExchange> exchange;
      Outcome outcome = StoreExchange::connect(info, seconds, exchange);
      std::vector<std::string> all;
      if (outcome)
        outcome = exchange->allgather("k", {0, 1}, std::to_string(info.rank), 5, all);
      return outcome.text + (outcome ? all[0] + all[1] + (exchange->sameHost(0, 1) ? " same" : "") : "");
    });
  };
  RankInfo first, second;
  first.ranks = second.ranks = 2;
  second.rank = 1;
  first.secret = second.secret = "the secret of another job";
  first.rendezvous = second.rendezvous = {store.address};
  CHECK_THAT(connect(first, 5).get(), Contains("expected a free port, but it is in use"));
  CHECK_THAT(connect(second, 5).get(), Contains("expected the same job secret"));
  // A port that nobody has: taken from the kernel and given back.
  Socket listener;
  Address free;
  REQUIRE(listenOn({"127.0.0.1", 0}, listener, free));
  listener.close();
  first.rendezvous = second.rendezvous = {store.address, free.text()};
  auto one = connect(first, 10), two = connect(second, 10);
  CHECK(one.get() == "01 same");
  CHECK(two.get() == "01 same");
}
