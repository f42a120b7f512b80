//===- VerbsDoubleTest.cpp - the double of RDMA verbs does what the specification asks of devices -------------------===//
#include "transports/verbs/double/Fabric.h"
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <poll.h>

using namespace braid::runtime;
using namespace braid::runtime::verbs;

namespace {

constexpr unsigned initMask = SetState | SetPkeyIndex | SetPort | SetAccess;
constexpr unsigned receiveMask =
    SetState | SetAddress | SetMtu | SetPeer | SetReceivePsn | SetReadsServed | SetRnrTimer;
constexpr unsigned sendMask = SetState | SetTimeout | SetRetries | SetRnrRetries | SetSendPsn | SetReadsInFlight;

/// A device of a host with a queue pair and some registered memory.
struct End {
  std::unique_ptr<Provider> provider;
  std::unique_ptr<Device> device;
  std::unique_ptr<CompletionQueue> completions;
  std::vector<std::unique_ptr<QueuePair>> pairs;
  std::vector<char> memory = std::vector<char>(4096);
  std::unique_ptr<MemoryRegion> region;

  End(Fabric &fabric, int host, int capacity = 64, int count = 1, int rail = 0) {
    int error = 0;
    provider = fabric.provider(host);
    REQUIRE(provider->open("double" + std::to_string(rail), device));
    completions = device->makeCompletionQueue(capacity, error);
    for (int i = 0; i < count; ++i)
      pairs.push_back(device->makeQueuePair(*completions, {16, 16, 64}, error));
    region = device->registerMemory(memory.data(), memory.size(), LocalWrite | RemoteWrite | RemoteRead, error);
    REQUIRE(error == 0);
  }
  QueuePair &pair() { return *pairs[0]; }
  WorkRequest request(WorkRequest::Operation operation, uint64_t id, size_t at, uint32_t bytes,
                      const End *peer = nullptr, size_t there = 0) {
    WorkRequest made;
    made.operation = operation;
    made.id = id;
    made.local = memory.data() + at;
    made.bytes = bytes;
    made.localKey = region->localKey();
    if (peer) {
      made.remote = reinterpret_cast<uint64_t>(peer->memory.data() + there);
      made.remoteKey = peer->region->remoteKey();
    }
    return made;
  }
  void receive(uint64_t id, size_t at, uint32_t bytes) {
    REQUIRE(pair().receive(id, memory.data() + at, bytes, region->localKey()) == 0);
  }
  /// The next completion, within a second.
  Completion next() {
    Completion one;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (std::chrono::steady_clock::now() < end)
      if (int got = completions->poll(&one, 1); got != 0)
        return got == 1 ? one : Completion{~0ull, Status::Fatal, 0, 0, 0, 0};
    FAIL("no completion");
    return one;
  }
};

QueuePairAttributes attributes(End &from, End &to, size_t which = 0) {
  QueuePairAttributes made;
  made.access = RemoteWrite | RemoteRead;
  made.mtu = 4096;
  made.peer = to.pairs[which]->number();
  made.receivePsn = made.sendPsn = 77;
  made.rnrRetries = 7;
  made.retries = 2;
  made.timeout = 1;
  made.address.global = true;
  made.address.sourceIndex = 3; // RoCE v2, the network's address
  REQUIRE(to.device->gid(1, 3, made.address.gid) == 0);
  return made;
}

void connect(End &a, End &b, int rnrRetries = 7) {
  for (size_t i = 0; i < a.pairs.size(); ++i)
    for (auto [from, to] : {std::pair<End *, End *>{&a, &b}, {&b, &a}}) {
      QueuePairAttributes to2 = attributes(*from, *to, i);
      to2.rnrRetries = rnrRetries;
      to2.state = State::Init;
      REQUIRE(from->pairs[i]->modify(to2, initMask) == 0);
      to2.state = State::ReadyToReceive;
      REQUIRE(from->pairs[i]->modify(to2, receiveMask) == 0);
      to2.state = State::ReadyToSend;
      REQUIRE(from->pairs[i]->modify(to2, sendMask) == 0);
    }
}

} // namespace

TEST_CASE("verbs double: a queue pair goes through its states with all they need, and nothing else", "[verbs]") {
  auto fabric = Fabric::create();
  End a(*fabric, 0), b(*fabric, 1);
  QueuePairAttributes to = attributes(a, b);
  WorkRequest send = a.request(WorkRequest::Send, 1, 0, 8);
  to.state = State::ReadyToSend;
  CHECK(a.pair().modify(to, sendMask) == EINVAL); // not from reset
  CHECK(a.pair().receive(1, nullptr, 0, 0) == EINVAL);
  to.state = State::Init;
  CHECK(a.pair().modify(to, initMask & ~unsigned(SetPort)) == EINVAL);
  CHECK(a.pair().modify(to, initMask | SetTimeout) == EINVAL);
  REQUIRE(a.pair().modify(to, initMask) == 0);
  CHECK(a.pair().send(send) == EINVAL);
  to.state = State::ReadyToReceive;
  for (unsigned bit : {SetAddress, SetMtu, SetPeer, SetReceivePsn, SetReadsServed, SetRnrTimer})
    CHECK(a.pair().modify(to, receiveMask & ~bit) == EINVAL);
  to.address.global = false; // RoCE goes by GID
  CHECK(a.pair().modify(to, receiveMask) == EINVAL);
  to.address.global = true;
  REQUIRE(a.pair().modify(to, receiveMask) == 0);
  CHECK(a.pair().send(send) == EINVAL);
  to.state = State::ReadyToSend;
  to.retries = 8;
  CHECK(a.pair().modify(to, sendMask) == EINVAL);
  to.retries = 7;
  REQUIRE(a.pair().modify(to, sendMask) == 0);
  to.state = State::Error;
  CHECK(a.pair().modify(to, SetState) == 0);
}

TEST_CASE("verbs double: send, write, write with immediate and read move the bytes", "[verbs]") {
  auto fabric = Fabric::create();
  End a(*fabric, 0), b(*fabric, 1);
  connect(a, b);
  std::strcpy(a.memory.data(), "carried");
  b.receive(7, 100, 64);
  REQUIRE(a.pair().send(a.request(WorkRequest::Send, 1, 0, 8)) == 0);
  CHECK(a.next().id == 1);
  Completion got = b.next();
  CHECK((got.id == 7 && got.bytes == 8 && got.status == Status::Success));
  CHECK(b.memory.data() + 100 == std::string("carried"));

  b.receive(8, 0, 0);
  WorkRequest write = a.request(WorkRequest::WriteWithImmediate, 2, 0, 8, &b, 200);
  write.immediate = 4711;
  REQUIRE(a.pair().send(write) == 0);
  CHECK(a.next().id == 2);
  CHECK(b.next().immediate == 4711);
  CHECK(b.memory.data() + 200 == std::string("carried"));

  REQUIRE(a.pair().send(a.request(WorkRequest::Read, 3, 300, 8, &b, 200)) == 0);
  CHECK(a.next().id == 3);
  CHECK(a.memory.data() + 300 == std::string("carried"));
}

TEST_CASE("verbs double: bytes are read when they go, inlined ones at once; the inline limit holds", "[verbs]") {
  FabricSettings slow;
  slow.latency = Seconds(2e-3);
  auto fabric = Fabric::create(slow);
  End a(*fabric, 0), b(*fabric, 1);
  connect(a, b);
  std::strcpy(a.memory.data(), "before");
  WorkRequest late = a.request(WorkRequest::Write, 1, 0, 8, &b, 0),
              inlined = a.request(WorkRequest::Write, 2, 0, 8, &b, 64);
  inlined.inlined = true;
  inlined.localKey = 0;
  REQUIRE(a.pair().send(late) == 0);
  REQUIRE(a.pair().send(inlined) == 0);
  std::strcpy(a.memory.data(), "after");
  CHECK(a.next().id == 1);
  CHECK(a.next().id == 2);
  CHECK(b.memory.data() == std::string("after"));
  CHECK(b.memory.data() + 64 == std::string("before"));
  inlined.bytes = 65;
  CHECK(a.pair().send(inlined) == EINVAL);
}

TEST_CASE("verbs double: keys, bounds and access flags are checked, and end both queue pairs", "[verbs]") {
  struct Wrong {
    const char *what;
    Status status;
    void (*spoil)(WorkRequest &);
  };
  const Wrong all[] = {
      {"beyond the remote region", Status::RemoteAccess, [](WorkRequest &r) { r.remote += 4090; }},
      {"before the remote region", Status::RemoteAccess, [](WorkRequest &r) { r.remote -= 1; }},
      {"another remote key", Status::RemoteAccess, [](WorkRequest &r) { r.remoteKey = 3; }},
      {"another local key", Status::LocalProtection, [](WorkRequest &r) { r.localKey = 3; }},
      {"beyond the local region", Status::LocalProtection,
       [](WorkRequest &r) { r.local = static_cast<char *>(r.local) + 4095; }},
  };
  for (const Wrong &wrong : all) {
    INFO(wrong.what);
    auto fabric = Fabric::create();
    End a(*fabric, 0), b(*fabric, 1);
    connect(a, b);
    WorkRequest write = a.request(WorkRequest::Write, 1, 0, 8, &b, 0);
    wrong.spoil(write);
    REQUIRE(a.pair().send(write) == 0);
    CHECK(a.next().status == wrong.status);
    REQUIRE(a.pair().send(a.request(WorkRequest::Write, 2, 0, 8, &b, 0)) == 0); // taken, and flushed
    CHECK(a.next().status == Status::Flushed);
  }
  auto fabric = Fabric::create();
  End a(*fabric, 0), b(*fabric, 1);
  connect(a, b);
  int error = 0;
  b.region = b.device->registerMemory(b.memory.data(), 4096, LocalWrite | RemoteRead, error);
  REQUIRE(a.pair().send(a.request(WorkRequest::Read, 1, 0, 8, &b, 0)) == 0);
  CHECK(a.next().status == Status::Success);
  REQUIRE(a.pair().send(a.request(WorkRequest::Write, 2, 0, 8, &b, 0)) == 0);
  CHECK(a.next().status == Status::RemoteAccess);
}

TEST_CASE("verbs double: a receiver that is not ready is tried again, so many times as was asked for", "[verbs]") {
  for (int retries : {3, 7}) {
    auto fabric = Fabric::create();
    End a(*fabric, 0), b(*fabric, 1);
    connect(a, b, retries);
    REQUIRE(a.pair().send(a.request(WorkRequest::Send, 1, 0, 8)) == 0);
    Completion none;
    while (fabric->figures().notReady < 3)
      REQUIRE(a.completions->poll(&none, 1) == 0);
    if (retries == 7)
      b.receive(2, 0, 64); // 7: for ever
    CHECK(a.next().status == (retries == 7 ? Status::Success : Status::RnrRetryExceeded));
  }
}

TEST_CASE("verbs double: who does not answer is tried again, then given up; what was posted is flushed", "[verbs]") {
  enum Death { Link, Removal, QueuePairGone };
  for (Death death : {Link, Removal, QueuePairGone}) {
    auto fabric = Fabric::create();
    End a(*fabric, 0), b(*fabric, 1);
    connect(a, b);
    if (death == Link)
      fabric->cutLink(1, 0);
    else if (death == Removal)
      fabric->removeDevice(1, 0);
    else
      b.pairs.clear();
    a.receive(9, 0, 8);
    REQUIRE(a.pair().send(a.request(WorkRequest::Write, 1, 0, 8, &b, 0)) == 0);
    REQUIRE(a.pair().send(a.request(WorkRequest::Write, 2, 0, 8, &b, 0)) == 0);
    Completion first = a.next(), second = a.next(), third = a.next();
    CHECK((first.id == 1 && first.status == Status::RetryExceeded));
    CHECK((second.id == 2 && second.status == Status::Flushed));
    CHECK((third.id == 9 && third.status == Status::Flushed));
    CHECK(fabric->figures().unanswered == 3); // 2 retries
    std::string what;
    CHECK(b.device->broken(what) == (death == Removal));
  }
}

TEST_CASE("verbs double: a completion queue that overruns is broken, and so are its queue pairs", "[verbs]") {
  auto fabric = Fabric::create();
  End a(*fabric, 0, /*capacity=*/2), b(*fabric, 1);
  connect(a, b);
  for (uint64_t id = 1; id <= 3; ++id)
    REQUIRE(a.pair().send(a.request(WorkRequest::Write, id, 0, 8, &b, 0)) == 0);
  std::string what;
  Completion none;
  while (!a.device->broken(what)) // those that poll the other queue do the work too
    b.completions->poll(&none, 1);
  CHECK(what == "CQ error");
  CHECK(a.completions->poll(&none, 1) < 0);
}

TEST_CASE("verbs double: queues have the sizes that were asked for, until completions are polled", "[verbs]") {
  auto fabric = Fabric::create();
  End a(*fabric, 0), b(*fabric, 1);
  connect(a, b);
  for (uint64_t id = 0; id < 16; ++id)
    REQUIRE(a.pair().send(a.request(WorkRequest::Write, id, 0, 8, &b, 0)) == 0);
  CHECK(a.pair().send(a.request(WorkRequest::Write, 16, 0, 8, &b, 0)) == ENOMEM);
  CHECK(a.next().id == 0);
  CHECK(a.pair().send(a.request(WorkRequest::Write, 16, 0, 8, &b, 0)) == 0);
}

TEST_CASE("verbs double: requests keep their order in a queue pair, and not among queue pairs", "[verbs]") {
  auto fabric = Fabric::create();
  End a(*fabric, 0, 64, 4), b(*fabric, 1, 64, 4);
  connect(a, b);
  uint64_t last[4] = {};
  for (uint64_t id = 1; id <= 60; ++id) {
    WorkRequest write = a.request(WorkRequest::Write, id, 0, 8, &b, 0);
    REQUIRE(a.pairs[id % 4]->send(write) == 0);
  }
  for (int i = 0; i < 60; ++i) {
    Completion one = a.next();
    CHECK(one.id > last[one.id % 4]);
    last[one.id % 4] = one.id;
  }
  CHECK(fabric->figures().passed > 0);
}

TEST_CASE("verbs double: a completion wakes who sleeps, once for each time it was asked for", "[verbs]") {
  auto fabric = Fabric::create();
  End a(*fabric, 0), b(*fabric, 1);
  connect(a, b);
  b.receive(1, 0, 64);
  b.receive(2, 64, 64);
  pollfd bell = {b.completions->descriptor(), POLLIN, 0};
  CHECK(poll(&bell, 1, 0) == 0);
  REQUIRE(b.completions->arm() == 0);
  REQUIRE(a.pair().send(a.request(WorkRequest::Send, 1, 0, 8)) == 0);
  a.next();
  CHECK(poll(&bell, 1, 0) == 1);
  b.completions->acknowledge();
  REQUIRE(a.pair().send(a.request(WorkRequest::Send, 2, 0, 8)) == 0);
  a.next();
  CHECK(poll(&bell, 1, 0) == 0); // nobody has asked again
}

TEST_CASE("verbs double: only RoCE v2 of the network's addresses is carried", "[verbs]") {
  auto fabric = Fabric::create();
  End a(*fabric, 0), b(*fabric, 1);
  std::vector<Gid::Type> types;
  for (int index = 0; index < 4; ++index) {
    Gid gid;
    REQUIRE(a.device->gid(1, index, gid) == 0);
    types.push_back(gid.type);
  }
  CHECK(types == std::vector<Gid::Type>{Gid::RoCEv1, Gid::RoCEv2, Gid::RoCEv1, Gid::RoCEv2});
  QueuePairAttributes to = attributes(a, b);
  to.address.sourceIndex = 2; // RoCE v1
  to.state = State::Init;
  REQUIRE(a.pair().modify(to, initMask) == 0);
  to.state = State::ReadyToReceive;
  REQUIRE(a.pair().modify(to, receiveMask) == 0);
  to.state = State::ReadyToSend;
  REQUIRE(a.pair().modify(to, sendMask) == 0);
  REQUIRE(a.pair().send(a.request(WorkRequest::Write, 1, 0, 8, &b, 0)) == 0);
  CHECK(a.next().status == Status::RetryExceeded);
}
