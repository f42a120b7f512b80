//===- CheckGids.cpp - addresses that RoCE v2 can use -----------------------------------------------------------------===//
//
// A RoCE port has several addresses (GIDs), of each kind: v1 frames don't pass a router, and carry no DSCP by which switches would
// tell them from other traffic; v2 packets are UDP. An application names one by its index in the port's table, and tables of
// equal ports may differ.
//===------------------------------------------------------------------------------------------------------------===//
#include "Checks.h"
#include <algorithm>
#include <cstdlib>
#include <set>

namespace braid::doctor {

static std::string describe(const Gid &gid) {
  return "index " + std::to_string(gid.index) + ": " + gid.address + ", " + (gid.type.empty() ? "no type" : gid.type);
}

/// The address that should be used: IPv4 first, as its packets are what DSCP and ECMP of most switches are set up for.
static const Gid *best(const std::vector<Gid> &gids) {
  const Gid *found = nullptr;
  for (const Gid &gid : gids)
    if (gid.routable() && (!found || (gid.address.rfind("0000:0000:0000:0000:0000:ffff:", 0) == 0 &&
                                      found->address.rfind("0000:0000:0000:0000:0000:ffff:", 0) != 0)))
      found = &gid;
  return found;
}

void checkGids(const Patient &patient) {
  std::optional<std::string> chosen = patient.tree.variable("NCCL_IB_GID_INDEX");
  std::set<int> indices;
  for (const Port &port : patient.ports) {
    if (!port.ethernet || !port.active())
      continue;
    const Gid *gid = best(port.gids);
    if (!gid) {
      patient.add(Level::Problem, "gid", port.name(),
                  port.gids.empty() ? "no addresses" : "none but " + describe(port.gids.back()),
                  "a RoCE v2 address that is not of the link only",
                  "give " + (port.netDevice.empty() ? "its interface" : port.netDevice) +
                      " an IP address (ip addr add ...)");
      patient.findings.back().unpriced = "connections to hosts behind a router fail";
      continue;
    }
    indices.insert(gid->index);
    if (!chosen) {
      patient.add(Level::Ok, "gid", port.name(), describe(*gid));
      continue;
    }
    int index = std::atoi(chosen->c_str());
    auto named = std::find_if(port.gids.begin(), port.gids.end(), [&](const Gid &g) { return g.index == index; });
    std::string what = "NCCL_IB_GID_INDEX=" + *chosen + " is ";
    if (named == port.gids.end() || named->type != "RoCE v2") {
      patient.add(Level::Problem, "gid", port.name(), what + (named == port.gids.end() ? "empty" : named->type),
                  "a RoCE v2 address",
                  "NCCL_IB_GID_INDEX=" + std::to_string(gid->index) + ", or unset it (libraries choose by version)");
      patient.findings.back().unpriced =
          named == port.gids.end() ? "connections fail" : "v1 carries no DSCP: its packets take the lossy queue";
    } else
      patient.add(named->routable() ? Level::Ok : Level::Warning, "gid", port.name(), what + describe(*named),
                  named->routable() ? "" : "an address that is not of the link only",
                  named->routable() ? "" : "NCCL_IB_GID_INDEX=" + std::to_string(gid->index));
  }
  if (!chosen && indices.size() > 1)
    patient.add(Level::Warning, "gid", "all ports", "the address has another index on different ports",
                "one index on all", "leave NCCL_IB_GID_INDEX unset: no one value is right for all ports");
}

} // namespace braid::doctor
