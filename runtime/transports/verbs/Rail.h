//===- Rail.h - a port of a device of this rank ------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_RAIL_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_RAIL_H

#include "transports/Transport.h"
#include "transports/tcp/Buffers.h"
#include "transports/verbs/ConnectionManager.h"
#include "transports/verbs/Protocol.h"
#include "transports/verbs/Registrations.h"
#include "transports/verbs/Statuses.h"
#include <functional>

namespace braid::runtime::verbs {

struct Rail {
  std::unique_ptr<Device> device;
  Limits limits;
  Port port;
  Gid gid;
  std::string gidWhy;
  std::unique_ptr<CompletionQueue> completions;
  std::string name() const { return device->name() + " port " + std::to_string(port.number); }
};

/// Those that the knobs choose and that are up, in the order of the provider.
Outcome openRails(Provider &provider, const Knobs &knobs, std::vector<Rail> &rails);

/// Registered buffers that messages land in, kept for the next.
class LandingPool {
public:
  explicit LandingPool(Registrations &registrations) : registrations(registrations) {}
  ~LandingPool() {
    for (auto &list : free)
      for (char *data : list)
        registrations.release(data);
  }
  /// Null: there is no memory, or it can't be registered (`why`).
  char *take(size_t bytes, Outcome &why) {
    size_t order = orderOf(bytes);
    if (free[order].empty())
      return static_cast<char *>(registrations.allocate(size_t(1) << order, why));
    char *data = free[order].back();
    free[order].pop_back();
    kept -= size_t(1) << order;
    return data;
  }
  void give(char *data, size_t bytes) {
    size_t order = orderOf(bytes);
    if (kept + (size_t(1) << order) > mostKept)
      return registrations.release(data);
    free[order].push_back(data);
    kept += size_t(1) << order;
  }

private:
  static constexpr size_t mostKept = 64u << 20;
  static size_t orderOf(size_t bytes) {
    size_t order = 12;
    while ((size_t(1) << order) < bytes)
      ++order;
    return order;
  }
  Registrations &registrations;
  std::vector<char *> free[64];
  size_t kept = 0;
};

/// What all peers of a transport use.
struct Common {
  Common(std::vector<Rail> opened, const Knobs &knobs)
      : knobs(knobs), rails(std::move(opened)), registrations(devicesOf(rails)), landings(registrations) {}
  static std::vector<Device *> devicesOf(const std::vector<Rail> &rails) {
    std::vector<Device *> all;
    for (const Rail &rail : rails)
      all.push_back(rail.device.get());
    return all;
  }
  void fail(Fault::Kind kind, int peer, const std::string &why) {
    if (!fault)
      fault = {kind, peer, why};
  }
  Knobs knobs;
  std::vector<Rail> rails;
  std::unique_ptr<ConnectionManager> manager;           ///< null: there is none
  std::vector<std::unique_ptr<Connection>> connections; ///< for as long as their queue pairs
  Registrations registrations;
  LandingPool landings;
  tcp::BufferPool small; ///< eager messages that have come
  TransportCounters count;
  Fault fault;
  std::function<std::string(int)> named;                        ///< "rank 3", of an index
  std::function<void(int peer, const RailDown &)> tellRailDown; ///< over TCP
};

} // namespace braid::runtime::verbs

#endif
