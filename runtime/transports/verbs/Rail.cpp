//===- Rail.cpp - the ports that a rank uses ---------------------------------------------------------------------------===//
#include "transports/verbs/Rail.h"
#include "transports/verbs/Gids.h"
#include <cstring>

namespace braid::runtime::verbs {
namespace {

/// iWARP (RFC 5040 to 5044) has neither connections but those of its manager nor, in what the kernel offers, write with immediate.
Outcome checkIwarp(const std::string &device, const Port &port, const Knobs &knobs) {
  std::string place = "device " + device + " port " + std::to_string(port.number) + " is iWARP: ";
  std::string without = ", or leave it out (NCCL_IB_HCA=^" + device + ")";
  if (port.iwarp && knobs.manager != Manager::RdmaCm)
    return {BRAID_UNSUPPORTED,
            place + "expected BRAID_IB_CM=rdma_cm, which alone connects it, got exchange; set it" + without};
  if (port.iwarp && (knobs.mode == Mode::Auto || knobs.mode == Mode::Write))
    return {BRAID_UNSUPPORTED, place +
                                   "expected BRAID_IB_MODE=send or read, since it has no write with immediate, got " +
                                   (knobs.mode == Mode::Auto ? "auto" : "write") + "; set one of them" + without};
  return {};
}

} // namespace

Outcome openRails(Provider &provider, const Knobs &knobs, std::vector<Rail> &rails) {
  std::vector<std::string> names;
  if (Outcome done = provider.devices(names); !done)
    return done;
  std::string seen; // for the error
  for (const std::string &name : names) {
    if (!knobs.considers(name)) { // nor opened: it may be one that can't be
      seen += (seen.empty() ? "" : ", ") + name + " (not chosen by " + knobs.chosenBy + ")";
      continue;
    }
    std::unique_ptr<Device> device;
    Limits limits;
    if (Outcome done = provider.open(name, device); !done)
      return done;
    if (int error = device->limits(limits))
      return {BRAID_SYSTEM, "device " + name + ": " + std::strerror(error)};
    for (int number = 1; number <= limits.ports; ++number) {
      Rail rail;
      rail.limits = limits;
      if (!device) // a second port: with a protection domain of its own
        if (Outcome done = provider.open(name, device); !done)
          return done;
      if (int error = device->port(number, rail.port))
        return {BRAID_SYSTEM, "device " + name + " port " + std::to_string(number) + ": " + std::strerror(error)};
      bool chosen = knobs.chooses(name, number);
      seen += (seen.empty() ? "" : ", ") + name + ":" + std::to_string(number) +
              (!rail.port.active ? " (not active)"
               : !chosen         ? " (not chosen by " + knobs.chosenBy + ")"
                                 : "");
      if (!rail.port.active || !chosen || int(rails.size()) == mostRails)
        continue;
      if (Outcome done = checkIwarp(name, rail.port, knobs); !done)
        return done;
      if (Outcome done = chooseGid(*device, rail.port, knobs, rail.gid, rail.gidWhy); !done)
        return done;
      rail.device = std::move(device);
      rails.push_back(std::move(rail));
    }
  }
  if (rails.empty())
    return {BRAID_UNSUPPORTED,
            "transport 'verbs': expected an RDMA device with an active port, got " +
                (seen.empty() ? std::string("no device") : seen) +
                "; ibv_devinfo shows them, rdma link add NAME type rxe netdev INTERFACE makes one of an "
                "Ethernet interface, and the transport tcp does without"};
  return {};
}

} // namespace braid::runtime::verbs
