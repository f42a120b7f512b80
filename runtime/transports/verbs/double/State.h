//===- State.h - what devices of the double are made of ------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_DOUBLE_STATE_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_DOUBLE_STATE_H

#include "transports/verbs/ConnectionManager.h"
#include "transports/verbs/double/Fabric.h"
#include <deque>
#include <map>
#include <mutex>
#include <random>

namespace braid::runtime::verbs {

using Time = std::chrono::steady_clock::time_point;
struct Node;

struct Region {
  char *memory;
  size_t bytes;
  unsigned access;
  uint64_t domain;
  char *seen = nullptr; ///< where the processor sees it, of memory of a GPU
  void *mapped = nullptr;
  size_t mappedBytes = 0;
};

struct Completions {
  struct Entry {
    Completion completion;
    bool sent; ///< by a request of the send queue; else by a receive
  };
  Node *node = nullptr;
  size_t capacity = 0;
  std::deque<Entry> entries;
  bool armed = false, broken = false;
  int event = -1; ///< eventfd
};

struct Pair {
  struct Posted {
    WorkRequest request;
    std::vector<char> inlined;
    Time due;
    uint64_t age;
  };
  struct Receive {
    uint64_t id;
    void *local;
    uint32_t bytes, key;
  };
  Node *node = nullptr;
  uint64_t domain = 0;
  Completions *completions = nullptr;
  uint32_t number = 0;
  QueuePairSizes sizes;
  QueuePairAttributes attributes;
  State state = State::Reset;
  std::deque<Posted> sends;
  std::deque<Receive> receives;
  int sendsTaken = 0, receivesTaken = 0; ///< with completions that nobody has polled
  int unanswered = 0, notReady = 0;      ///< tries of the first request
  Time lastDue;
  bool busy = false;
};

/// A device, however often it is opened.
struct Node {
  int host = 0, rail = 0;
  bool removed = false, cut = false;
  int events = 0;    ///< of those that end it; each who has opened it is told
  std::string event; ///< the last
  Time deafUntil, freeAt;
  std::vector<Gid> gids;
  std::map<uint32_t, Region> regions;
  std::map<uint32_t, Pair *> pairs;
  std::vector<Completions *> queues;
};

/// All of a fabric, under its mutex.
class Network : public Fabric, public std::enable_shared_from_this<Network> {
public:
  explicit Network(const FabricSettings &settings) : settings(settings), random(settings.seed) {}

  std::unique_ptr<Provider> provider(int host) override;
  Outcome connectionManager(int host, std::unique_ptr<ConnectionManager> &manager); ///< Manager.cpp
  FabricFigures figures() override;
  bool registered(int host, const void *memory) override;
  void failQueuePair(int host, int rail, int which) override;
  void removeDevice(int host, int rail) override;
  void cutLink(int host, int rail) override;
  void overrun(int host, int rail) override;
  void deafen(int host, int rail, Seconds duration) override;

  // Under the mutex:
  Node &node(int host, int rail);
  Node *at(const std::string &address); ///< whose IP address that is, or null
  /// Executes what is due.
  void run();
  void post(Pair &pair, const WorkRequest &request);
  void fail(Pair &pair); ///< into the error state; all that it holds is flushed
  void complete(Pair &pair, const Completion &completion, bool sent);
  void breakQueue(Completions &queue);
  void forget(Pair &pair);
  /// Counts a call of a device; then what was planned for it goes wrong.
  void call();

  const FabricSettings settings;
  std::mutex mutex;
  uint32_t lastKey = 0x1000, lastNumber = 0x10;
  uint64_t lastDomain = 0;
  uint32_t lastPsn = 0x20;
  uint16_t lastPort = 1024;
  std::map<std::pair<std::string, uint16_t>, Connection *> listeners; ///< of rdma_cm, by address and port
  FabricFigures counted;

private:
  enum class Step { Done, Later, Failed };
  Step execute(Pair &pair, Time now);
  Step failed(Pair &pair, Status status);
  Step unanswered(Pair &pair, Time now);
  Step notReady(Pair &pair, Time now);
  Pair *target(Pair &pair);
  char *memory(Pair &pair, const void *at, uint32_t bytes, uint32_t key, unsigned access);
  bool checks(Check check) const { return settings.checks & check; }
  Seconds delay();
  void remove(Node &node);
  void failPair(Node &node, int which);

  size_t nextFault = 0; ///< of settings.faults
  std::mt19937_64 random;
  std::map<std::pair<int, int>, std::unique_ptr<Node>> nodes; ///< by (host, rail)
  std::map<std::array<uint8_t, 16>, Node *> byGid;            ///< of those that the network carries
  std::vector<Pair *> busy;                                   ///< with requests to execute
  uint64_t posted = 0, executed = 0;
};

/// Whether a queue pair may go this way with these attributes: 0 or EINVAL.
int checkTransition(State from, const QueuePairAttributes &to, unsigned mask, const Node &node);

} // namespace braid::runtime::verbs

#endif
