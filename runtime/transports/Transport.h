//===- Transport.h - how messages of step programs travel -------------------------------------------------------===//
//
// A transport connects the ranks of one communicator. Messages of a (sender, receiver, lane) arrive in the order in which they
// were offered. The receiver reads a message where it lies and says when it is done with it, so that a shared-memory transport
// needs no copy (the receiver reduces straight from the sender's buffer), and a wire transport lends its landing buffer.
//
//   sender:    offer(peer, lane, data, bytes) ... accepted(peer, lane) counts the messages that may be overwritten
//   receiver:  peek(peer, lane) -> where the bytes are, or nothing yet ... accept(peer, lane)
//
// Nothing here blocks. `progress` moves what can be moved; `idle` gives up the processor until something may have happened.
// A transport knows neither collectives nor algorithms. The emulated transport wraps another one and delays what peek shows.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_TRANSPORT_H
#define BRAID_RUNTIME_TRANSPORTS_TRANSPORT_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace braid::runtime {

class Clock; // Clock.h

/// Bytes of a message that has arrived.
struct Message {
  const void *data = nullptr;
  size_t bytes = 0;
  uint16_t note = 0; ///< what the sender has put on it; 0: nothing
};

/// Which messages those of a lane are, the same whatever lanes ranks have given to an operation, and on all of them: where an
/// emulated fabric draws their delays.
struct MessagePlace {
  uint64_t step = 0;
  uint64_t operation = 0; ///< which of the communicator's, and which of its executions in the step; below 2^52
  uint32_t number = 0;    ///< of the lane among those of all operations of the communicator
};

/// Why a transport cannot go on. `peer` is -1 if no single peer is to blame.
struct Fault {
  enum Kind { None, PeerDied, Aborted, System } kind = None;
  int peer = -1;
  std::string what;
  explicit operator bool() const { return kind != None; }
};

/// Counters since the communicator was made, for tests and reports.
struct TransportCounters {
  uint64_t messages = 0, bytes = 0, copies = 0, bytesCopied = 0, systemCalls = 0;
};

class Transport {
public:
  virtual ~Transport() = default;
  virtual const char *name() const = 0;

  /// Memory that peers can reach without a copy; null on failure.
  virtual void *allocate(size_t bytes) = 0;
  virtual void release(void *memory) = 0;
  /// Whether peers can read these bytes where they lie. If not, offer makes a copy (of any size).
  virtual bool reachable(const void *data, size_t bytes) const { return true; }

  /// The bytes will be offered, or messages will land there (`written`), until as many calls of detach: where peers reach memory only
  /// once it is registered, it is, meanwhile. Memory of allocate needs none. Empty, or what was refused.
  virtual std::string attach(const void *data, size_t bytes, bool written) { return {}; }
  /// The same of memory of a device, from and to which messages then go in place, but for those of at most `throughHost` bytes, which
  /// are offered from memory of the host, and may come in it. Empty and `how`, or why it has to go through the host.
  virtual std::string attachDevice(const void *data, size_t bytes, bool written, std::string &how) { return "no"; }
  virtual bool reachesDevices() const { return false; } ///< whether attachDevice may be asked
  virtual size_t throughHost() const { return 0; }
  virtual void detach(const void *data, size_t bytes, bool written) {}

  /// Messages of more than this many bytes go faster in pieces, of the same sizes on both sides; 0: they do not.
  virtual size_t pieceBytes() const { return 0; }

  /// Offers the next message of `lane` to `peer`. The bytes stay unchanged until `accepted` has counted it. `note` travels with
  /// it. False: the queue of the lane is full, try again after progress.
  virtual bool offer(int peer, int lane, const void *data, size_t bytes, uint16_t note = 0) = 0;
  /// The next message offered to `peer` on `lane` and the one after it are parts of one: a fabric carries them together.
  virtual void join(int peer, int lane) {}
  /// How many messages offered to `peer` on `lane` have been accepted.
  virtual uint64_t accepted(int peer, int lane) = 0;
  /// Whether a message may only name bytes, which peers read elsewhere: all of them are on one host, nothing is delayed, and
  /// hold keeps what is named.
  virtual bool names() const { return false; }
  /// What was offered last to `peer` on `lane` counts as accepted when the peer has accepted it, also if its bytes were copied.
  virtual void hold(int peer, int lane) {}
  /// The oldest message from `peer` on `lane` that was not accepted yet is wanted here, if it is of that size and has that note: it may
  /// land there, and peek then shows it there. Until then nobody else reads or writes these bytes.
  virtual bool lands() const { return false; } ///< whether land does anything
  virtual void land(int peer, int lane, void *to, size_t bytes, uint16_t note) {}
  /// The oldest message from `peer` on `lane` that was not accepted yet, if it is there.
  virtual bool peek(int peer, int lane, Message &message) = 0;
  virtual void accept(int peer, int lane) = 0;
  /// Whether `peer` has left in good order (its communicator is destroyed), so that on this lane nothing comes from it that
  /// peek does not show, and nothing that it has not accepted yet will be. False if that is not known yet.
  virtual bool left(int peer, int lane) { return false; }

  /// Whether lanes can be routed; if not, everything between two ranks takes one way.
  virtual bool hasPaths() const { return false; }
  /// Why an operation that asks for a path can't have it; empty: it can, or there is no network here on which it would matter.
  virtual std::string whyNoPath() const { return {}; }
  /// What `lane` carries to `peer` (`sends`), or from it, goes over the connection of this source port, or over the index-th one if
  /// that is 0; over the one that all share if the index is negative. Between messages only. Empty, or why not.
  virtual std::string route(int peer, int lane, bool sends, int port, int index) { return {}; }

  virtual void progress() = 0;
  /// Whether all has gone out that peers may wait for. If not, only progress gets it out: whoever drives this rank stays until then.
  virtual bool settled() const { return true; }
  /// Called when nothing could be done `spins` times in a row: pause, yield, or sleep until something may have changed.
  virtual void idle(unsigned spins) = 0;
  /// For a progress thread, which must not hold the transport while it sleeps: blocks until something may have changed, some
  /// milliseconds at most. Called twice: to prepare, then, if nothing came meanwhile, to sleep; only the second call may
  /// run while another thread uses the transport. False: this transport has no way, sleep a little instead.
  virtual bool park(bool prepare) { return false; }
  /// This rank's process ends in good order: tells the peers what the end of the transport would tell them, and does no more.
  /// Nothing else is asked of it afterwards.
  virtual void leave() {}
  /// This rank's process ends after a failure: tells the peers why, also where its end would overtake the words. Nothing else is
  /// asked of it afterwards.
  virtual void giveUp(const std::string &why) { abort(why); }
  virtual Fault fault() = 0;
  /// Tells all peers, at once and without waiting for them, that this rank gives up; their fault() is then Aborted.
  virtual void abort(const std::string &why) = 0;
  virtual TransportCounters counters() const = 0;
  /// The host of each rank, any numbers, where the transport knows better than the exchange of host identities (emulated);
  /// else empty.
  virtual std::vector<int> hosts() const { return {}; }

  /// The time that this rank lives in; null: the machine's.
  virtual Clock *clock() { return nullptr; }
  /// What is offered to `peer` on `lane` from now on is at this place, which is equal on all ranks. For draws of an emulated
  /// fabric, which are functions of the place of a message and never of the order of arrival.
  virtual void mark(int peer, int lane, const MessagePlace &place) {}
  /// The draws of messages are those of this job from now on.
  virtual void setJob(uint64_t job) {}
  /// False: messages have sizes, and their bytes mean nothing.
  virtual bool carriesData() const { return true; }
};

} // namespace braid::runtime

#endif
