//===- Knobs.cpp - what the environment says about RDMA --------------------------------------------------------------===//
#include "transports/verbs/Knobs.h"
#include <algorithm>
#include <cstdlib>

namespace braid::runtime::verbs {

constexpr int mostPorts = 255; ///< of a device: their numbers are bytes

bool Knobs::chooses(const std::string &device, int port) const {
  bool listed = false;
  for (const Adapter &each : adapters) {
    bool same = wholeNames ? device == each.name : device.compare(0, each.name.size(), each.name) == 0;
    listed |= same && (each.port < 0 || each.port == port);
  }
  return adapters.empty() || listed != allBut;
}

bool Knobs::considers(const std::string &device) const {
  bool any = false;
  for (int port = 1; port <= mostPorts && !any; ++port)
    any = chooses(device, port);
  return any;
}

Outcome readKnobs(const std::function<const char *(const char *)> &variable, Knobs &knobs) {
  Outcome outcome;
  std::string found; // the name under which it is set
  auto value = [&](const std::string &name, const char *of = "IB_") -> const char * {
    for (const char *prefix : {"BRAID_", "NCCL_"}) {
      const char *text = variable((found = prefix + (of + name)).c_str());
      if (text && *text)
        return text;
    }
    return nullptr;
  };
  auto number = [&](const char *name, int &to, int low, int high, const char *of = "IB_") {
    const char *text = value(name, of);
    if (!text || !outcome)
      return;
    char *end = nullptr;
    long got = std::strtol(text, &end, 0);
    if (*end || end == text || got < low || got > high)
      outcome = {BRAID_INVALID, found + ": expected a number from " + std::to_string(low) + " to " +
                                    std::to_string(high) + ", got '" + text + "'"};
    else
      to = int(got);
  };
  number("GID_INDEX", knobs.gidIndex, -1, 255);
  number("ROCE_VERSION_NUM", knobs.roceVersion, 1, 2);
  number("QPS_PER_CONNECTION", knobs.queuePairs, 1, 16);
  number("TIMEOUT", knobs.timeout, 1, 31);
  number("RETRY_CNT", knobs.retries, 0, 7);
  number("TC", knobs.trafficClass, 0, 255);
  number("SL", knobs.serviceLevel, 0, 15);
  number("PKEY", knobs.pkeyIndex, 0, 65535);
  int dmaBuf = 1;
  number("DMABUF_ENABLE", dmaBuf, 0, 1, "");
  knobs.dmaBuf = dmaBuf;
  static const char *const levels[] = {"LOC", "PIX", "PXB", "PHB", "SYS", "0", "1", "2", "3", "4", "5"};
  if (const char *text = value("NET_GDR_LEVEL", ""); text && outcome) {
    if (std::find(std::begin(levels), std::end(levels), std::string(text)) == std::end(levels))
      return {BRAID_INVALID, found + ": expected LOC, PIX, PXB, PHB, SYS, or a number from 0 to 5, got '" + text + "'"};
    if (text == std::string("LOC") || text == std::string("0"))
      knobs.notDirect = found + "=" + text;
  }
  static const char *const modes[] = {"auto", "write", "read", "send"}; // as in Mode
  if (const char *text = value("MODE"); text && outcome) {
    auto named = std::find(std::begin(modes), std::end(modes), std::string(text));
    if (named == std::end(modes))
      return {BRAID_INVALID, found + ": expected auto, write, read or send, got '" + text + "'"};
    knobs.mode = Mode(named - std::begin(modes));
  }
  if (const char *text = value("CM"); text && outcome) {
    if (text != std::string("exchange") && text != std::string("rdma_cm"))
      return {BRAID_INVALID, found + ": expected exchange or rdma_cm, got '" + text + "'"};
    knobs.manager = text == std::string("rdma_cm") ? Manager::RdmaCm : Manager::Exchange;
  }
  if (outcome && knobs.manager == Manager::RdmaCm && knobs.pkeyIndex != 0) {
    value("PKEY");
    return {BRAID_INVALID, found +
                               ": expected none with BRAID_IB_CM=rdma_cm, which takes the partition of the network "
                               "interface, got " +
                               std::to_string(knobs.pkeyIndex) +
                               "; leave BRAID_IB_CM at exchange, or the partition out"};
  }
  const char *list = value("HCA");
  if (!list || !outcome)
    return outcome;
  std::string text = list;
  knobs.chosenBy = found + "='" + text + "'";
  size_t at = 0;
  for (; at < text.size() && (text[at] == '^' || text[at] == '='); ++at)
    (text[at] == '^' ? knobs.allBut : knobs.wholeNames) = true;
  for (size_t end = 0; at <= text.size(); at = end + 1) {
    end = std::min(text.find(',', at), text.size());
    std::string one = text.substr(at, end - at);
    size_t colon = one.find(':');
    Knobs::Adapter adapter{one.substr(0, colon), -1};
    if (colon != std::string::npos) {
      char *rest = nullptr;
      long port = std::strtol(one.c_str() + colon + 1, &rest, 10);
      adapter.port = *rest || port < 1 || port > mostPorts ? 0 : int(port);
    }
    if (adapter.name.empty() || adapter.port == 0)
      return {BRAID_INVALID, found + ": expected devices as mlx5_0:1,mlx5_1, got '" + text + "'"};
    knobs.adapters.push_back(adapter);
  }
  return outcome;
}

} // namespace braid::runtime::verbs
