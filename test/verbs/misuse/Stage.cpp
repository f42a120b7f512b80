//===- Stage.cpp - two ends of one device ------------------------------------------------------------------------------===//
#include "test/verbs/misuse/Misuse.h"
#include "transports/verbs/Gids.h"
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace braid::test {

using namespace verbs;

namespace {

std::string nameOf(Status status) {
  switch (status) {
  case Status::Success:
    return "SUCCESS";
  case Status::LocalLength:
    return "LOC_LEN_ERR";
  case Status::LocalOperation:
    return "LOC_QP_OP_ERR";
  case Status::LocalProtection:
    return "LOC_PROT_ERR";
  case Status::Flushed:
    return "WR_FLUSH_ERR";
  case Status::BadResponse:
    return "BAD_RESP_ERR";
  case Status::LocalAccess:
    return "LOC_ACCESS_ERR";
  case Status::RemoteInvalidRequest:
    return "REM_INV_REQ_ERR";
  case Status::RemoteAccess:
    return "REM_ACCESS_ERR";
  case Status::RemoteOperation:
    return "REM_OP_ERR";
  case Status::RetryExceeded:
    return "RETRY_EXC_ERR";
  case Status::RnrRetryExceeded:
    return "RNR_RETRY_EXC_ERR";
  default:
    return "status " + std::to_string(int(status));
  }
}

void must(bool holds, const std::string &what) {
  if (!holds)
    throw std::runtime_error("misuse: the stage itself fails: " + what);
}

} // namespace

void Stage::open(const Wish &asked) {
  wish = asked;
  for (End *end : {&a, &b}) {
    int error = 0;
    Port port;
    std::string why;
    must(bool(provider.open(name, end->device)) && end->device->port(1, port) == 0, "device " + name);
    must(bool(chooseGid(*end->device, port, Knobs(), end->gid, why)), why);
    end->completions = end->device->makeCompletionQueue(wish.completions, error);
    must(error == 0, "completion queue");
    end->pair = end->device->makeQueuePair(*end->completions, {32, 32, 64}, error);
    must(error == 0, "queue pair");
    end->region = end->device->registerMemory(end->begin(), End::registered, wish.regionAccess, error);
    must(error == 0, "memory region");
  }
}

QueuePairAttributes Stage::attributes(End &end) {
  End &other = &end == &a ? b : a;
  QueuePairAttributes to;
  to.access = &end == &b ? wish.pairAccess : unsigned(RemoteWrite | RemoteRead);
  to.peer = other.pair ? other.pair->number() : 0;
  to.receivePsn = to.sendPsn = 77;
  to.readsServed = to.readsInFlight = 4;
  to.rnrTimer = 1; // 0.01 ms
  to.timeout = 12; // 17 ms
  to.retries = 1;
  to.rnrRetries = wish.rnrRetries;
  to.address.global = true;
  to.address.gid = other.gid;
  to.address.sourceIndex = end.gid.index;
  return to;
}

int Stage::modify(End &end, State state) {
  static const std::map<State, unsigned> masks = {
      {State::Init, SetState | SetPkeyIndex | SetPort | SetAccess},
      {State::ReadyToReceive, SetState | SetAddress | SetMtu | SetPeer | SetReceivePsn | SetReadsServed | SetRnrTimer},
      {State::ReadyToSend, SetState | SetTimeout | SetRetries | SetRnrRetries | SetSendPsn | SetReadsInFlight}};
  QueuePairAttributes to = attributes(end);
  to.state = state;
  auto found = masks.find(state);
  return end.pair->modify(to, found == masks.end() ? unsigned(SetState) : found->second);
}

void Stage::connect() {
  for (State state : {State::Init, State::ReadyToReceive, State::ReadyToSend})
    for (End *end : {&a, &b})
      must(modify(*end, state) == 0, "queue pair to state " + std::to_string(int(state)));
}

WorkRequest Stage::request(WorkRequest::Operation operation) {
  WorkRequest made;
  made.operation = operation;
  made.local = a.begin();
  made.bytes = operation == WorkRequest::FetchAdd ? 8 : 64;
  made.localKey = a.region->localKey();
  made.remote = reinterpret_cast<uint64_t>(b.begin());
  made.remoteKey = b.region->remoteKey();
  made.add = 1;
  return made;
}

void Stage::post(End &end, WorkRequest request) {
  request.id = 1;
  while (end.ends.count(request.id))
    ++request.id;
  int error = end.pair->send(request);
  call(end, "send", error);
  if (!error)
    end.ends[request.id];
}

void Stage::receive(End &end, uint32_t bytes) {
  uint64_t id = 101;
  while (end.ends.count(id))
    ++id;
  int error = end.pair->receive(id, end.begin(), bytes, end.region->localKey());
  call(end, "receive", error);
  if (!error)
    end.ends[id];
}

bool Stage::poll(End &end) {
  Completion one;
  if (end.completions->poll(&one, 1) <= 0)
    return false;
  end.ends[one.id] = nameOf(one.status);
  return true;
}

void Stage::settle() {
  auto open = [](const End &end) {
    return std::any_of(end.ends.begin(), end.ends.end(), [](auto &each) { return each.second.empty(); });
  };
  wait([&] { return open(a) || open(b); }, {&a, &b});
}

void Stage::await(End &end, uint64_t id) {
  wait([&] { return end.ends[id].empty(); }, {&end});
}

/// While nothing comes, for as long as patience lasts, in time and in looks (a process may be stopped between two of them).
void Stage::wait(const std::function<bool()> &open, const std::vector<End *> &polled) {
  constexpr int leastLooks = 2000;
  int looks = 0;
  auto last = std::chrono::steady_clock::now();
  while (open() && (looks++ < leastLooks || std::chrono::steady_clock::now() - last < patience)) {
    bool came = false;
    for (End *end : polled)
      came |= poll(*end);
    if (came) {
      looks = 0;
      last = std::chrono::steady_clock::now();
    } else if (looks % 256 == 0) {
      std::this_thread::yield();
    }
  }
}

void Stage::call(End &end, const std::string &what, int error) {
  if (error)
    say(end.name + "." + what + "=" + strerrorname_np(error));
}

void Stage::say(const std::string &what) { calls += (calls.empty() ? "" : " ") + what; }

std::string Stage::record() {
  for (End *end : {&a, &b})
    for (auto &[id, how] : end->ends)
      say(end->name + std::to_string(id) + "=" + (how.empty() ? "none" : how));
  return calls;
}

std::string play(const Misuse &misuse, Provider &provider, const std::string &device,
                 std::chrono::milliseconds patience) {
  Stage stage(provider, device, patience);
  misuse.run(stage);
  std::string ended = stage.record();
  stage.a.pair.reset();
  stage.b.pair.reset();
  return ended;
}

} // namespace braid::test
