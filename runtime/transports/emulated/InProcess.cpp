//===- InProcess.cpp - pointers in queues -----------------------------------------------------------------------===//
#include "transports/emulated/InProcess.h"
#include "core/Transports.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sched.h>
#include <unistd.h>

namespace braid::runtime {

namespace {

/// Messages from one rank to another on one lane.
struct Queue {
  std::vector<Message> messages; ///< from `first` on
  size_t first = 0;
  uint64_t accepted = 0;
};

constexpr int allLanes = 4096; ///< of a communicator

/// All queues of one receiver.
struct Mailbox {
  std::mutex mutex;
  std::vector<Queue> queues; ///< source * lanes + lane
};

struct Office {
  Office(int ranks, int lanes, bool data) : lanes(lanes), data(data), boxes(size_t(ranks)), left(size_t(ranks)) {
    for (Mailbox &box : boxes)
      box.queues.resize(size_t(ranks) * size_t(lanes));
  }
  const int lanes;
  const bool data;
  std::vector<Mailbox> boxes;          ///< of each rank
  std::vector<std::atomic<bool>> left; ///< in good order
  std::mutex mutex;
  Fault broken; ///< by its peer
};

class InProcess : public Transport {
public:
  InProcess(std::shared_ptr<Office> office, int rank) : office(std::move(office)), rank(rank) {}
  ~InProcess() override { leave(); }

  const char *name() const override { return office->data ? "in-process" : "sizes"; }
  bool carriesData() const override { return office->data; }
  void *allocate(size_t bytes) override { return std::malloc(bytes ? bytes : 1); }
  void release(void *memory) override { std::free(memory); }

  bool offer(int peer, int lane, const void *data, size_t bytes, uint16_t note) override {
    Mailbox &box = office->boxes[size_t(peer)];
    std::lock_guard<std::mutex> lock(box.mutex);
    queue(box, rank, lane).messages.push_back({data, bytes, note});
    ++counted.messages;
    counted.bytes += bytes;
    return true;
  }
  uint64_t accepted(int peer, int lane) override {
    Mailbox &box = office->boxes[size_t(peer)];
    std::lock_guard<std::mutex> lock(box.mutex);
    return queue(box, rank, lane).accepted;
  }
  bool peek(int peer, int lane, Message &message) override {
    Mailbox &box = office->boxes[size_t(rank)];
    std::lock_guard<std::mutex> lock(box.mutex);
    Queue &from = queue(box, peer, lane);
    if (from.first == from.messages.size())
      return false;
    message = from.messages[from.first];
    return true;
  }
  void accept(int peer, int lane) override {
    Mailbox &box = office->boxes[size_t(rank)];
    std::lock_guard<std::mutex> lock(box.mutex);
    Queue &from = queue(box, peer, lane);
    if (++from.first == from.messages.size()) {
      from.messages.clear();
      from.first = 0;
    }
    ++from.accepted;
  }

  bool left(int peer, int lane) override {
    Message message;
    return office->left[size_t(peer)].load(std::memory_order_acquire) && !peek(peer, lane, message);
  }
  void leave() override { office->left[size_t(rank)].store(true, std::memory_order_release); }

  void progress() override {}
  void idle(unsigned) override { sched_yield(); }
  Fault fault() override {
    std::lock_guard<std::mutex> lock(office->mutex);
    return office->broken.kind != Fault::None && office->broken.peer != rank ? office->broken : Fault();
  }
  void abort(const std::string &why) override {
    std::lock_guard<std::mutex> lock(office->mutex);
    if (!office->broken)
      office->broken = {Fault::Aborted, rank, why};
  }
  TransportCounters counters() const override { return counted; }

private:
  Queue &queue(Mailbox &box, int source, int lane) {
    return box.queues[size_t(source) * size_t(office->lanes) + size_t(lane)];
  }

  std::shared_ptr<Office> office;
  const int rank;
  TransportCounters counted;
};

} // namespace

std::vector<std::unique_ptr<Transport>> inProcessTransports(int ranks, int lanes) {
  auto office = std::make_shared<Office>(ranks, lanes, /*data=*/true);
  std::vector<std::unique_ptr<Transport>> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(std::make_unique<InProcess>(office, rank));
  return all;
}

Outcome makeInProcessTransport(const TransportContext &context, bool data, std::unique_ptr<Transport> &transport) {
  // The first rank makes the office and tells the others its number; they meet again once all have a part in it.
  static std::mutex mutex;
  static std::map<uint64_t, std::shared_ptr<Office>> offices; // those that are being opened
  static uint64_t opened = 0;
  std::shared_ptr<Office> office;
  std::string mine;
  uint64_t number = 0;
  if (context.me == 0) {
    office = std::make_shared<Office>(context.size(), allLanes, data);
    std::lock_guard<std::mutex> lock(mutex);
    offices[number = opened++] = office;
    mine = std::to_string(getpid()) + " " + std::to_string(number);
  }
  std::vector<std::string> all;
  Outcome met = context.exchange.allgather(context.key + "/in-process", context.members, mine, context.deadline, all);
  Outcome mineFound;
  if (met && context.me != 0) {
    unsigned long long process = 0, theirs = 0;
    std::sscanf(all[0].c_str(), "%llu %llu", &process, &theirs);
    std::lock_guard<std::mutex> lock(mutex);
    auto found = offices.find(theirs);
    if (process != static_cast<unsigned long long>(getpid()) || found == offices.end())
      mineFound = {BRAID_INVALID, "transport 'in-process': expected all ranks in one process, got several"};
    else
      office = found->second;
  }
  if (met)
    met = context.exchange.agree(context.key + "/in-process-open", context.members, mineFound, context.deadline);
  if (context.me == 0) {
    std::lock_guard<std::mutex> lock(mutex);
    offices.erase(number);
  }
  if (met)
    transport = std::make_unique<InProcess>(std::move(office), context.me);
  return met;
}

} // namespace braid::runtime
