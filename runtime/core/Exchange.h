//===- Exchange.h - how ranks find each other before a transport connects them ----------------------------------===//
//
// At set-up the ranks of a communicator exchange small byte strings (addresses, process ids, hashes). The bootstrap
// provides this over its store; for tests, InProcessExchange.h provides it among threads.
//
// Everything is one primitive, so that a store needs only "put key" and "wait for key":
//
//   allgather(key, members, mine) -> what each member gave for the key, in the members' order
//
// `members` are ranks of the job; only they take part, so that survivors can meet when others are gone. All of them pass
// the same key and list. A key is used once: the caller (the core) makes it unique. Members may call for different keys
// in different orders only from different threads.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_EXCHANGE_H
#define BRAID_RUNTIME_CORE_EXCHANGE_H

#include "core/Outcome.h"
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace braid::runtime {

class Exchange {
public:
  virtual ~Exchange() = default;

  virtual int rank() const = 0;  ///< of the job
  virtual int ranks() const = 0; ///< of the job

  /// Blocks until all members have given a string for `key`, at most `deadline` seconds. On failure the sentence names the
  /// ranks that are missing, as far as it is known.
  virtual Outcome allgather(const std::string &key, const std::vector<int> &members, const std::string &mine,
                            double deadline, std::vector<std::string> &all) = 0;

  /// Whether both ranks run on one host (can share memory). The in-process one: always.
  virtual bool sameHost(int a, int b) const = 0;

  Outcome barrier(const std::string &key, const std::vector<int> &members, double deadline) {
    std::vector<std::string> all;
    return allgather(key, members, std::string(), deadline, all);
  }
  /// A barrier at which each member says how it fared. The outcome of all: success, or the same failure on every rank, that
  /// of the first member that has one. So a rank that is refused something lets nobody wait for it.
  Outcome agree(const std::string &key, const std::vector<int> &members, const Outcome &mine, double deadline);

  /// Whether a rank is still there, as far as it is known: an error that names it if its process has ended.
  virtual Outcome alive(int rank) { return {}; }
  /// Whether the launcher of this host says that the job, or the communicator known as `scope` in it, is to end; the
  /// sentence names the rank to blame. Cheap: for waiting loops.
  virtual bool ended(uint64_t scope, std::string &why) { return false; }
  /// Tells the launcher that this rank gives the communicator up.
  virtual void abort(uint64_t scope, const std::string &why) {}
  /// A thread of the runtime: named, without signals (they are the program's), on the processors that it may use.
  virtual Outcome startThread(const char *name, std::function<void()> body, std::thread &thread);
};

/// startThread on the processors that the caller may use.
Outcome startQuietThread(const char *name, std::function<void()> body, std::thread &thread);

/// Made by the bootstrap from the options, the environment and the launcher: rank, number of ranks, store, secret.
/// `deadline` is that of the communicator.
Outcome connectExchange(const braid_comm_options &options, double deadline, std::shared_ptr<Exchange> &exchange);

} // namespace braid::runtime

#endif
