//===- StoreExchange.h - the core's Exchange, over the store ------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_STOREEXCHANGE_H
#define BRAID_RUNTIME_BOOTSTRAP_STOREEXCHANGE_H

#include "bootstrap/Affinity.h"
#include "bootstrap/HostIdentity.h"
#include "bootstrap/RankInfo.h"
#include "bootstrap/StoreClient.h"
#include "bootstrap/StoreThread.h"
#include "core/Exchange.h"

namespace braid::runtime {

/// Connects a rank to its job's store (rank 0 serves it, unless the launcher does) and learns where the others run.
class StoreExchange : public Exchange {
public:
  static Outcome connect(const RankInfo &info, double deadline, std::shared_ptr<StoreExchange> &exchange);
  ~StoreExchange() override;

  int rank() const override { return info.rank; }
  int ranks() const override { return info.ranks; }
  Outcome allgather(const std::string &key, const std::vector<int> &members, const std::string &mine, double deadline,
                    std::vector<std::string> &all) override;
  bool sameHost(int a, int b) const override { return hosts[a].sameAs(hosts[b]); }
  Outcome alive(int rank) override;
  bool ended(uint64_t scope, std::string &why) override;
  void abort(uint64_t scope, const std::string &why) override;
  Outcome startThread(const char *name, std::function<void()> body, std::thread &thread) override {
    return runtime::startThread(threads, name, std::move(body), thread);
  }

  /// Processors for the runtime's threads of this rank, chosen with its neighbours in mind.
  const Affinity &affinity() const { return threads; }
  LocalPlace place() const { return localPlace(hosts, info.rank); }
  const RankInfo &rankInfo() const { return info; }
  /// The address at which peers that reach the store reach this process, for transports that listen.
  std::string host() const { return client ? client->local().host : "127.0.0.1"; }
  /// Who this is and how it was found out, for the first line of a log (BRAID_LOG=info).
  std::string text() const;
  bool broken() const { return client && client->broken(); }

private:
  StoreExchange() = default;
  RankInfo info;
  std::vector<HostIdentity> hosts;
  Affinity threads;
  std::unique_ptr<StoreThread> server; // ends after the client
  std::unique_ptr<StoreClient> client; // null: one rank
  int process = 0;
};

} // namespace braid::runtime

#endif
