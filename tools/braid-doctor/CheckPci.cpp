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
#include <cstdint>
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
  auto number = [&](const char *file) {
    return std::strtod(patient.tree.read(folder + file).value_or("").c_str(), nullptr);
  };
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
  cost::BytesPerSecond bandwidth = bandwidthOf(speed, lanes);
  std::string found = describe(speed, lanes) + ", " + cost::toString(bandwidth);
  bool narrowed = lanes < widest || speed < fastest;
  if (bandwidth < port.rate)
    patient.add(Level::Problem, "pcie", port.name(), found + " for a port of " + cost::toString(port.rate),
                narrowed ? describe(fastest, widest) : "a slot as fast as the port",
                narrowed ? "reseat the card, check the slot's wiring and its settings in the firmware"
                         : "another slot, or count on the slot's bandwidth (inter.bandwidth)",
                {bandwidth.value / port.rate.value, {}, "the slot is the slowest link"});
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

static void checkRedirects(const Patient &patient) {
  constexpr unsigned redirects = 1 << 2 | 1 << 3; // of requests, of completions
  std::string on, unread;
  int bridges = 0, redirecting = 0;
  for (const std::string &device : patient.tree.list("/sys/bus/pci/devices")) {
    std::string folder = "/sys/bus/pci/devices/" + device + "/";
    if (patient.tree.read(folder + "class").value_or("").rfind("0x0604", 0) != 0)
      continue;
    ++bridges;
    std::string config = patient.tree.bytes(folder + "config").value_or("");
    if (config.size() <= 256 && unread.empty())
      unread = device;
    if (std::optional<unsigned> control = accessControl(config); control && (*control & redirects)) {
      on += redirecting < 4 ? (on.empty() ? "" : ", ") + device : redirecting == 4 ? ", ..." : "";
      ++redirecting;
    }
  }
  if (redirecting)
    patient.add(
        Level::Problem, "acs", "PCI bridges",
        "peers' packets are redirected by " + std::to_string(redirecting) + " of " + std::to_string(bridges) + ": " +
            on,
        "no redirection where GPU and NIC share a switch",
        "setpci -s BRIDGE ECAP_ACS+6.w=0 for each, or ACS off in the firmware (not in hosts of virtual machines)",
        {178.3 / 358, {}, "busbw of 2 x 8 H100 before and after ACS and IOMMU were mended together, nccl#2409"});
  else if (!unread.empty())
    patient.add(Level::NotChecked, "acs", "PCI bridges", "the configuration space of " + unread + " is cut to 256 B",
                "all 4096 B", "run as root");
  else
    patient.add(Level::Ok, "acs", "PCI bridges",
                bridges ? "none of " + std::to_string(bridges) + " redirects peers' packets" : "none");
}

void checkPci(const Patient &patient) {
  for (const Port &port : patient.ports)
    if (port.active() && !port.pci.empty())
      checkSlot(patient, port);
  checkRedirects(patient);
}

} // namespace braid::doctor
