//===- Transports.cpp - the list of transports --------------------------------------------------------------------===//
#include "core/Transports.h"

namespace braid::runtime {

std::vector<std::string> transportNames() {
  std::vector<std::string> names;
#ifdef BRAID_RT_WITH_SHM
  names.push_back("shm");
#endif
#ifdef BRAID_RT_WITH_TCP
  names.push_back("tcp");
#endif
  return names;
}

static Outcome unknown(const std::string &name) {
  std::string known;
  for (const std::string &each : transportNames())
    known += (known.empty() ? "" : ", ") + each;
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
#ifdef BRAID_RT_WITH_TCP
  if (name == "tcp" || name.empty())
    return makeTcpTransport(context, transport);
#endif
  return unknown(name);
}

} // namespace braid::runtime
