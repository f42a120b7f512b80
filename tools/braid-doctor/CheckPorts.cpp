//===- CheckPorts.cpp - state, rate and firmware of the ports ----------------------------------------------------------===//
#include "Checks.h"
#include <algorithm>
#include <map>

namespace braid::doctor {

static void checkRate(const Patient &patient, const Port &port, cost::BytesPerSecond expected,
                      const std::string &whose) {
  if (port.rate.value == 0) {
    patient.add(Level::NotChecked, "rate", port.name(), "no rate in /sys", "a rate");
    return;
  }
  if (port.rate.value < expected.value * 0.99) // a rate is a whole number of Gb/s, or 2.5
    patient.add(Level::Problem, "rate", port.name(), port.rateText, cost::toString(expected) + " (" + whose + ")",
                "check cable, transceiver and the speed that the switch's port is set to (mlxlink -d " +
                    (port.pci.empty() ? port.device : port.pci) + ")",
                {port.rate.value / expected.value, {}, "a ring is as fast as its slowest link"});
  else
    patient.add(Level::Ok, "rate", port.name(), port.rateText);
}

/// A card that has fallen off its bus leaves no trace but that it is missing.
static void checkNumber(const Patient &patient) {
  int active = int(std::count_if(patient.ports.begin(), patient.ports.end(), [](const Port &p) { return p.active(); }));
  int expected = patient.cluster.nicsPerHost;
  if (!patient.clusterGiven || active >= expected || patient.ports.empty())
    return;
  patient.add(Level::Problem, "number", "host", std::to_string(active) + " ports that are active",
              std::to_string(expected) + " (nics_per_host of " + patient.cluster.name + ")",
              "lspci and dmesg tell of cards that are missing; or NCCL_IB_HCA leaves ports out",
              {std::max(1, active) / double(expected), {}, "what is left carries all"});
}

void checkPorts(const Patient &patient) {
  checkNumber(patient);
  cost::BytesPerSecond fastest{0};
  std::map<std::string, std::map<std::string, std::string>> firmware; // model -> version -> devices
  for (const Port &port : patient.ports) {
    if (port.active())
      fastest = std::max(fastest, port.rate);
    if (!port.firmware.empty() && port.number == 1) {
      std::string &devices = firmware[port.model][port.firmware];
      devices += (devices.empty() ? "" : ", ") + port.device;
    }
  }
  for (const Port &port : patient.ports) {
    if (!port.active()) {
      patient.add(Level::Problem, "state", port.name(), port.state + ", " + port.physicalState, "ACTIVE, LinkUp",
                  port.ethernet ? "ip link set " + (port.netDevice.empty() ? "its interface" : port.netDevice) +
                                      " up; check the cable; or leave the port out (NCCL_IB_HCA)"
                  : port.state == "INIT" ? "no subnet manager has set the port up: start opensm, or the switch's"
                                         : "check the cable; or leave the port out (NCCL_IB_HCA)");
      continue;
    }
    patient.add(Level::Ok, "state", port.name(), port.state + ", " + port.physicalState);
    if (patient.clusterGiven)
      checkRate(patient, port, patient.cluster.inter.bandwidth, "inter.bandwidth of " + patient.cluster.name);
    else
      checkRate(patient, port, fastest, "the fastest port of this host");
  }
  for (const auto &[model, versions] : firmware) {
    if (versions.size() < 2)
      continue;
    std::string found;
    for (const auto &[version, devices] : versions)
      found += (found.empty() ? "" : "; ") + version + " on " + devices;
    patient.add(Level::Warning, "firmware", model, found, "one version on equal devices",
                "bring them to one version: defaults of congestion control differ between versions");
  }
}

} // namespace braid::doctor
