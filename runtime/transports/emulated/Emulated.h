//===- Emulated.h - a transport whose messages take the time of a fabric ----------------------------------------===//
//
// Wraps another transport, which moves the bytes at once. What peek shows is delayed: each message is registered with the
// emulation when it is offered, and shown when the emulation has delivered it. Knows neither collectives nor prices; the draws
// of a message are functions of (seed, job, step, operation, node or link, message number).
//
//   job                latencies of each class of links, times a factor; the uplinks to which flows are hashed
//   operation          the same, of one operation; bytes / bandwidth of its messages, times a factor
//   flow               bytes / bandwidth of what goes from one device to another, times a factor, for an operation or a job
//   node and operation a spike or a pause delays the first message of each of the node's ranks in that operation
//   message            the bulk: excess over the latency
//
// Computation is a duration on the rank's clock (Communicator::sleep), times two draws of the device: its job's, and its step's.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_EMULATED_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_EMULATED_H

#include "transports/Clock.h"
#include "transports/Transport.h"
#include "transports/emulated/Emulation.h"
#include <deque>
#include <map>
#include <unordered_map>

namespace braid::runtime {

/// A rank's place in an emulation, which its communicators share. When the last one is gone, the rank no longer holds time up.
struct EmulatedSeat {
  EmulatedSeat(std::shared_ptr<Emulation> emulation, int rank) : emulation(std::move(emulation)), rank(rank) {
    setJob(0);
  }
  ~EmulatedSeat() { emulation->gone(rank); }
  EmulatedSeat(const EmulatedSeat &) = delete;
  const std::shared_ptr<Emulation> emulation;
  const int rank;
  int communicators = 0;     ///< that this rank has been in, beside the first
  uint64_t job = 0;          ///< whose draws the messages have
  double factor[2] = {1, 1}; ///< of that job on the latencies of each class
  void setJob(uint64_t job);
  /// On what the rank computes in a step of that job.
  double computeFactor(uint64_t step);

private:
  struct {
    uint64_t job = ~0ull, step = ~0ull;
    double factor = 1;
  } drawn; ///< last: kernels of one step ask for the same
};

class EmulatedTransport : public Transport, private Clock {
public:
  /// The inner transport connects `members`, ranks of the emulation, which agree on the number of their communicator, its own in
  /// the job, and on the one that its draws have, its own among those of each member.
  EmulatedTransport(std::shared_ptr<EmulatedSeat> seat, std::unique_ptr<Transport> inner, std::vector<int> members,
                    int communicator, int place);
  /// All ranks, the first communicator.
  EmulatedTransport(std::shared_ptr<Emulation> emulation, std::unique_ptr<Transport> inner, int rank);

  ~EmulatedTransport() override;

  /// The job whose draws the next messages have.
  void setJob(uint64_t job) override { seat->setJob(job); }
  bool carriesData() const override { return inner->carriesData(); }
  /// "emulated cluster h100-roce-4x2: wall clock, 1 us here is 7.69 ms"
  std::string description() const;

  const char *name() const override { return "emulated"; }
  void *allocate(size_t bytes) override { return inner->allocate(bytes); }
  void release(void *memory) override { inner->release(memory); }
  bool offer(int peer, int lane, const void *data, size_t bytes, uint16_t note = 0) override;
  void join(int peer, int lane) override { at(peer, lane).joins = true; }
  uint64_t accepted(int peer, int lane) override;
  bool peek(int peer, int lane, Message &message) override;
  void accept(int peer, int lane) override;
  bool left(int peer, int lane) override;
  void leave() override;
  void giveUp(const std::string &why) override;
  void progress() override;
  void idle(unsigned spins) override;
  bool park(bool prepare) override;
  Fault fault() override;
  void abort(const std::string &why) override { inner->abort(why); }
  bool reachable(const void *data, size_t bytes) const override { return inner->reachable(data, bytes); }
  TransportCounters counters() const override { return inner->counters(); }
  Clock *clock() override { return this; }
  std::vector<int> hosts() const override;
  void mark(int peer, int lane, const MessagePlace &place) override;

private:
  // Clock
  bool isVirtual() const override { return emulation->options.time == EmulatedTime::Virtual; }
  double now() override { return emulation->now(); }
  void sleepUntil(double time) override;
  void wakeAt(double time) override { emulation->wakeAt(rank, time); }
  double launched() override { return emulation->now() + emulation->profile.launch[size_t(rank)]; }
  double reduced(size_t bytes) override { return emulation->reduced(rank, double(bytes)); }
  double computeFactor(uint64_t step) override { return seat->computeFactor(step); }
  double slowdown(bool inside, bool between) override { return emulation->profile.slowdownOf(inside, between); }
  void align() override;
  void stepOut() override { emulation->leave(rank); }
  void stepIn() override { emulation->enter(rank); }

  /// An operation in which this rank's first message of each class may still be to come.
  struct Recent {
    uint64_t job = ~0ull, step = ~0ull, operation = ~0ull;
    bool sent[2] = {false, false};
  };
  struct PeerLane {
    uint64_t offered = 0, taken = 0;
    MessagePlace place; ///< of the messages to the peer
    bool joins = false; ///< the next one is not the last of its message
    int pieces = 0;     ///< offered, of a message that is not whole yet
    double piecesBytes = 0;
    LaneState *out = nullptr, *in = nullptr;
  };
  struct Waiting {
    const void *data;
    size_t bytes;
    uint16_t note;
    std::string copy; ///< of data that the inner transport would copy too
  };
  void keep(int peer, int lane, const void *data, size_t bytes, uint16_t note);

  /// What the fabric's noise makes of the next message.
  struct Noisy {
    double excess;     ///< later than by the links alone, seconds
    double transfer;   ///< factor on its bytes / bandwidth
    double latency[2]; ///< factor on the latency of each class of links
  };
  Noisy noiseOf(int target, PeerLane &here);
  Recent &recent(uint64_t step, uint64_t operation);
  PeerLane &at(int peer, int lane) { return peers[uint64_t(peer) << 32 | uint32_t(lane)]; }
  LaneState *outgoing(int peer, int lane, PeerLane &here);
  bool pump();
  double pumpAndRest();

  std::shared_ptr<EmulatedSeat> seat;
  Emulation *const emulation;
  std::unique_ptr<Transport> inner;
  const std::vector<int> members; ///< peer -> rank of the emulation
  const int rank;                 ///< of the emulation
  const int communicator, place;
  std::unordered_map<uint64_t, PeerLane> peers;
  std::unordered_map<uint32_t, uint32_t> sent; ///< messages at the place of a lane, by its number, to all peers
  std::map<std::pair<int, int>, std::deque<Waiting>>
      full; ///< (peer, lane) whose inner queue was full: what waits for it
  static constexpr size_t remembered = 32;
  Recent operations[remembered];
  size_t oldest = 0;
  Fault own;
  Emulation::Pump pumped;
  uint32_t watched = 0; ///< of park
};

} // namespace braid::runtime

#endif
