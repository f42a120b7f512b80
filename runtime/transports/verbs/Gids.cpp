//===- Gids.cpp - which of its addresses a port goes by --------------------------------------------------------------===//
#include "transports/verbs/Gids.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

namespace braid::runtime::verbs {
namespace {

bool isIpv4(const Gid &gid) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw.data(), mapped, sizeof mapped) == 0;
}
bool isLinkLocal(const Gid &gid) { return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80; }

const char *const kinds[] = {"IPv4", "IPv6 that is routed", "link-local"};
int kindOf(const Gid &gid) { return isIpv4(gid) ? 0 : isLinkLocal(gid) ? 2 : 1; }

} // namespace

std::string describe(const Gid &gid) {
  static const char *const types[] = {"InfiniBand", "RoCE v1", "RoCE v2"};
  char text[INET6_ADDRSTRLEN] = "?";
  if (isIpv4(gid))
    inet_ntop(AF_INET, gid.raw.data() + 12, text, sizeof text);
  else
    inet_ntop(AF_INET6, gid.raw.data(), text, sizeof text);
  return std::string(types[gid.type]) + " " + text;
}

Outcome chooseGid(Device &device, const Port &port, const Knobs &knobs, Gid &chosen, std::string &why) {
  std::string place = "device " + device.name() + " port " + std::to_string(port.number) + ": ";
  auto read = [&](int index, Gid &gid) -> Outcome {
    int error = device.gid(port.number, index, gid);
    return error ? Outcome(BRAID_SYSTEM, place + "GID " + std::to_string(index) + " of " + std::to_string(port.gids) +
                                             ": " + std::strerror(error))
                 : Outcome();
  };
  if (knobs.gidIndex >= 0 || !port.ethernet) {
    if (Outcome done = read(std::max(knobs.gidIndex, 0), chosen); !done)
      return done;
    why = "GID " + std::to_string(chosen.index) + " (" + describe(chosen) +
          (knobs.gidIndex >= 0 ? "), as NCCL_IB_GID_INDEX says" : "), the first, as on any InfiniBand");
    if (chosen.empty() && port.ethernet)
      return {BRAID_INVALID, place + "NCCL_IB_GID_INDEX: expected an entry of the GID table that is set, got " +
                                 std::to_string(chosen.index) + ", which is empty"};
    return {};
  }
  Gid::Type wanted = knobs.roceVersion == 1 ? Gid::RoCEv1 : Gid::RoCEv2;
  int best = 6, candidates = 0;
  for (int index = 0; index < port.gids; ++index) {
    Gid gid;
    if (Outcome done = read(index, gid); !done)
      return done;
    if (gid.empty())
      continue;
    ++candidates;
    int rank = (gid.type == wanted ? 0 : 3) + kindOf(gid);
    if (rank < best) {
      best = rank;
      chosen = gid;
    }
  }
  if (best == 6)
    return {BRAID_SYSTEM, place + "expected a GID, got " + std::to_string(port.gids) +
                              " empty entries; has its network interface an address, and is it up?"};
  why = "GID " + std::to_string(chosen.index) + " (" + describe(chosen) + "), the first of v" +
        (chosen.type == Gid::RoCEv1 ? "1" : "2") + " and " + kinds[best % 3] + " among " + std::to_string(candidates) +
        (best >= 3 ? "; expected one of v" + std::to_string(knobs.roceVersion) + ", got none" : "") +
        "; NCCL_IB_GID_INDEX chooses another";
  return {};
}

} // namespace braid::runtime::verbs
