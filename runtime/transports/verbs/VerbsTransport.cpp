//===- VerbsTransport.cpp - messages of step programs over RDMA verbs ----------------------------------------------------===//
//
// Everything happens in the thread that calls progress, which polls one completion queue for each rail. Beside the queue pairs each
// two ranks have a TCP connection: what a rank says at its end goes over it, and its end without a word, which a reliable connection
// would notice only when its retries are over, half a minute later. Ends of rails are agreed on over it too (Protocol.h).
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/VerbsTransport.h"
#include "bootstrap/Deadline.h"
#include "transports/verbs/Connect.h"
#include "transports/verbs/DeviceRegion.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <sched.h>
#include <unistd.h>
#include <utility>

namespace braid::runtime {
namespace verbs {
namespace {

constexpr int sideLane = 1;          ///< of the TCP connections: rails that have failed
constexpr unsigned lookAside = 1024; ///< progresses between looks at them; waiting ranks look each millisecond
constexpr unsigned pauses = 100;
/// Then a waiting rank yields. By time, not by tries: where processors are slow or few, the driver needs them more than who waits.
constexpr std::chrono::microseconds yielding{100};
constexpr int longestSleep = 1; ///< ms
constexpr double farewell =
    10; ///< seconds for what is under way, or yet to be read by a live peer, when a transport ends
constexpr double lastDrain = 0.2; ///< seconds until work requests have stopped
constexpr int atOnce = 16;        ///< completions

class VerbsTransport : public Transport {
public:
  VerbsTransport(const TransportContext &context, const char *title, algorithms::Paths paths,
                 std::unique_ptr<Transport> side, std::unique_ptr<Common> made, std::vector<std::unique_ptr<Peer>> all)
      : members(context.members), me(context.me), title(title), paths(std::move(paths)), side(std::move(side)),
        common(std::move(made)), peers(std::move(all)), parted(peers.size()) {
    common->named = [this](int peer) { return named(peer); };
    common->tellRailDown = [this](int peer, const RailDown &down) {
      said.push_back(down);
      if (!this->side->offer(peer, sideLane, &said.back(), sizeof down, 0))
        common->fail(Fault::System, peer, "cannot tell it over TCP that a rail has failed");
    };
  }
  ~VerbsTransport() override { leave(); }

  const char *name() const override { return title; }
  void *allocate(size_t bytes) override {
    Outcome why;
    void *memory = common->registrations.allocate(bytes, why);
    if (!memory)
      std::fprintf(stderr, "braid: %s: %s\n", named(me).c_str(), why.text.c_str());
    return memory;
  }
  void release(void *memory) override { common->registrations.release(memory); }
  std::string attach(const void *data, size_t bytes, bool written) override {
    if (bytes <= eagerBytes)
      return {};
    return common->registrations.hold(data, bytes, written ? allAccess : unsigned(RemoteRead)).text;
  }
  std::string attachDevice(const void *data, size_t bytes, bool written, std::string &how) override {
    if (bytes <= eagerBytes)
      return {};
    return holdDevice(*common, data, bytes, written ? allAccess : unsigned(RemoteRead), how).text;
  }
  bool reachesDevices() const override { return true; }
  size_t throughHost() const override { return eagerBytes; }
  void detach(const void *data, size_t bytes, bool written) override {
    if (bytes > eagerBytes)
      common->registrations.drop(data, bytes, written ? allAccess : unsigned(RemoteRead));
  }

  bool offer(int peer, int lane, const void *data, size_t bytes, uint16_t note) override {
    return !common->fault && peers[size_t(peer)]->offer(lane, data, bytes, note);
  }
  uint64_t accepted(int peer, int lane) override { return peers[size_t(peer)]->accepted(lane); }
  bool lands() const override { return true; }
  void land(int peer, int lane, void *to, size_t bytes, uint16_t note) override {
    peers[size_t(peer)]->land(lane, to, bytes, note);
  }
  bool peek(int peer, int lane, Message &message) override { return peers[size_t(peer)]->peek(lane, message); }
  void accept(int peer, int lane) override { peers[size_t(peer)]->accept(lane); }
  bool left(int peer, int lane) override {
    Message message;
    return parted[size_t(peer)] && !peek(peer, lane, message) && !peers[size_t(peer)]->expects(lane);
  }

  bool hasPaths() const override { return !paths.empty(); }
  std::string route(int peer, int lane, bool sends, int port, int number) override;

  void progress() override {
    if (++rounds % lookAside == 0)
      aside();
    poll();
  }
  void idle(unsigned spins) override;
  bool settled() const override {
    return std::all_of(peers.begin(), peers.end(), [](const auto &peer) { return !peer || peer->settled(); });
  }
  Fault fault() override {
    aside();
    poll();
    if (common->fault)
      quiesce();
    return common->fault;
  }
  void abort(const std::string &why) override {
    common->fail(Fault::Aborted, me, why);
    quiesce();
    side->abort(why);
  }
  void giveUp(const std::string &why) override {
    common->fail(Fault::Aborted, me, why);
    quiesce();
    gone = true;
    side->giveUp(why);
  }
  void leave() override;
  TransportCounters counters() const override {
    TransportCounters all = common->count;
    all.systemCalls += side->counters().systemCalls;
    return all;
  }

private:
  std::string named(int peer) const { return "rank " + std::to_string(members[size_t(peer)]); }
  void poll();
  void aside();
  void quiesce();

  std::vector<int> members;
  int me;
  const char *title;
  algorithms::Paths paths;
  std::deque<RailDown> said; ///< sent from where they lie
  std::unique_ptr<Transport> side;
  std::unique_ptr<Common> common;
  std::vector<std::unique_ptr<Peer>> peers; ///< null: this rank
  std::vector<char> parted;                 ///< left in good order, and all that it has sent is here
  unsigned rounds = 0;
  bool gone = false, quiet = false, armed = false;
  std::chrono::steady_clock::time_point idleSince;
};

void VerbsTransport::poll() {
  Completion completions[atOnce];
  for (size_t rail = 0; rail < common->rails.size(); ++rail) {
    int got = common->rails[rail].completions->poll(completions, atOnce);
    if (got < 0)
      common->fail(Fault::System, -1,
                   common->rails[rail].name() + ": its completion queue is broken: it overran, or the device is gone");
    for (int i = 0; i < got; ++i) {
      RequestId id(completions[i].id);
      peers[id.peer]->completed(int(rail), id, completions[i]);
    }
  }
}

/// What the peers say over TCP, and what the devices say of themselves.
void VerbsTransport::aside() {
  for (size_t peer = 0; peer < peers.size(); ++peer) {
    Message message;
    while (peers[peer] && side->peek(int(peer), sideLane, message)) {
      RailDown down;
      if (message.bytes == sizeof down) {
        std::memcpy(&down, message.data, sizeof down);
        peers[peer]->peerDown(down);
      }
      side->accept(int(peer), sideLane);
    }
  }
  side->progress();
  for (size_t peer = 0; peer < peers.size(); ++peer) {
    if (!peers[peer])
      continue;
    peers[peer]->look();
    if (!parted[peer] && side->left(int(peer), sideLane)) {
      peers[peer]->left(); // what it has sent was acknowledged before, so it is in our completion queues
      poll();
      parted[peer] = 1;
    }
  }
  if (Fault fault = side->fault(); fault && !gone)
    common->fail(fault.kind, fault.peer, fault.what);
  std::string what;
  for (size_t rail = 0; rail < common->rails.size(); ++rail)
    if (common->rails[rail].device->broken(what))
      for (auto &peer : peers)
        if (peer)
          peer->fail(int(rail), "the device says: " + what);
}

/// After this nothing reads or writes the caller's memory.
void VerbsTransport::quiesce() {
  if (std::exchange(quiet, true))
    return;
  for (auto &peer : peers)
    if (peer)
      peer->stop();
  Deadline deadline(lastDrain);
  auto stopping = [&] {
    return std::any_of(peers.begin(), peers.end(), [](const auto &peer) { return peer && !peer->still(); });
  };
  while (stopping() && !deadline.passed())
    poll();
}

void VerbsTransport::idle(unsigned spins) {
  if (spins < pauses) {
    armed = false;
    if (spins + 1 == pauses)
      idleSince = std::chrono::steady_clock::now();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    return;
  }
  if (!armed && std::chrono::steady_clock::now() - idleSince < yielding) {
    sched_yield();
    return;
  }
  if (!std::exchange(armed, true)) { // the caller looks once more before we sleep
    for (Rail &rail : common->rails)
      rail.completions->arm();
    return;
  }
  std::vector<pollfd> bells;
  for (Rail &rail : common->rails)
    bells.push_back({rail.completions->descriptor(), POLLIN, 0});
  ++common->count.systemCalls;
  if (::poll(bells.data(), bells.size(), longestSleep) > 0)
    for (Rail &rail : common->rails)
      rail.completions->acknowledge();
  armed = false;
}

std::string VerbsTransport::route(int peer, int lane, bool sends, int port, int number) {
  int mine = members[size_t(me)], theirs = members[size_t(peer)];
  std::vector<algorithms::Paths::Connection> all = sends ? paths.between(mine, theirs) : paths.between(theirs, mine);
  int found = port > 0 ? -1 : std::min(number, int(all.size()) - 1);
  for (size_t i = 0; i < all.size() && port > 0; ++i)
    found = all[i].port == port ? int(i) : found;
  if (found < 0 && number >= 0)
    return "path, expected a port that was opened (BRAID_PATHS) " + std::string(sends ? "to " : "from ") + named(peer) +
           ", got " + std::to_string(port);
  peers[size_t(peer)]->route(lane, sends, found, found < 0 ? -1 : all[size_t(found)].rail);
  return {};
}

void VerbsTransport::leave() {
  if (std::exchange(gone, true))
    return;
  if (!common->fault) {
    // The farewell goes by TCP and must not overtake what was sent here.
    Deadline deadline(farewell);
    auto sending = [&] {
      return std::any_of(peers.begin(), peers.end(), [](const auto &peer) { return peer && peer->sending(); });
    };
    while (sending() && !common->fault && !deadline.passed()) {
      aside(); // who has left before us misses nothing
      poll();
      sched_yield();
    }
  }
  if (common->fault)
    quiesce();
  if (common->fault && common->fault.kind == Fault::System)
    side->giveUp(named(me) + " gave up: " + common->fault.what);
  else
    side->leave();
}

std::mutex fabricMutex;
std::shared_ptr<Fabric> chosenFabric;
std::weak_ptr<Fabric> commonFabric;

std::shared_ptr<Fabric> fabric() {
  std::lock_guard<std::mutex> lock(fabricMutex);
  std::shared_ptr<Fabric> found = chosenFabric ? chosenFabric : commonFabric.lock();
  if (!found)
    commonFabric = found = Fabric::create();
  return found;
}

} // namespace

void useFabric(std::shared_ptr<Fabric> fabric) {
  std::lock_guard<std::mutex> lock(fabricMutex);
  chosenFabric = std::move(fabric);
}

Outcome makeTransport(const TransportContext &context, const char *name, Provider &provider,
                      std::unique_ptr<Transport> &transport) {
  Knobs knobs;
  algorithms::Paths paths;
  Outcome own = readKnobs([](const char *variable) { return std::getenv(variable); }, knobs);
  if (own && !context.paths.empty() && context.paths != "off")
    if (std::string wrong = algorithms::Paths::read(context.paths, paths); !wrong.empty())
      own = {BRAID_INVALID, "paths: " + wrong};
  for (const auto &[ends, flows] : paths.flows)
    for (const auto &flow : flows)
      if (flow.port > 0 && flow.port < 49152 && own)
        own = {BRAID_INVALID,
               "paths: expected source ports from 49152 to 65535, those of RoCE v2, got " + std::to_string(flow.port)};
  if (Outcome all = context.exchange.agree(context.key + "/verbs settings", context.members, own, context.deadline);
      !all)
    return all;
  TransportContext beside = context;
  beside.key += "/verbs-side";
  beside.paths = "off";
  std::unique_ptr<Transport> side;
  if (Outcome done = makeTcpTransport(beside, side); !done)
    return done;
  std::unique_ptr<Common> common;
  std::vector<std::unique_ptr<Peer>> peers;
  Outcome done = connect(context, provider, knobs, paths, *side, common, peers);
  if (done)
    transport = std::make_unique<VerbsTransport>(context, name, std::move(paths), std::move(side), std::move(common),
                                                 std::move(peers));
  else
    peers.clear(); // before the devices
  return done;
}

} // namespace verbs

Outcome makeVerbsTransport(const TransportContext &context, std::unique_ptr<Transport> &transport) {
  std::unique_ptr<verbs::Provider> provider;
  // A rank without the library lets nobody wait for it.
  Outcome loaded = verbs::openLibrary(provider);
  loaded = context.exchange.agree(context.key + "/verbs library", context.members, loaded, context.deadline);
  return loaded ? verbs::makeTransport(context, "verbs", *provider, transport) : loaded;
}

Outcome makeVerbsDoubleTransport(const TransportContext &context, std::unique_ptr<Transport> &transport) {
  std::vector<std::string> processes; // the double's network is memory of one
  Outcome met = context.exchange.allgather(context.key + "/verbs-double", context.members, std::to_string(getpid()),
                                           context.deadline, processes);
  if (!met)
    return met;
  if (std::any_of(processes.begin(), processes.end(), [&](const std::string &each) { return each != processes[0]; }))
    return {BRAID_INVALID,
            "transport 'verbs-double': expected all ranks in one process, as threads of a test, got several; "
            "conformance --transports verbs-double runs it so, and verbs is for devices"};
  std::unique_ptr<verbs::Provider> provider = verbs::fabric()->provider(context.members[size_t(context.me)]);
  return verbs::makeTransport(context, "verbs-double", *provider, transport);
}

bool haveVerbs() {
  std::unique_ptr<verbs::Provider> provider;
  std::vector<std::string> names;
  return verbs::openLibrary(provider) && provider->devices(names) && !names.empty();
}

} // namespace braid::runtime
