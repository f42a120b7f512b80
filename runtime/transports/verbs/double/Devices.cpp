//===- Devices.cpp - the double's side of the seam -------------------------------------------------------------------===//
#include "transports/verbs/double/State.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::runtime::verbs {
namespace {

using Shared = std::shared_ptr<Network>;

class DoubleRegion : public MemoryRegion {
public:
  DoubleRegion(Shared network, Node &node, uint32_t key) : network(std::move(network)), node(node), key(key) {}
  ~DoubleRegion() override {
    std::lock_guard<std::mutex> lock(network->mutex);
    if (auto found = node.regions.find(key); found != node.regions.end() && found->second.mapped)
      munmap(found->second.mapped, found->second.mappedBytes);
    node.regions.erase(key);
  }
  uint32_t localKey() const override { return key; }
  uint32_t remoteKey() const override { return key; }

private:
  Shared network;
  Node &node;
  uint32_t key;
};

class DoubleCompletions : public CompletionQueue {
public:
  DoubleCompletions(Shared network, Node &node, size_t capacity, int event) : network(std::move(network)) {
    queue.node = &node;
    queue.capacity = capacity;
    queue.event = event;
    node.queues.push_back(&queue);
  }
  ~DoubleCompletions() override {
    std::lock_guard<std::mutex> lock(network->mutex);
    auto &all = queue.node->queues;
    all.erase(std::remove(all.begin(), all.end(), &queue), all.end());
    close(queue.event);
  }
  int poll(Completion *completions, int count) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    network->run();
    if (queue.broken)
      return -EIO;
    int got = 0;
    for (; got < count && !queue.entries.empty(); ++got) {
      const Completions::Entry &entry = queue.entries.front();
      completions[got] = entry.completion;
      auto pair = queue.node->pairs.find(entry.completion.queuePair);
      if (pair != queue.node->pairs.end()) // its place is free now
        --(entry.sent ? pair->second->sendsTaken : pair->second->receivesTaken);
      queue.entries.pop_front();
    }
    return got;
  }
  int arm() override {
    std::lock_guard<std::mutex> lock(network->mutex);
    queue.armed = true;
    return 0;
  }
  int descriptor() const override { return queue.event; }
  void acknowledge() override {
    uint64_t count;
    while (read(queue.event, &count, sizeof count) > 0)
      ;
  }

  Completions queue;

private:
  Shared network;
};

class DoublePair : public QueuePair {
public:
  DoublePair(Shared network, Node &node, uint64_t domain, Completions &completions, const QueuePairSizes &sizes)
      : network(std::move(network)) {
    pair.node = &node;
    pair.domain = domain;
    pair.completions = &completions;
    pair.sizes = sizes;
    pair.number = ++this->network->lastNumber;
    pair.sizes.inlineBytes = std::min(sizes.inlineBytes, this->network->settings.inlineBytes);
    node.pairs[pair.number] = &pair;
  }
  ~DoublePair() override {
    std::lock_guard<std::mutex> lock(network->mutex);
    network->forget(pair);
  }
  uint32_t number() const override { return pair.number; }
  uint32_t inlineBytes() const override { return pair.sizes.inlineBytes; }

  int modify(const QueuePairAttributes &to, unsigned mask) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    network->call();
    if (pair.node->removed)
      return EIO;
    if (int error = checkTransition(pair.state, to, mask, *pair.node))
      return error;
    QueuePairAttributes &own = pair.attributes;
    own.access = mask & SetAccess ? to.access : own.access;
    if (mask & SetAddress) {
      own.address = to.address;
      own.mtu = to.mtu;
      own.peer = to.peer;
      own.receivePsn = to.receivePsn;
    }
    if (mask & SetTimeout) {
      own.timeout = to.timeout;
      own.retries = to.retries;
      own.rnrRetries = to.rnrRetries;
      own.sendPsn = to.sendPsn;
    }
    pair.state = to.state;
    if (to.state == State::Error)
      network->fail(pair);
    if (to.state == State::Reset) {
      pair.sends.clear();
      pair.receives.clear();
      pair.sendsTaken = pair.receivesTaken = 0;
    }
    return 0;
  }
  int send(const WorkRequest &request) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    network->call();
    bool sends = pair.state == State::ReadyToSend || pair.state == State::Error || !checks(CheckStates);
    bool inlines = request.operation != WorkRequest::Read && request.operation != WorkRequest::FetchAdd &&
                   (request.bytes <= pair.sizes.inlineBytes || !checks(CheckLengths));
    if (request.operation == WorkRequest::WriteWithImmediate && network->settings.iwarp)
      return EINVAL;
    if (!sends || (request.inlined && !inlines) || (request.operation == WorkRequest::FetchAdd && request.bytes != 8))
      return EINVAL;
    if (pair.sendsTaken >= pair.sizes.sends && checks(CheckQueues))
      return ENOMEM;
    network->post(pair, request);
    network->run();
    return 0;
  }
  int receive(uint64_t id, void *local, uint32_t bytes, uint32_t key) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    network->call();
    if (pair.state == State::Reset && checks(CheckStates))
      return EINVAL;
    if (pair.receivesTaken >= pair.sizes.receives && checks(CheckQueues))
      return ENOMEM;
    pair.receives.push_back({id, local, bytes, key});
    ++pair.receivesTaken;
    if (pair.state == State::Error)
      network->fail(pair);
    return 0;
  }

private:
  bool checks(Check check) const { return network->settings.checks & check; }
  Shared network;
  Pair pair;
};

class DoubleDevice : public Device {
public:
  DoubleDevice(Shared network, Node &node)
      : network(std::move(network)), node(node), title("double" + std::to_string(node.rail)),
        domain(++this->network->lastDomain) {}

  const std::string &name() const override { return title; }
  int limits(Limits &limits) override {
    limits = {1, network->settings.completions, network->settings.workRequests, 16, 16};
    return 0;
  }
  int port(int number, Port &port) override {
    if (number != 1)
      return EINVAL;
    std::lock_guard<std::mutex> lock(network->mutex);
    port = {1, !node.removed && !node.cut, true, network->settings.iwarp, 0, 4096, int(node.gids.size()) + 2};
    return 0;
  }
  int gid(int port, int index, Gid &gid) override {
    if (port != 1 || index < 0 || index >= int(node.gids.size()) + 2)
      return EINVAL;
    gid = {};
    gid.index = index;
    if (index < int(node.gids.size()))
      gid = node.gids[size_t(index)];
    return 0;
  }
  std::unique_ptr<MemoryRegion> registerMemory(void *memory, size_t bytes, unsigned access, int &error) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    Region region{static_cast<char *>(memory), bytes, access, domain};
    if (network->settings.peerMemory)
      region.seen = static_cast<char *>(network->settings.peerMemory(memory));
    return add(region, error);
  }
  std::unique_ptr<MemoryRegion> registerDmaBuf(int descriptor, uint64_t offset, size_t bytes, uint64_t address,
                                               unsigned access, int &error) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    struct stat file = {};
    off_t begin = lseek(descriptor, 0, SEEK_CUR);
    error = !network->settings.dmaBufs                                                                    ? EOPNOTSUPP
            : begin < 0 || fstat(descriptor, &file) != 0                                                  ? EBADF
            : offset >= uint64_t(file.st_size - begin) || bytes > uint64_t(file.st_size - begin) - offset ? EINVAL
                                                                                                          : 0;
    if (error)
      return nullptr;
    uint64_t from = uint64_t(begin) + offset, first = from / page * page;
    Region region{reinterpret_cast<char *>(address), bytes, access, domain};
    region.mappedBytes = size_t(from - first) + bytes;
    region.mapped = mmap(nullptr, region.mappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(first));
    if (region.mapped == MAP_FAILED)
      return error = errno, nullptr;
    region.seen = static_cast<char *>(region.mapped) + (from - first);
    std::unique_ptr<MemoryRegion> made = add(region, error);
    if (!made)
      munmap(region.mapped, region.mappedBytes);
    return made;
  }
  bool peerMemory() const override { return bool(network->settings.peerMemory); }
  std::unique_ptr<CompletionQueue> makeCompletionQueue(int capacity, int &error) override {
    int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    std::lock_guard<std::mutex> lock(network->mutex);
    error = event < 0                                                  ? errno
            : capacity < 1 || capacity > network->settings.completions ? EINVAL
            : node.removed                                             ? EIO
                                                                       : 0;
    if (!error)
      return std::make_unique<DoubleCompletions>(network, node, size_t(capacity), event);
    if (event >= 0)
      close(event);
    return nullptr;
  }
  std::unique_ptr<QueuePair> makeQueuePair(CompletionQueue &completions, const QueuePairSizes &sizes,
                                           int &error) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    int most = network->settings.workRequests;
    error = node.removed ? EIO : sizes.sends > most || sizes.receives > most ? EINVAL : 0;
    if (error)
      return nullptr;
    return std::make_unique<DoublePair>(network, node, domain, static_cast<DoubleCompletions &>(completions).queue,
                                        sizes);
  }
  bool broken(std::string &what) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    if (events == node.events)
      return false;
    what = node.event;
    events = node.events;
    return true;
  }

private:
  std::unique_ptr<MemoryRegion> add(const Region &region, int &error) {
    network->call();
    bool grants = !(region.access & (RemoteWrite | RemoteAtomic)) || region.access & LocalWrite;
    error = node.removed ? EIO : grants ? 0 : EINVAL;
    if (!error && network->settings.refused)
      error = network->settings.refused(node.host, node.rail, region.bytes, region.mapped);
    if (error)
      return nullptr;
    uint32_t key = ++network->lastKey;
    node.regions[key] = region;
    ++network->counted.registrations;
    return std::make_unique<DoubleRegion>(network, node, key);
  }

  Shared network;
  Node &node;
  std::string title;
  uint64_t domain;
  int events = 0; ///< seen
};

class DoubleProvider : public Provider {
public:
  DoubleProvider(Shared network, int host) : network(std::move(network)), host(host) {}
  Outcome devices(std::vector<std::string> &names) override {
    names.clear();
    for (int rail = 0; rail < network->settings.rails; ++rail)
      names.push_back("double" + std::to_string(rail));
    return {};
  }
  Outcome open(const std::string &name, std::unique_ptr<Device> &device) override {
    std::vector<std::string> names;
    Outcome listed = devices(names);
    auto found = std::find(names.begin(), names.end(), name);
    if (!listed || found == names.end())
      return {BRAID_INVALID, "device " + name + ": expected double0 to double" + std::to_string(names.size() - 1)};
    std::lock_guard<std::mutex> lock(network->mutex);
    device = std::make_unique<DoubleDevice>(network, network->node(host, int(found - names.begin())));
    return {};
  }

  Outcome connectionManager(std::unique_ptr<ConnectionManager> &manager) override {
    return network->connectionManager(host, manager);
  }

private:
  Shared network;
  int host;
};

} // namespace

std::unique_ptr<Provider> Network::provider(int host) {
  return std::make_unique<DoubleProvider>(shared_from_this(), host);
}

} // namespace braid::runtime::verbs
