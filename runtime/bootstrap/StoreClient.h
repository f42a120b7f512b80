//===- StoreClient.h - a rank's connection to the store -----------------------------------------------------------===//
//
// Every call is one request and one answer within its deadline; the store keeps the time and says who is missing, the client
// gives up a little later if the store itself is stuck. Calls from several threads take turns.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_STORECLIENT_H
#define BRAID_RUNTIME_BOOTSTRAP_STORECLIENT_H

#include "bootstrap/Handshake.h"
#include "bootstrap/StoreProtocol.h"
#include <memory>
#include <mutex>
#include <optional>

namespace braid::runtime {

class StoreClient {
public:
  /// Tries the addresses in turn until one of them proves to be the job's store. `who` serves it, for sentences ("the
  /// launcher", "rank 0").
  static Outcome connect(const std::vector<std::string> &addresses, const std::string &secret, int rank, int ranks,
                         const std::string &who, Deadline deadline, std::unique_ptr<StoreClient> &client);
  ~StoreClient();

  Outcome set(const std::string &key, const std::string &value, double seconds);
  Outcome get(const std::string &key, std::optional<std::string> &value, double seconds);
  Outcome add(const std::string &key, int64_t delta, int64_t &sum, double seconds);
  Outcome remove(const std::string &key, double seconds);
  /// `owner`: the rank that is to set it; if it is gone, so is the wait.
  Outcome wait(const std::string &key, int owner, std::string &value, double seconds);
  Outcome gather(const std::string &key, const std::vector<int> &members, const std::string &mine,
                 std::vector<std::string> &all, double seconds);
  Outcome barrier(const std::string &key, const std::vector<int> &members, double seconds);
  /// For launchers: a process has ended.
  Outcome died(int rank, const std::string &why, double seconds);
  /// Says farewell, so that the end of the connection is no death.
  void leave();
  /// After a fork the connection is the parent's: forgets it without a farewell.
  void forget();

  /// The first half of `wait`, for owners that poll on fd(): the answer is read by `waited`.
  Outcome startWait(const std::string &key, int owner, double seconds);
  Outcome waited(const std::string &key, std::string &value);
  int fd() const { return socket.fd(); }

  const std::string &where() const { return address; }   ///< of the store
  Address local() const { return localAddress(socket); } ///< how peers that reach the store reach this process
  bool broken() const { return !socket; }

private:
  StoreClient(Socket socket, std::string address, std::string who)
      : socket(std::move(socket)), address(std::move(address)), who(std::move(who)) {}
  Outcome ask(const std::string &request, const std::string &what, double seconds, std::string &fields,
              bool *missing = nullptr);
  Outcome send(const std::string &request, Deadline deadline);
  Outcome receive(const std::string &what, double seconds, std::string &fields, bool *missing);
  Outcome lost(const Outcome &why);

  Socket socket;
  std::string address, who;
  std::mutex mutex;
};

} // namespace braid::runtime

#endif
