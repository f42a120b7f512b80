//===- Programs.cpp - what is done wrongly -----------------------------------------------------------------------------===//
#include "test/verbs/misuse/Misuse.h"
#include <cerrno>

namespace braid::test {

using namespace verbs;
using R = WorkRequest;

namespace {

constexpr unsigned readOnly = 0, noWrite = LocalWrite | RemoteRead, noRead = LocalWrite | RemoteWrite;

/// One request that is spoiled, then a right one, with a receive at the other end.
template <typename Spoil> void spoiled(Stage &s, R::Operation operation, Spoil spoil) {
  s.receive(s.b);
  R request = s.request(operation), right = request;
  spoil(request);
  s.post(s.a, request);
  s.post(s.a, right);
  s.settle();
}

void ready(Stage &s, const Stage::Wish &wish = {}) {
  s.open(wish);
  s.connect();
}

Stage::Wish withRegion(unsigned access) {
  Stage::Wish wish;
  wish.regionAccess = access;
  return wish;
}
Stage::Wish withPair(unsigned access) {
  Stage::Wish wish;
  wish.pairAccess = access;
  return wish;
}
Stage::Wish patient() {
  Stage::Wish wish;
  wish.rnrRetries = 7; // for ever
  return wish;
}

/// Another registration of that end's memory.
std::unique_ptr<MemoryRegion> registered(End &end, unsigned access) {
  int error = 0;
  return end.device->registerMemory(end.memory.data(), end.memory.size(), access, error);
}

} // namespace

const std::vector<Misuse> &misuses() {
  static const std::vector<Misuse> all = {
      // Keys, bounds and access of memory.
      {"local key of nothing",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [](R &r) { r.localKey ^= 0xff00; });
       }},
      {"local key of another domain",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [&](R &r) { r.localKey = s.b.region->localKey(); });
       }},
      {"beyond local memory",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [](R &r) { r.local = static_cast<char *>(r.local) + End::registered - 63; });
       }},
      {"local key of nothing, sent",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Send, [](R &r) { r.localKey ^= 0xff00; });
       }},
      {"read into memory that is read only",
       [](Stage &s) {
         ready(s);
         auto region = registered(s.a, readOnly);
         spoiled(s, R::Read, [&](R &r) { r.localKey = region->localKey(); });
       }},
      {"remote key of nothing",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [](R &r) { r.remoteKey ^= 0xff00; });
       }},
      {"remote key of another domain",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [&](R &r) { r.remoteKey = s.a.region->remoteKey(); });
       }},
      {"remote key of nothing, with immediate",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::WriteWithImmediate, [](R &r) { r.remoteKey ^= 0xff00; });
       }},
      {"remote key of nothing, read",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Read, [](R &r) { r.remoteKey ^= 0xff00; });
       }},
      {"beyond remote memory",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [](R &r) { r.remote += End::registered - 63; });
       }},
      {"before remote memory",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [](R &r) { r.remote -= 1; });
       }},
      {"beyond remote memory, read",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Read, [](R &r) { r.remote += End::registered - 63; });
       }},
      {"write to a region that grants none",
       [](Stage &s) {
         ready(s, withRegion(noWrite));
         spoiled(s, R::Write, [](R &) {});
       }},
      {"read of a region that grants none",
       [](Stage &s) {
         ready(s, withRegion(noRead));
         spoiled(s, R::Read, [](R &) {});
       }},
      {"atomic on a region that grants none",
       [](Stage &s) {
         ready(s, withRegion(noWrite | RemoteWrite));
         spoiled(s, R::FetchAdd, [](R &) {});
       }},
      {"write over a queue pair that grants none",
       [](Stage &s) {
         ready(s, withPair(RemoteRead));
         spoiled(s, R::Write, [](R &) {});
       }},
      {"read over a queue pair that grants none",
       [](Stage &s) {
         ready(s, withPair(RemoteWrite));
         spoiled(s, R::Read, [](R &) {});
       }},
      {"remote region gone in flight",
       [](Stage &s) {
         ready(s, patient());
         s.post(s.a, s.request(R::Send)); // holds what comes after it until there is a receive
         s.post(s.a, s.request(R::Write));
         auto receiving = registered(s.b, LocalWrite);
         s.b.region = std::move(receiving);
         s.receive(s.b);
         s.settle();
       }},
      {"local region gone in flight",
       [](Stage &s) {
         ready(s, patient());
         auto other = registered(s.a, LocalWrite);
         s.post(s.a, s.request(R::Send));
         R late = s.request(R::Write);
         late.localKey = other->localKey();
         s.post(s.a, late);
         other.reset();
         s.receive(s.b);
         s.settle();
       }},
      {"register for remote writes, not for local ones",
       [](Stage &s) {
         s.open();
         int error = 0;
         s.a.device->registerMemory(s.a.begin(), 4096, RemoteWrite, error);
         s.call(s.a, "register", error);
       }},
      // Receives.
      {"no receive, sent",
       [](Stage &s) {
         ready(s);
         s.post(s.a, s.request(R::Send));
         s.settle();
       }},
      {"no receive, with immediate",
       [](Stage &s) {
         ready(s);
         s.post(s.a, s.request(R::WriteWithImmediate));
         s.post(s.a, s.request(R::Write));
         s.settle();
       }},
      {"longer than the receive",
       [](Stage &s) {
         ready(s);
         s.receive(s.b, 32);
         s.receive(s.b);
         s.post(s.a, s.request(R::Send));
         s.post(s.a, s.request(R::Send));
         s.settle();
       }},
      {"receive with a key of nothing",
       [](Stage &s) {
         ready(s);
         s.call(s.b, "receive", s.b.pair->receive(101, s.b.begin(), 256, s.b.region->localKey() ^ 0xff00));
         s.b.ends[101];
         s.post(s.a, s.request(R::Send));
         s.settle();
       }},
      // Queues.
      {"send queue full",
       [](Stage &s) {
         ready(s, patient()); // nobody receives, so nothing ends
         s.untilRefused("send", 32, [&] { return s.a.pair->send(s.request(R::Send)); });
       }},
      {"receive queue full",
       [](Stage &s) {
         ready(s);
         s.untilRefused("receive", 32, [&] { return s.a.pair->receive(101, s.a.begin(), 64, s.a.region->localKey()); });
       }},
      {"completion queue full",
       [](Stage &s) {
         Stage::Wish small;
         small.completions = 2;
         ready(s, small);
         std::string what;
         for (int i = 0; i < 16; ++i)
           s.call(s.a, "send", s.a.pair->send(s.request(R::Write)));
         s.await(s.b, 101); // which never comes: nobody polls a's
         s.b.ends.clear();
         s.say(s.a.device->broken(what) ? "a: " + what : "a: nothing is said");
       }},
      {"completion queue of none",
       [](Stage &s) {
         s.open();
         int error = 0;
         s.a.device->makeCompletionQueue(0, error);
         s.call(s.a, "completions", error);
       }},
      {"inlined beyond the limit",
       [](Stage &s) {
         ready(s);
         R request = s.request(R::Write);
         request.inlined = true;
         request.bytes = s.a.pair->inlineBytes() + 1;
         s.post(s.a, request);
         s.post(s.a, s.request(R::Write));
         s.settle();
       }},
      // States.
      {"send in reset",
       [](Stage &s) {
         s.open();
         s.post(s.a, s.request(R::Write));
       }},
      {"receive in reset",
       [](Stage &s) {
         s.open();
         s.call(s.a, "receive", s.a.pair->receive(101, s.a.begin(), 64, s.a.region->localKey()));
       }},
      {"send in init",
       [](Stage &s) {
         s.open();
         s.call(s.a, "init", s.modify(s.a, State::Init));
         s.post(s.a, s.request(R::Write));
       }},
      {"ready to send from init",
       [](Stage &s) {
         s.open();
         s.call(s.a, "init", s.modify(s.a, State::Init));
         s.call(s.a, "ready to send", s.modify(s.a, State::ReadyToSend));
       }},
      {"ready to receive with an attribute missing",
       [](Stage &s) {
         s.open();
         s.call(s.a, "init", s.modify(s.a, State::Init));
         QueuePairAttributes to;
         to.state = State::ReadyToReceive;
         s.call(s.a, "ready to receive", s.a.pair->modify(to, SetState | SetMtu));
       }},
      {"requests on a queue pair in error",
       [](Stage &s) {
         ready(s);
         s.errorState(s.a);
         s.receive(s.a);
         s.post(s.a, s.request(R::Write));
         s.post(s.a, s.request(R::Send));
         s.settle();
       }},
      {"into error with receives",
       [](Stage &s) {
         ready(s);
         s.receive(s.a);
         s.receive(s.a);
         s.errorState(s.a);
         s.settle();
       }},
      {"peer's queue pair in error",
       [](Stage &s) {
         ready(s);
         s.errorState(s.b);
         s.receive(s.a);
         s.post(s.a, s.request(R::Write));
         s.post(s.a, s.request(R::Write));
         s.settle();
       }},
      {"peer's queue pair destroyed",
       [](Stage &s) {
         ready(s);
         s.b.pair.reset();
         s.post(s.a, s.request(R::Write));
         s.post(s.a, s.request(R::Send));
         s.settle();
       }},
      {"peer not ready to receive",
       [](Stage &s) {
         s.open();
         for (State state : {State::Init, State::ReadyToReceive, State::ReadyToSend})
           s.call(s.a, "modify", s.modify(s.a, state));
         s.call(s.b, "init", s.modify(s.b, State::Init));
         s.post(s.a, s.request(R::Write));
         s.settle();
       }},
      // Operations.
      {"atomic at an odd address",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::FetchAdd, [](R &r) { r.remote += 1; });
       }},
      {"read that is inlined",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Read, [](R &r) { r.inlined = true; });
       }},
      // What looks wrong and is allowed.
      {"no bytes, keys of nothing",
       [](Stage &s) {
         ready(s);
         spoiled(s, R::Write, [](R &r) {
           r.bytes = 0;
           r.remoteKey ^= 0xff00;
         });
       }},
      {"no bytes, sent to a receive of none",
       [](Stage &s) {
         ready(s);
         s.receive(s.b, 0);
         R request = s.request(R::Send);
         request.bytes = 0;
         s.post(s.a, request);
         s.settle();
       }},
      {"inlined without a key",
       [](Stage &s) {
         ready(s);
         R request = s.request(R::Write);
         request.inlined = true;
         request.localKey = 0;
         s.post(s.a, request);
         s.settle();
       }},
  };
  return all;
}

} // namespace braid::test
