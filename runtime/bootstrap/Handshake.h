//===- Handshake.h - both ends of a connection prove that they know the job's secret -------------------------------===//
//
//   listener -> caller   greeting: magic, version, random S
//   caller -> listener   hello:    magic, version, rank, ranks, topic, random C, HMAC(secret, "caller" S C and these fields)
//   listener -> caller   answer:   verdict, version, reason, HMAC(secret, "listener" S C and these fields)
//
// The topic names what is called: the store, or one communicator's transport. A code of one connection is worth nothing on
// another (both ends bring fresh random numbers). What follows on the connection is neither encrypted nor signed: the
// handshake keeps strangers out, it does not hide data from someone who controls the network.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_HANDSHAKE_H
#define BRAID_RUNTIME_BOOTSTRAP_HANDSHAKE_H

#include "bootstrap/Socket.h"
#include <functional>
#include <list>
#include <poll.h>
#include <vector>

namespace braid::runtime {

constexpr uint32_t handshakeVersion = 1;
constexpr uint64_t storeTopic = 1;

struct Hello {
  static constexpr int launcher = -1, observer = -2; ///< in place of a rank; the end of an observer means nothing
  /// A launcher that says which rank is the first of those that it starts, and which that was.
  static constexpr int launcherOf(int firstRank) { return observer - 1 - firstRank; }
  static constexpr int firstRankOf(int launcher) { return observer - 1 - launcher; }
  static constexpr bool isLauncher(int rank) { return rank == launcher || rank < observer; }
  int rank = launcher;
  int ranks = 0;
  uint64_t topic = storeTopic;
};

/// The caller's side, on a connected socket. BRAID_INVALID: refused, for good; BRAID_PEER_DIED or BRAID_TIMEOUT: it went away
/// or is no such listener.
Outcome introduce(const Socket &socket, const Hello &hello, const std::string &secret, Deadline deadline);

/// The listener's side: accepts, examines without blocking, hands out who proved to belong. Strangers get nothing: who is
/// silent is dropped after a while, the oldest first when there are many; who sends garbage at once.
class Doorman {
public:
  struct Admitted {
    Socket socket;
    Hello hello;
  };
  /// Gives a reason to refuse somebody who knows the secret (a rank that is there already), or nothing.
  using Judge = std::function<std::string(const Hello &)>;

  Doorman(Socket listener, std::string secret, uint64_t topic, Judge judge);
  /// Appends what to poll; `handle` gets the same entries back and appends who was admitted.
  size_t collect(std::vector<pollfd> &entries);
  void handle(const pollfd *entries, size_t count, std::vector<Admitted> &admitted);
  uint64_t refused() const { return refusals; }
  int milliseconds() const; ///< until the next stranger has been silent for too long; -1: nobody waits

  static constexpr size_t maximumPending = 64;
  static constexpr double patience = 5; // seconds

private:
  struct Pending {
    Socket socket;
    std::string nonce, received;
    Deadline until = Deadline(patience);
  };
  void acceptAll();
  bool examine(Pending &pending, std::vector<Admitted> &admitted); ///< false: done with it, either way

  Socket listener;
  std::string secret;
  uint64_t topic;
  Judge judge;
  std::list<Pending> waiting; // oldest first
  uint64_t refusals = 0;
};

} // namespace braid::runtime

#endif
