//===- CheckPci.cpp - slots of the NICs, and bridges that send peers' packets the long way -----------------------------===//
//
// A PCIe link of L lanes carries GT/s x encoding x L / 8 bytes per second: 8b/10b at 2.5 and 5 GT/s, 128b/130b at 8 to 32, 242/256
// in flits at 64. A packet of 256 B has about 24 B of headers, so that 91 % is payload.
//
// Access Control Services (PCI Express Base Specification, 7.7.11): a bridge whose control register has request or completion
// redirect on sends what one device says to another up to the root complex, and so through the processor; GPU and NIC then
// share its links instead of their switch.
//===------------------------------------------------------------------------------------------------------------===//
#include "Checks.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace braid::doctor {

static constexpr double payloadOfPackets = 256.0 / 280;

static cost::BytesPerSecond bandwidthOf(double gigatransfers, int lanes) {
  double encoding = gigatransfers <= 5 ? 0.8 : gigatransfers <= 32 ? 128.0 / 130 : 242.0 / 256;
  return {gigatransfers * 1e9 * encoding * lanes / 8 * payloadOfPackets};
}

/// Lanes that a link may have (PCI Express Base Specification, link capabilities). Linux passes on what it can't know as 0, as 255
/// (PCIE_LNK_WIDTH_UNKNOWN), or as 63 where all bits read as ones, as in virtual machines.
static bool isLinkWidth(int lanes) { return (lanes > 0 && lanes <= 32 && (lanes & (lanes - 1)) == 0) || lanes == 12; }

static void checkSlot(const Patient &patient, const Port &port) {
  std::string folder = "/sys/bus/pci/devices/" + port.pci + "/";
  auto number = [&](const char *file) { return numberOf(patient.tree.read(folder + file).value_or("")); };
  double speed = number("current_link_speed"), fastest = number("max_link_speed");
  int lanes = int(number("current_link_width")), widest = int(number("max_link_width"));
  if (speed <= 0 || !isLinkWidth(lanes)) {
    patient.add(Level::NotChecked, "pcie", port.name(), "no current_link_speed or current_link_width in " + folder,
                "the link of its slot");
    return;
  }
  if (!isLinkWidth(widest))
    widest = lanes;
  if (fastest <= 0)
    fastest = speed;
  auto describe = [](double gigatransfers, int width) {
    std::string text = std::to_string(gigatransfers);
    return text.substr(0, text.find('.') + 2) + " GT/s x" + std::to_string(width);
  };
  cost::BytesPerSecond bandwidth = bandwidthOf(speed, lanes), ports{0};
  std::string slot = port.pci.substr(0, port.pci.rfind('.')); // functions of one card share it
  for (const Port &other : patient.ports)
    if (other.active() && other.pci.substr(0, other.pci.rfind('.')) == slot)
      ports.value += other.rate.value;
  std::string found = describe(speed, lanes) + ", " + cost::toString(bandwidth);
  bool narrowed = lanes < widest || speed < fastest;
  if (bandwidth < ports)
    patient.add(Level::Problem, "pcie", port.name(),
                found + " for " + (ports.value > port.rate.value ? "ports of together " : "a port of ") +
                    cost::toString(ports),
                narrowed ? describe(fastest, widest) : "a slot as fast as its ports",
                narrowed ? "reseat the card, check the slot's wiring and its settings in the firmware"
                         : "another slot, or count on the slot's bandwidth (inter.bandwidth)",
                {bandwidth.value / ports.value, {}, "the slot is the slowest link"});
  else
    patient.add(narrowed ? Level::Warning : Level::Ok, "pcie", port.name(), found,
                narrowed ? describe(fastest, widest) : "",
                narrowed ? "reseat the card; fast enough for the port as it is" : "");
}

/// The control register of Access Control Services in a configuration space; none if the bridge has no such capability.
static std::optional<unsigned> accessControl(const std::string &config) {
  auto word = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4 && at + i < config.size(); ++i)
      value |= uint32_t(static_cast<unsigned char>(config[at + i])) << (8 * i);
    return value;
  };
  constexpr size_t firstExtended = 0x100;
  constexpr unsigned identity = 0x000d;
  size_t at = firstExtended;
  for (int hops = 0; at >= firstExtended && at + 8 <= config.size() && hops < 1024; ++hops) {
    uint32_t header = word(at);
    if ((header & 0xffff) == identity)
      return word(at + 4) >> 16;
    at = header >> 20;
  }
  return std::nullopt;
}

namespace {
/// "0000:3b:00.0" is domain 0, bus 0x3b.
struct Place {
  unsigned domain = 0, bus = 0;
};
struct Bridge {
  std::string device;
  Place place;
  unsigned secondary = 0, subordinate = 0; ///< buses below it
  std::string config;

  bool above(Place other) const {
    return other.domain == place.domain && secondary && other.bus >= secondary && other.bus <= subordinate;
  }
  bool aboveAny(const std::vector<Place> &places) const {
    return std::any_of(places.begin(), places.end(), [&](Place p) { return above(p); });
  }
};
} // namespace

static Place placeOf(const std::string &device) {
  Place place;
  std::sscanf(device.c_str(), "%x:%x", &place.domain, &place.bus);
  return place;
}

static std::vector<Bridge> readBridges(Tree &tree) {
  std::vector<Bridge> bridges;
  for (const std::string &device : tree.list("/sys/bus/pci/devices")) {
    std::string folder = "/sys/bus/pci/devices/" + device + "/";
    if (tree.read(folder + "class").value_or("").rfind("0x0604", 0) != 0)
      continue;
    Bridge bridge{device, placeOf(device), 0, 0, tree.bytes(folder + "config").value_or("")};
    constexpr size_t secondaryBus = 0x19, subordinateBus = 0x1a; // PCI-to-PCI Bridge Architecture Specification, 3.2
    if (bridge.config.size() > subordinateBus) {
      bridge.secondary = static_cast<unsigned char>(bridge.config[secondaryBus]);
      bridge.subordinate = static_cast<unsigned char>(bridge.config[subordinateBus]);
    }
    bridges.push_back(std::move(bridge));
  }
  return bridges;
}

/// Those that stand between a GPU and a NIC which share a switch: below a bridge that is above both. Redirection elsewhere takes
/// nothing from them: between root ports all goes through the root complex anyway.
static std::vector<const Bridge *> bridgesBetween(const std::vector<Bridge> &bridges, const std::vector<Place> &gpus,
                                                  const std::vector<Place> &nics) {
  std::vector<const Bridge *> between;
  for (const Bridge &bridge : bridges)
    if ((bridge.aboveAny(gpus) || bridge.aboveAny(nics)) &&
        std::any_of(bridges.begin(), bridges.end(), [&](const Bridge &upper) {
          return upper.above(bridge.place) && upper.aboveAny(gpus) && upper.aboveAny(nics);
        }))
      between.push_back(&bridge);
  return between;
}

static void checkRedirects(const Patient &patient) {
  if (patient.ports.empty())
    return;
  constexpr unsigned redirects = 1 << 2 | 1 << 3; // of requests, of completions
  std::vector<Place> gpus, nics;
  for (const std::string &gpu : findGpus(patient.tree))
    gpus.push_back(placeOf(gpu));
  for (const Port &port : patient.ports)
    if (!port.pci.empty())
      nics.push_back(placeOf(port.pci));
  std::vector<Bridge> bridges = readBridges(patient.tree);
  std::vector<const Bridge *> between = bridgesBetween(bridges, gpus, nics);
  std::string redirecting, unread;
  for (const Bridge *bridge : between) {
    if (bridge->config.size() <= 256)
      unread += (unread.empty() ? "" : ", ") + bridge->device;
    if (std::optional<unsigned> control = accessControl(bridge->config); control && (*control & redirects))
      redirecting += (redirecting.empty() ? "" : " ") + bridge->device;
  }
  std::string count = std::to_string(between.size()) + " bridges between GPUs and NICs";
  if (!redirecting.empty())
    patient.add(
        Level::Problem, "acs", "PCI bridges", "of " + count + " these redirect peers' packets: " + redirecting,
        "no redirection where GPU and NIC share a switch",
        "for b in " + redirecting +
            "; do setpci -s $b ECAP_ACS+6.w=0; done; or ACS off in the firmware (not in hosts of virtual machines)",
        {178.3 / 358, {}, "busbw of 2 x 8 H100 before and after ACS and IOMMU were mended together, nccl#2409"});
  else if (!unread.empty())
    patient.add(Level::NotChecked, "acs", "PCI bridges", "the configuration space is cut to 256 B: " + unread,
                "all 4096 B", "run as root");
  else
    patient.add(Level::Ok, "acs", "PCI bridges", "none of " + count + " redirects peers' packets");
}

void checkPci(const Patient &patient) {
  for (const Port &port : patient.ports)
    if (port.active() && !port.pci.empty())
      checkSlot(patient, port);
  checkRedirects(patient);
}

} // namespace braid::doctor
