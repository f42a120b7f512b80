//===- Ports.cpp - the RDMA ports of a host, as /sys describes them ---------------------------------------------------===//
//
// Files: Documentation/ABI/stable/sysfs-class-infiniband of the Linux kernel.
//===------------------------------------------------------------------------------------------------------------===//
#include "Ports.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace braid::doctor {

bool Gid::routable() const { return type == "RoCE v2" && address.rfind("fe80", 0) != 0; }

std::string valueOf(const std::string &text, const std::string &name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t from = line.find_first_not_of(" \t");
    if (from == std::string::npos || line.compare(from, name.size(), name) != 0)
      continue;
    size_t end = from + name.size();
    if (end < line.size() && !std::strchr(": \t=", line[end]))
      continue;
    size_t value = line.find_first_not_of(": \t=", end);
    return value == std::string::npos ? "" : line.substr(value, line.find_last_not_of(" \t\r") + 1 - value);
  }
  return "";
}

double numberOf(const std::string &text) {
  double number = std::strtod(text.c_str(), nullptr);
  return std::isfinite(number) && number > 0 ? number : 0;
}

/// "4: ACTIVE" is "ACTIVE".
static std::string afterColon(const std::string &text) {
  size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

static std::vector<Gid> readGids(Tree &tree, const std::string &folder) {
  std::vector<Gid> gids;
  for (const std::string &index : tree.list(folder + "/gids")) {
    if (tree.peek(folder + "/gids/" + index).value_or("").find_first_not_of("0:\n") == std::string::npos)
      continue; // not set, as most of a thousand
    std::string address = tree.read(folder + "/gids/" + index).value_or("");
    std::string type = tree.read(folder + "/gid_attrs/types/" + index).value_or("");
    gids.push_back({std::atoi(index.c_str()), address, type});
  }
  std::sort(gids.begin(), gids.end(), [](const Gid &a, const Gid &b) { return a.index < b.index; });
  return gids;
}

/// Whether the list of NCCL_IB_HCA names a port.
static bool isNamed(const Port &port, std::string list) {
  bool others = !list.empty() && list[0] == '^';
  list.erase(0, others);
  bool whole = !list.empty() && list[0] == '=';
  list.erase(0, whole);
  std::istringstream names(list);
  bool named = false;
  for (std::string name; std::getline(names, name, ',');) {
    size_t colon = name.find(':');
    std::string device = name.substr(0, colon);
    bool samePort = colon == std::string::npos || std::atoi(name.c_str() + colon + 1) == port.number;
    named |= samePort && (whole ? port.device == device : port.device.rfind(device, 0) == 0);
  }
  return named != others;
}

std::string namedPorts(Tree &tree) {
  for (const char *name : {"BRAID_IB_HCA", "NCCL_IB_HCA"})
    if (std::string list = tree.variable(name).value_or(""); !list.empty())
      return list;
  return "";
}

std::vector<Port> readPorts(Tree &tree, const std::string &only) {
  std::vector<Port> ports;
  for (const std::string &device : tree.list("/sys/class/infiniband"))
    for (const std::string &number : tree.list("/sys/class/infiniband/" + device + "/ports")) {
      if (number.find_first_not_of("0123456789") != std::string::npos)
        continue;
      Port port;
      port.device = device;
      port.number = std::atoi(number.c_str());
      if (!only.empty() && !isNamed(port, only))
        continue;
      std::string folder = port.folder(), home = "/sys/class/infiniband/" + device;
      port.state = afterColon(tree.read(folder + "/state").value_or("unknown"));
      port.physicalState = afterColon(tree.read(folder + "/phys_state").value_or("unknown"));
      port.rateText = tree.read(folder + "/rate").value_or("");
      port.rate = {numberOf(port.rateText) * 1e9 / 8};
      port.linkLayer = tree.read(folder + "/link_layer").value_or("unknown");
      port.ethernet = port.linkLayer == "Ethernet";
      port.gids = readGids(tree, folder);
      for (const Gid &gid : port.gids)
        if (port.netDevice.empty())
          port.netDevice = tree.read(folder + "/gid_attrs/ndevs/" + std::to_string(gid.index)).value_or("");
      port.pci = valueOf(tree.read(home + "/device/uevent").value_or(""), "PCI_SLOT_NAME");
      port.firmware = tree.read(home + "/fw_ver").value_or("");
      port.model = tree.read(home + "/hca_type").value_or("");
      ports.push_back(std::move(port));
    }
  return ports;
}

} // namespace braid::doctor
