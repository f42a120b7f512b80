//===- StoreServer.h - the store's server: who meets, and who is gone ---------------------------------------------===//
//
// Serves one job: the ranks (each once) and the launchers. It never blocks; the owner polls, either in a loop of its own
// (the launcher) or in a thread (StoreThread.h, on rank 0). A connection that ends without a farewell is a death, and whoever
// waits for that rank is told at once. What a client can make it hold is bounded.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_STORESERVER_H
#define BRAID_RUNTIME_BOOTSTRAP_STORESERVER_H

#include "bootstrap/Handshake.h"
#include "bootstrap/StoreProtocol.h"
#include <deque>
#include <map>
#include <optional>

namespace braid::runtime {

class StoreServer {
public:
  StoreServer(Socket listener, std::string secret, int ranks);
  ~StoreServer();

  size_t collect(std::vector<pollfd> &entries);
  void handle(const pollfd *entries, size_t count);
  int milliseconds() const; ///< until something is late; -1: never

  /// Collects, polls at most `milliseconds`, handles: for owners with nothing else to do.
  void serve(int milliseconds);

  void died(int rank, const std::string &why);
  void set(const std::string &key, const std::string &value);
  std::optional<std::string> get(const std::string &key) const;
  size_t connections() const { return clients.size(); }
  /// "braid-launch of ranks from 4 on": one of another host whose connection ended without a farewell; empty: there is none.
  const std::string &launcherLost() const { return lostLauncher; }
  uint64_t refused() const { return doorman.refused(); }
  /// Whether a rank that says farewell is gone. Not with a launcher, which sees processes end: in one, programs may follow on
  /// each other.
  bool farewellsAreFinal = true;

private:
  struct Client;
  struct Gathering {
    std::vector<int> members;
    std::map<int, std::string> given;
  };
  std::string judge(const Hello &hello);
  bool receive(Client &client);
  bool flush(Client &client);
  bool request(Client &client, const char *frame, size_t size);
  void answer(Client &client, StoreResult result, const std::string &fields = {});
  void gather(Client &client, const std::string &key, std::vector<int> members, std::string value);
  void settle(const std::string &key, Gathering &gathering); ///< complete or hopeless: answers everybody who waits
  void untangle(int rank);                                   ///< does it wait for ranks that wait for it?
  void refuse(const std::string &key, const std::string &why);
  bool hold(size_t added);
  void wake(const std::string &key);
  void late();

  Doorman doorman;
  std::string secret;
  int ranks;
  std::list<Client> clients;
  std::map<std::string, std::string> values;
  std::map<std::string, Gathering> gatherings;
  std::deque<std::pair<std::string, std::string>> refusedKeys; ///< and why: for members that come later
  struct Death {
    std::string why;
    uint64_t order; ///< the first death is the cause of later ones, and the one to name
  };
  std::map<int, Death> deaths; // by rank
  uint64_t deathsSeen = 0;
  std::string lostLauncher;
  std::vector<char> landing = std::vector<char>(64 << 10); // not on the stack, which may be as small (ulimit -s)
  size_t held = 0;                                         // bytes of keys, values and gatherings
};

} // namespace braid::runtime

#endif
