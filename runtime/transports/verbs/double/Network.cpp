//===- Network.cpp - executes work requests -------------------------------------------------------------------------===//
#include "transports/verbs/double/State.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unistd.h>

namespace braid::runtime::verbs {

std::shared_ptr<Fabric> Fabric::create(const FabricSettings &settings) { return std::make_shared<Network>(settings); }

Node &Network::node(int host, int rail) {
  std::unique_ptr<Node> &node = nodes[{host, rail}];
  if (node)
    return *node;
  node = std::make_unique<Node>();
  node->host = host;
  node->rail = rail;
  Gid linkLocal, network;
  linkLocal.raw = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, uint8_t(rail), uint8_t(host >> 8), uint8_t(host)};
  network.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, uint8_t(rail), uint8_t(host >> 8), uint8_t(host)};
  for (const Gid &each : {linkLocal, network})
    for (Gid::Type type : {Gid::RoCEv1, Gid::RoCEv2}) {
      node->gids.push_back(each);
      node->gids.back().type = type;
      node->gids.back().index = int(node->gids.size()) - 1;
    }
  byGid[network.raw] = node.get();
  return *node;
}

Seconds Network::delay() {
  Seconds time = settings.latency;
  if (settings.jitter.count() > 0)
    time += settings.jitter * std::exp(std::normal_distribution<double>(0, 0.5)(random));
  return time;
}

void Network::post(Pair &pair, const WorkRequest &request) {
  Pair::Posted posted{request, {}, {}, ++this->posted};
  if (request.inlined) {
    const char *bytes = static_cast<const char *>(request.local);
    posted.inlined.assign(bytes, bytes + request.bytes);
    ++counted.inlined;
  }
  if (settings.latency.count() > 0 || settings.jitter.count() > 0 || settings.bytesPerSecond > 0) {
    using std::chrono::duration_cast;
    Time begin = std::max(std::chrono::steady_clock::now(), pair.node->freeAt);
    if (settings.bytesPerSecond > 0)
      begin += duration_cast<Time::duration>(Seconds(request.bytes / settings.bytesPerSecond));
    pair.node->freeAt = begin;
    posted.due = std::max(pair.lastDue, begin + duration_cast<Time::duration>(delay()));
    pair.lastDue = posted.due;
  }
  pair.sends.push_back(std::move(posted));
  ++pair.sendsTaken;
  if (pair.state == State::Error)
    return fail(pair);
  if (!pair.busy)
    busy.push_back(&pair);
  pair.busy = true;
}

void Network::complete(Pair &pair, const Completion &completion, bool sent) {
  Completions &queue = *pair.completions;
  if (queue.broken)
    return;
  if (queue.entries.size() >= queue.capacity)
    return breakQueue(queue);
  queue.entries.push_back({completion, sent});
  queue.entries.back().completion.queuePair = pair.number;
  if (queue.armed) {
    queue.armed = false;
    uint64_t one = 1;
    if (write(queue.event, &one, sizeof one) < 0) // full: it is readable
      return;
  }
}

/// An overrun: what it held is lost, and its queue pairs go no further.
void Network::breakQueue(Completions &queue) {
  queue.broken = true;
  queue.entries.clear();
  queue.node->event = "CQ error";
  ++queue.node->events;
  for (auto &[number, pair] : queue.node->pairs)
    if (pair->completions == &queue)
      fail(*pair);
}

void Network::fail(Pair &pair) {
  pair.state = State::Error;
  Completion flushed;
  flushed.status = Status::Flushed;
  while (!pair.sends.empty()) {
    flushed.id = pair.sends.front().request.id;
    pair.sends.pop_front();
    complete(pair, flushed, true);
  }
  while (!pair.receives.empty()) {
    flushed.id = pair.receives.front().id;
    pair.receives.pop_front();
    complete(pair, flushed, false);
  }
}

void Network::forget(Pair &pair) {
  busy.erase(std::remove(busy.begin(), busy.end(), &pair), busy.end());
  pair.node->pairs.erase(pair.number);
}

void Network::run() {
  if (busy.empty())
    return;
  Time now = std::chrono::steady_clock::now();
  std::vector<Pair *> turn = busy;
  if (settings.reorder)
    std::shuffle(turn.begin(), turn.end(), random);
  for (Pair *pair : turn) {
    constexpr int atOnce = 4;
    int most = settings.reorder ? int(random() % (atOnce + 1)) : atOnce;
    for (int i = 0; i < most && !pair->sends.empty() && pair->sends.front().due <= now; ++i) {
      call();
      if (pair->sends.empty() || execute(*pair, now) != Step::Done)
        break;
    }
  }
  busy.erase(std::remove_if(busy.begin(), busy.end(),
                            [](Pair *pair) {
                              pair->busy = !pair->sends.empty();
                              return !pair->busy;
                            }),
             busy.end());
}

/// The queue pair at the other end, if packets find it.
Pair *Network::target(Pair &pair) {
  const auto &to = pair.attributes.address;
  const Gid &source = pair.node->gids[size_t(to.sourceIndex)];
  auto found = byGid.find(to.gid.raw);
  if (found == byGid.end() || source.type != Gid::RoCEv2 || !byGid.count(source.raw))
    return nullptr;
  Node &there = *found->second;
  if (pair.node->cut || there.cut || there.removed || there.rail != pair.node->rail)
    return nullptr;
  auto other = there.pairs.find(pair.attributes.peer);
  if (other == there.pairs.end())
    return nullptr;
  Pair &peer = *other->second;
  bool ready = peer.state == State::ReadyToReceive || peer.state == State::ReadyToSend;
  bool mutual = peer.attributes.peer == pair.number && peer.attributes.address.gid.raw == source.raw &&
                peer.attributes.receivePsn == pair.attributes.sendPsn && peer.attributes.mtu >= pair.attributes.mtu;
  return ready && mutual ? &peer : nullptr;
}

/// These bytes, if the queue pair may reach them so; access 0: to read them for a request of its own. Or null.
char *Network::memory(Pair &pair, const void *at, uint32_t bytes, uint32_t key, unsigned access) {
  char *begin = static_cast<char *>(const_cast<void *>(at));
  auto found = pair.node->regions.find(key);
  if (found == pair.node->regions.end() || found->second.domain != pair.domain)
    return checks(CheckKeys) ? nullptr : begin;
  const Region &region = found->second;
  bool inside = begin >= region.memory && bytes <= region.bytes && begin - region.memory <= long(region.bytes - bytes);
  bool granted = (inside || !checks(CheckBounds)) && ((region.access & access) == access || !checks(CheckRegions));
  return !granted ? nullptr : region.seen ? region.seen + (begin - region.memory) : begin;
}

Network::Step Network::failed(Pair &pair, Status status) {
  Completion completion;
  completion.id = pair.sends.front().request.id;
  completion.status = status;
  pair.sends.pop_front();
  pair.state = State::Error;
  complete(pair, completion, true);
  fail(pair);
  return Step::Failed;
}

Network::Step Network::unanswered(Pair &pair, Time now) {
  ++counted.unanswered;
  if (pair.unanswered++ >= pair.attributes.retries)
    return failed(pair, Status::RetryExceeded);
  Seconds wait(4.096e-6 * std::pow(2.0, pair.attributes.timeout));
  if (pair.attributes.timeout == 0 || wait > settings.longestTimeout)
    wait = settings.longestTimeout;
  pair.sends.front().due = now + std::chrono::duration_cast<Time::duration>(wait);
  return Step::Later;
}

Network::Step Network::notReady(Pair &pair, Time now) {
  ++counted.notReady;
  if (pair.attributes.rnrRetries < 7 && pair.notReady++ >= pair.attributes.rnrRetries)
    return failed(pair, Status::RnrRetryExceeded);
  pair.sends.front().due = now + std::chrono::microseconds(100);
  return Step::Later;
}

/// The statuses are those of ibv_poll_cq(3)'s ibv_wc_status; test/data/verbs_misuse.txt says what documents each.
Network::Step Network::execute(Pair &pair, Time now) {
  const Pair::Posted &posted = pair.sends.front();
  const WorkRequest &request = posted.request;
  const bool atomic = request.operation == WorkRequest::FetchAdd,
             reads = atomic || request.operation == WorkRequest::Read;
  char *mine = request.inlined ? const_cast<char *>(posted.inlined.data()) : nullptr, *theirs = nullptr;
  if (request.bytes && !request.inlined &&
      !(mine = memory(pair, request.local, request.bytes, request.localKey, reads ? LocalWrite : 0u)))
    return failed(pair, Status::LocalProtection);
  Pair *peer = target(pair);
  if (!peer)
    return unanswered(pair, now);
  const bool consumes = request.operation == WorkRequest::Send || request.operation == WorkRequest::WriteWithImmediate;
  if (consumes && (peer->receives.empty() || peer->node->deafUntil > now))
    return notReady(pair, now);
  /// The responder's queue pair gives up too; a receive that was in use says why.
  auto refused = [&](Status status, Status receive) {
    if (consumes) {
      Completion completion;
      completion.id = peer->receives.front().id;
      completion.status = receive;
      peer->receives.pop_front();
      complete(*peer, completion, false);
    }
    fail(*peer);
    return failed(pair, status);
  };
  if (request.operation != WorkRequest::Send && request.bytes) {
    unsigned access = atomic ? RemoteAtomic : reads ? RemoteRead : RemoteWrite;
    if ((!(peer->attributes.access & access) && checks(CheckPairs)) || (atomic && request.remote % 8))
      return refused(Status::RemoteInvalidRequest, Status::Flushed);
    theirs = memory(*peer, reinterpret_cast<void *>(request.remote), request.bytes, request.remoteKey, access);
    if (!theirs)
      return refused(Status::RemoteAccess, Status::LocalAccess);
  }
  if (request.operation == WorkRequest::Send && request.bytes) {
    const Pair::Receive &receive = peer->receives.front();
    theirs = memory(*peer, receive.local, receive.bytes, receive.key, LocalWrite);
    if (!theirs)
      return refused(Status::RemoteOperation, Status::LocalProtection);
    if (receive.bytes < request.bytes && checks(CheckLengths))
      return refused(Status::RemoteInvalidRequest, Status::LocalLength);
  }
  if (atomic) {
    uint64_t value; // all that devices do to memory is under one mutex
    std::memcpy(&value, theirs, sizeof value);
    std::memcpy(mine, &value, sizeof value);
    value += request.add;
    std::memcpy(theirs, &value, sizeof value);
  } else if (request.bytes) {
    std::memcpy(reads ? mine : theirs, reads ? theirs : mine, request.bytes);
  }

  counted.bytes += request.bytes;
  counted.large += request.bytes >= 64 << 10;
  counted.railBytes[pair.node->rail % 8] += request.bytes;
  counted.sends += request.operation == WorkRequest::Send;
  counted.writes += request.operation == WorkRequest::Write || request.operation == WorkRequest::WriteWithImmediate;
  counted.immediates += request.operation == WorkRequest::WriteWithImmediate;
  counted.reads += request.operation == WorkRequest::Read;
  counted.atomics += atomic;
  counted.passed += posted.age < executed;
  executed = std::max(executed, posted.age);
  Completion done;
  done.bytes = request.bytes;
  if (consumes) {
    done.id = peer->receives.front().id;
    done.immediate = request.operation == WorkRequest::WriteWithImmediate ? request.immediate : 0;
    peer->receives.pop_front();
    complete(*peer, done, false);
    if (pair.state == State::Error) // that queue was ours, and has overrun
      return Step::Failed;
  }
  done.id = request.id;
  done.immediate = 0;
  pair.sends.pop_front();
  pair.unanswered = pair.notReady = 0;
  complete(pair, done, true);
  return pair.state == State::Error ? Step::Failed : Step::Done;
}

FabricFigures Network::figures() {
  std::lock_guard<std::mutex> lock(mutex);
  counted.regions = 0;
  for (auto &[place, node] : nodes)
    counted.regions += node->regions.size();
  return counted;
}

bool Network::registered(int host, const void *memory) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[place, node] : nodes)
    for (auto &[key, region] : node->regions)
      if (place.first == host && memory >= region.memory && memory < region.memory + region.bytes)
        return true;
  return false;
}

void Network::failPair(Node &node, int which) {
  for (auto &[number, pair] : node.pairs)
    if (pair->state == State::ReadyToSend && which-- == 0)
      return fail(*pair);
}

void Network::failQueuePair(int host, int rail, int which) {
  std::lock_guard<std::mutex> lock(mutex);
  failPair(node(host, rail), which);
}

void Network::remove(Node &gone) {
  gone.removed = true;
  gone.event = "device fatal event";
  ++gone.events;
  for (auto &[number, pair] : gone.pairs)
    fail(*pair);
}

void Network::removeDevice(int host, int rail) {
  std::lock_guard<std::mutex> lock(mutex);
  remove(node(host, rail));
}

void Network::call() {
  ++counted.calls;
  for (; nextFault < settings.faults.size() && settings.faults[nextFault].after <= counted.calls; ++nextFault) {
    const PlannedFault &fault = settings.faults[nextFault];
    Node &at = node(fault.host, fault.rail);
    if (fault.what == PlannedFault::QueuePairFails)
      failPair(at, fault.which);
    else if (fault.what == PlannedFault::DeviceRemoved)
      remove(at);
    else
      at.cut = true;
  }
}

void Network::cutLink(int host, int rail) {
  std::lock_guard<std::mutex> lock(mutex);
  node(host, rail).cut = true;
}

void Network::overrun(int host, int rail) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Completions *queue : node(host, rail).queues)
    breakQueue(*queue);
}

void Network::deafen(int host, int rail, Seconds duration) {
  std::lock_guard<std::mutex> lock(mutex);
  node(host, rail).deafUntil = std::chrono::steady_clock::now() + std::chrono::duration_cast<Time::duration>(duration);
}

} // namespace braid::runtime::verbs
