//===- Transports.cpp - the list of transports --------------------------------------------------------------------===//
#include "core/Transports.h"

namespace braid::runtime {

const std::vector<TransportEntry> &transports() {
  static const std::vector<TransportEntry> all = {
#ifdef BRAID_RT_WITH_SHM
      {"shm", true, true},
#endif
#ifdef BRAID_RT_WITH_TCP
      {"tcp", true, true},
#endif
#ifdef BRAID_RT_WITH_VERBS
      {"verbs", true, true, haveVerbs},
      {"verbs-double", false, true},
#endif
#ifdef BRAID_RT_WITH_EMULATED
      {"in-process", false, true},
      {"sizes", false, false},
#endif
  };
  return all;
}

static Outcome unknown(const std::string &name) {
  std::string known;
  for (const TransportEntry &each : transports())
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  return {BRAID_UNSUPPORTED, "transport: expected one of " + known +
#ifdef BRAID_RT_WITH_EMULATED
                                 ", or emulated+ one of them" +
#endif
                                 ", got '" + name + "'"};
}

Outcome makeTransport(const std::string &name, const TransportContext &context, std::unique_ptr<Transport> &transport) {
  const std::string wrapper = "emulated+";
  if (name == "emulated")
    return makeTransport(wrapper, context, transport);
  if (name.compare(0, wrapper.size(), wrapper) == 0) {
#ifdef BRAID_RT_WITH_EMULATED
    return makeEmulatedTransport(context, name.substr(wrapper.size()), transport);
#else
    return unknown(name);
#endif
  }
  // What only the emulated fabric has is never ignored: who asks for it believes that it measures one.
  std::string what = !context.clock.empty()     ? "clock '" + context.clock + "'"
                     : !context.profile.empty() ? "a profile"
                     : context.seed             ? "seed " + std::to_string(context.seed)
                     : context.job              ? "job " + std::to_string(context.job)
                                                : "";
  if (!what.empty())
    return {BRAID_INVALID, "transport: expected an emulated one (emulated+shm, ...) for " + what + ", got " +
                               (name.empty() ? "none" : "'" + name + "'")};
  return makePlainTransport(name, context, transport);
}

Outcome makePlainTransport(const std::string &name, const TransportContext &context,
                           std::unique_ptr<Transport> &transport) {
  bool oneHost = true;
  for (int member : context.members)
    oneHost &= context.exchange.sameHost(context.members[0], member);
#ifdef BRAID_RT_WITH_EMULATED
  if (name == "in-process" || name == "sizes")
    return makeInProcessTransport(context, name == "in-process", transport);
#endif
#ifdef BRAID_RT_WITH_SHM
  if (name == "shm" && !oneHost)
    return {BRAID_INVALID, "transport 'shm': expected all ranks on one host, got several hosts"};
  if (name == "shm" || (name.empty() && oneHost))
    return makeShmTransport(context, transport);
#endif
#ifdef BRAID_RT_WITH_VERBS
  if (name == "verbs")
    return makeVerbsTransport(context, transport);
  if (name == "verbs-double")
    return makeVerbsDoubleTransport(context, transport);
#endif
#ifdef BRAID_RT_WITH_TCP
  if (name == "tcp" || name.empty())
    return makeTcpTransport(context, transport);
#endif
  return unknown(name);
}

} // namespace braid::runtime
