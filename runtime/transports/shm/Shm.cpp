//===- Shm.cpp - the shared-memory transport ---------------------------------------------------------------------===//
//
// Ranks of one host. Three ways for a message, by size and place (Layout.h has the queues):
//
//   up to 40 bytes                  inside the slot's cache line
//   up to 4 KiB, or foreign memory  copied to a staging buffer in the sender's segment; the sender's own buffer is free at
//                                   once. The one that was read last is used next, so that its lines are still in a cache
//   larger, in braid_alloc memory   read by the receiver where it lies; the sender's buffer is free when it was accepted
//
// Waiting: some pauses, then some yields, since a peer may need this processor, then a sleep on the door bell (a futex in
// this rank's control block), which is rung by whoever changes something for a sleeper. Deaths of peers are seen by their
// pidfds, all in one epoll.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Transports.h"
#include "transports/shm/Segment.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <linux/futex.h>
#include <map>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace braid::runtime {

namespace {

using namespace shm;

constexpr size_t eagerBytes = 4096;
constexpr size_t bytesPerPiece = 256 << 10; ///< two ranks' pieces, operands and results fit in a core's own cache
constexpr size_t mostStaged = 512 << 10;    ///< bytes on their way in staging buffers of one (peer, lane)
constexpr unsigned manyPauses = 100,
                   fewPauses = 10;           ///< before a rank yields; few: there are more ranks than processors
constexpr unsigned yields = 200;             ///< before it sleeps
constexpr long sleepNanoseconds = 2'000'000; ///< then look for dead peers

inline void pauseProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// One direction of one (peer, lane), this rank's side.
struct SendState {
  uint64_t next = 0;         ///< messages offered
  uint64_t lastUncopied = 0; ///< 1 + the last message that lies in the caller's buffer
  uint64_t counted = 0;      ///< what accepted() said last
  uint64_t reclaimed = 0;    ///< messages whose staging buffers are back
  size_t staged = 0;         ///< bytes of the staging buffers in use
  struct Staging {
    void *memory = nullptr;
    size_t bytes = 0;
  } staging[slots];
  void *small[slots] = {}; ///< buffers of eagerBytes, of the slots for good
};

struct LaneState {
  std::vector<SendState> send;
  std::vector<uint64_t> received; ///< messages accepted, by sender
};

class ShmTransport : public Transport {
public:
  ShmTransport(const TransportContext &context) : me(context.me), ranks(context.size()), lane(shm::lanes) {}
  ~ShmTransport() override {
    leave();
    for (int fd : pidfds)
      if (fd >= 0)
        ::close(fd);
    if (epoll >= 0)
      ::close(epoll);
  }

  Outcome connect(const TransportContext &context) {
    // A rank that gets no memory still takes part in the exchange, so that the others learn of it at once.
    Outcome own = Segment::create(ranks, segment);
    std::vector<std::string> addresses;
    Outcome done = context.exchange.allgather(context.key + "/shm", context.members, own ? segment->address() : "",
                                              context.deadline, addresses);
    if (own && done)
      own = meet(context, addresses);
    // Nobody leaves before all have attached: a descriptor in /proc is gone with its process.
    return done  ? context.exchange.agree(context.key + "/shm/attached", context.members, own, context.deadline)
           : own ? done
                 : own;
  }

  const char *name() const override { return "shm"; }

  size_t pieceBytes() const override { return bytesPerPiece; }
  void *allocate(size_t bytes) override { return segment->allocate(bytes); }
  void release(void *memory) override { segment->release(memory); }
  bool reachable(const void *data, size_t bytes) const override {
    uint32_t extent;
    uint64_t offset;
    return bytes == 0 || segment->find(data, bytes, extent, offset);
  }

  bool offer(int peer, int laneIndex, const void *data, size_t bytes, uint16_t note) override {
    SendState &state = stateOf(laneIndex).send[peer];
    Queue &queue = peers[peer]->queue(laneIndex, me);
    uint64_t taken = queue.accepted.load(std::memory_order_acquire);
    if (state.next - taken >= uint64_t(slots))
      return false;
    if (state.staged)
      reclaim(state, taken);
    Slot &slot = queue.slot[state.next % slots];
    if (bytes <= Slot::inlineBytes) {
      slot.extent = Slot::inlined;
      if (bytes)
        std::memcpy(slot.data, data, bytes);
    } else {
      uint64_t offset;
      if (bytes > eagerBytes && segment->find(data, bytes, slot.extent, offset)) {
        state.lastUncopied = state.next + 1;
      } else {
        void *memory = stage(state, bytes);
        if (!memory)
          return false;
        std::memcpy(memory, data, bytes);
        segment->find(memory, bytes, slot.extent, offset);
        ++count.copies;
        count.bytesCopied += bytes;
      }
      slot.offset = offset;
    }
    slot.bytes = bytes;
    slot.note = note;
    ++count.messages;
    count.bytes += bytes;
    // An exchange, not a store: it must be seen before we look whether the peer sleeps.
    slot.sequence.exchange(++state.next, std::memory_order_seq_cst);
    ring(*peers[peer]);
    return true;
  }

  uint64_t accepted(int peer, int laneIndex) override {
    SendState &state = stateOf(laneIndex).send[peer];
    if (state.counted == state.next)
      return state.counted;
    uint64_t taken = peers[peer]->queue(laneIndex, me).accepted.load(std::memory_order_acquire);
    if (taken >= state.lastUncopied)
      taken = state.next; // the others were copied
    if (taken > state.counted)
      state.counted = taken;
    return state.counted;
  }

  bool names() const override { return true; }
  void hold(int peer, int laneIndex) override {
    SendState &state = stateOf(laneIndex).send[peer];
    state.lastUncopied = state.next;
  }

  bool peek(int peer, int laneIndex, Message &message) override {
    uint64_t next = stateOf(laneIndex).received[peer];
    Slot &slot = segment->memory().queue(laneIndex, peer).slot[next % slots];
    if (slot.sequence.load(std::memory_order_acquire) != next + 1)
      return false;
    message.bytes = slot.bytes;
    message.note = slot.note;
    if (slot.extent == Slot::inlined) {
      message.data = slot.data;
      return true;
    }
    char *extent = peers[peer]->extent(slot.extent);
    if (!extent) {
      broken = {Fault::System, peer, std::string("cannot map memory of the peer: ") + std::strerror(errno)};
      return false;
    }
    message.data = extent + slot.offset;
    return true;
  }

  void accept(int peer, int laneIndex) override {
    Queue &queue = segment->memory().queue(laneIndex, peer);
    queue.accepted.exchange(++stateOf(laneIndex).received[peer], std::memory_order_seq_cst);
    ring(*peers[peer]);
  }

  bool left(int peer, int laneIndex) override {
    Message message;
    return peers[peer]->control().closed.load(std::memory_order_acquire) && !peek(peer, laneIndex, message);
  }

  void leave() override {
    if (segment && !gaveUp) // after a failure there is no good order to leave in
      segment->memory().control().closed.store(1, std::memory_order_release);
  }

  void giveUp(const std::string &why) override {
    abort(why);
    gaveUp = true;
  }

  void progress() override {}

  void idle(unsigned spins) override {
    if (spins == 0) // how did the last wait end?
      pauses = lastSpins >= pauses ? std::max(pauses / 2, fewPauses) : std::min(pauses + 4, manyPauses);
    lastSpins = spins;
    if (spins < pauses) {
      if (armed)
        disarm();
      return pauseProcessor();
    }
    if (spins < pauses + yields) {
      sched_yield();
      return;
    }
    std::atomic<uint32_t> &bell = segment->memory().control().sleeping;
    if (!armed) { // the caller looks once more before we sleep
      bell.store(1, std::memory_order_seq_cst);
      armed = true;
      return;
    }
    timespec limit = {0, sleepNanoseconds};
    ++count.systemCalls;
    syscall(SYS_futex, &bell, FUTEX_WAIT, 1, &limit, nullptr, 0);
    disarm();
  }

  bool park(bool prepare) override {
    std::atomic<uint32_t> &bell = segment->memory().control().sleeping;
    if (prepare) {
      bell.store(1, std::memory_order_seq_cst);
    } else {
      timespec limit = {0, sleepNanoseconds};
      syscall(SYS_futex, &bell, FUTEX_WAIT, 1, &limit, nullptr, 0);
    }
    return true;
  }

  Fault fault() override {
    if (broken)
      return broken;
    if (uint32_t by = segment->memory().control().aborted.load(std::memory_order_acquire)) {
      int peer = int(by) - 1;
      const char *why = peers[peer]->control().why;
      return broken = {Fault::Aborted, peer, std::string(why, strnlen(why, sizeof(Control::why)))};
    }
    epoll_event event;
    ++count.systemCalls;
    while (epoll_wait(epoll, &event, 1, 0) == 1) {
      int peer = int(event.data.u32);
      if (!peers[peer]->control().closed.load(std::memory_order_acquire))
        return broken = {Fault::PeerDied, peer, "its process ended"};
      epoll_ctl(epoll, EPOLL_CTL_DEL, pidfds[peer], nullptr); // it had left the communicator
    }
    return broken;
  }

  void abort(const std::string &why) override {
    Control &control = segment->memory().control();
    std::strncpy(control.why, why.c_str(), sizeof control.why - 1);
    for (int peer = 0; peer < ranks; ++peer) {
      uint32_t none = 0;
      peers[peer]->control().aborted.compare_exchange_strong(none, uint32_t(me) + 1, std::memory_order_seq_cst);
      ring(*peers[peer]);
    }
  }

  TransportCounters counters() const override { return count; }

private:
  Outcome meet(const TransportContext &context, const std::vector<std::string> &addresses) {
    peers.resize(ranks);
    pidfds.assign(ranks, -1);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
      return systemOutcome("shared memory: epoll_create1");
    for (int peer = 0; peer < ranks; ++peer) {
      if (addresses[peer].empty()) // it tells why when all have met
        continue;
      int pid = 0;
      Outcome done = Segment::attach(addresses[peer], ranks, peers[peer], pid);
      if (done && pid != int(getpid()))
        done = watch(peer, pid);
      if (!done)
        return {done.status, "rank " + std::to_string(context.members[size_t(peer)]) + ": " + done.text};
    }
    return {};
  }

  LaneState &stateOf(int index) {
    LaneState &state = lane[size_t(index)];
    if (state.send.empty()) {
      state.send.resize(ranks);
      state.received.resize(ranks);
    }
    return state;
  }

  /// A buffer for a copy, for the next slot; null: not now.
  void *stage(SendState &state, size_t bytes) {
    void *&small = state.small[state.next % slots];
    if (bytes <= eagerBytes)
      return small ? small : small = roomFor(eagerBytes);
    size_t size = 2 * eagerBytes; // powers of two, so that others can use it again, and whole pages above
    while (size < bytes && size < bytesPerPiece)
      size *= 2;
    size = size < bytes ? roundUp(bytes, page) : size;
    if (state.staged && state.staged + size > mostStaged)
      return nullptr;
    std::vector<void *> &spare = unused[size];
    void *memory = spare.empty() ? roomFor(size) : spare.back();
    if (!spare.empty())
      spare.pop_back();
    if (memory) {
      state.staging[state.next % slots] = {memory, size};
      state.staged += size;
    }
    return memory;
  }

  void *roomFor(size_t bytes) {
    void *memory = segment->allocate(bytes);
    if (!memory)
      broken = {Fault::System, -1, "no shared memory for a copy of " + std::to_string(bytes) + " bytes"};
    return memory;
  }

  /// Takes back the buffers of messages that were accepted. A slot that was used again since has no older one's.
  void reclaim(SendState &state, uint64_t taken) {
    if (state.next > slots)
      state.reclaimed = std::max(state.reclaimed, state.next - slots);
    for (; state.reclaimed < taken; ++state.reclaimed) {
      SendState::Staging &staging = state.staging[state.reclaimed % slots];
      if (!staging.memory)
        continue;
      unused[staging.bytes].push_back(staging.memory);
      state.staged -= staging.bytes;
      staging = {};
    }
  }

  void ring(Mapping &peer) {
    std::atomic<uint32_t> &bell = peer.control().sleeping;
    if (bell.load(std::memory_order_seq_cst) == 0)
      return;
    if (bell.exchange(0, std::memory_order_seq_cst)) {
      ++count.systemCalls;
      syscall(SYS_futex, &bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
  }

  void disarm() {
    segment->memory().control().sleeping.store(0, std::memory_order_relaxed);
    armed = false;
  }

  Outcome watch(int peer, int pid) {
    pidfds[peer] = int(syscall(SYS_pidfd_open, pid, 0));
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u32 = uint32_t(peer);
    if (pidfds[peer] < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, pidfds[peer], &event) != 0)
      return errno == ESRCH ? Outcome(BRAID_PEER_DIED, "shared memory: process " + std::to_string(pid) + " has ended")
                            : systemOutcome("shared memory: cannot watch process " + std::to_string(pid));
    return {};
  }

  int me, ranks;
  unsigned pauses = manyPauses, lastSpins = 0;
  std::unique_ptr<Segment> segment;
  std::vector<std::shared_ptr<Mapping>> peers; ///< with this rank's own
  std::vector<LaneState> lane;
  std::map<size_t, std::vector<void *>> unused; ///< staging buffers, by size
  std::vector<int> pidfds;
  int epoll = -1;
  bool armed = false;
  bool gaveUp = false;
  Fault broken;
  TransportCounters count;
};

} // namespace

Outcome makeShmTransport(const TransportContext &context, std::unique_ptr<Transport> &transport) {
  auto made = std::make_unique<ShmTransport>(context);
  Outcome connected = made->connect(context);
  if (connected)
    transport = std::move(made);
  return connected;
}

} // namespace braid::runtime
