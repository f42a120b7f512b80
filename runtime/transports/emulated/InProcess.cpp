//===- InProcess.cpp - pointers in queues -----------------------------------------------------------------------===//
#include "transports/emulated/InProcess.h"
#include <cstdlib>
#include <deque>
#include <mutex>
#include <sched.h>

namespace braid::runtime {

namespace {

/// Messages from one rank to another on one lane.
struct Queue {
  std::deque<Message> messages;
  uint64_t accepted = 0;
};

/// All queues of one receiver.
struct Mailbox {
  std::mutex mutex;
  std::vector<Queue> queues; ///< source * lanes + lane
};

struct Office {
  Office(int ranks, int lanes) : lanes(lanes), boxes(size_t(ranks)) {
    for (Mailbox &box : boxes)
      box.queues.resize(size_t(ranks) * size_t(lanes));
  }
  const int lanes;
  std::vector<Mailbox> boxes; ///< of each rank
  std::mutex mutex;
  Fault broken; ///< by its peer
};

class InProcess : public Transport {
public:
  InProcess(std::shared_ptr<Office> office, int rank) : office(std::move(office)), rank(rank) {}

  const char *name() const override { return "in-process"; }
  void *allocate(size_t bytes) override { return std::malloc(bytes ? bytes : 1); }
  void release(void *memory) override { std::free(memory); }

  bool offer(int peer, int lane, const void *data, size_t bytes) override {
    Mailbox &box = office->boxes[size_t(peer)];
    std::lock_guard<std::mutex> lock(box.mutex);
    queue(box, rank, lane).messages.push_back({data, bytes});
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
    if (from.messages.empty())
      return false;
    message = from.messages.front();
    return true;
  }
  void accept(int peer, int lane) override {
    Mailbox &box = office->boxes[size_t(rank)];
    std::lock_guard<std::mutex> lock(box.mutex);
    Queue &from = queue(box, peer, lane);
    from.messages.pop_front();
    ++from.accepted;
  }

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
  auto office = std::make_shared<Office>(ranks, lanes);
  std::vector<std::unique_ptr<Transport>> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(std::make_unique<InProcess>(office, rank));
  return all;
}

} // namespace braid::runtime
