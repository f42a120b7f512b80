//===- Transports.h - the list of transports --------------------------------------------------------------------===//
//
// A transport is named in braid_comm_options: "shm", "tcp", "verbs", "emulated+shm". Each is made by one function from what the
// ranks of the new communicator know about each other. A transport that is added here is run by the conformance suite.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_TRANSPORTS_H
#define BRAID_RUNTIME_CORE_TRANSPORTS_H

#include "core/Exchange.h"
#include "transports/Transport.h"

namespace braid::runtime {

/// What a transport may use while it connects.
struct TransportContext {
  Exchange &exchange;
  std::vector<int> members; ///< ranks of the job, in the communicator's order; peers are indices into it
  int me = 0;               ///< index of this rank in members
  std::string key;          ///< prefix of the keys of this communicator in the exchange, unique in the job
  double deadline = 60;     ///< seconds
  std::string profile;      ///< emulated: the fabric profile (JSON)
  uint64_t seed = 0;        ///< emulated: of all draws
  uint64_t job = 0;         ///< emulated: whose draws apply; 0: BRAID_EMULATED_JOB
  std::string clock = {};   ///< emulated: "wall" or "virtual"; empty: BRAID_EMULATED_CLOCK
  std::string paths = {};   ///< tcp: connections beside those that all share (Paths.h); empty: none

  int size() const { return int(members.size()); }
};

/// Makes a transport by name; empty: shm if all members are on one host, else tcp.
Outcome makeTransport(const std::string &name, const TransportContext &context, std::unique_ptr<Transport> &transport);
/// One that the emulated transport wraps, whose options are not its own.
Outcome makePlainTransport(const std::string &name, const TransportContext &context,
                           std::unique_ptr<Transport> &transport);
/// A transport that makeTransport knows in this build. The conformance suite runs all that carry data and are there.
struct TransportEntry {
  const char *name;
  bool processes;             ///< ranks may be processes; else they are threads or fibers of one
  bool carriesData;           ///< else messages have sizes and no bytes, so that there is no result to check
  bool (*isHere)() = nullptr; ///< whether this machine has what it takes; null: every machine has
};
/// All of them, without the combinations with "emulated+".
const std::vector<TransportEntry> &transports();

// One function per folder of transports/. A folder that this build lacks is unsupported by name.
Outcome makeShmTransport(const TransportContext &context, std::unique_ptr<Transport> &transport);
Outcome makeTcpTransport(const TransportContext &context, std::unique_ptr<Transport> &transport);
Outcome makeVerbsTransport(const TransportContext &context, std::unique_ptr<Transport> &transport);
/// Over the double of RDMA verbs (transports/verbs/double/Fabric.h), for ranks that are threads of one process.
Outcome makeVerbsDoubleTransport(const TransportContext &context, std::unique_ptr<Transport> &transport);
/// Whether libibverbs is here and has a device.
bool haveVerbs();
/// Ranks that are threads or fibers of one process. `data`: messages carry their bytes.
Outcome makeInProcessTransport(const TransportContext &context, bool data, std::unique_ptr<Transport> &transport);
/// Wraps a transport named `inner`.
Outcome makeEmulatedTransport(const TransportContext &context, const std::string &inner,
                              std::unique_ptr<Transport> &transport);

} // namespace braid::runtime

#endif
