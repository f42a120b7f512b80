//===- CheckLossless.cpp - which queue RDMA's packets take: traffic class, DSCP, PFC, ECN -----------------------------===//
//
// A RoCE job's packets carry a DSCP (its traffic class / 4), by which the NIC and each switch choose one of eight priorities.
// RDMA expects a priority that loses nothing: PFC pauses it before a buffer is full, and ECN marks packets long before that, so that
// senders slow down (DCQCN). Each of the four may be set up and still not meet the others; traffic flows all the same.
//
// Read from: qos/trust and ecn/roce_{np,rp}/enable of the interface and tc/N/traffic_class of the device (drivers of NVIDIA's
// OFED), PFC and the map of DSCPs from dcb(8) or mlnx_qos.
//===------------------------------------------------------------------------------------------------------------===//
#include "Checks.h"
#include <array>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace braid::doctor {

namespace {
struct Queues {
  std::optional<std::array<bool, 8>> paused; ///< by PFC
  std::array<int, 64> priorityOf;            ///< by DSCP
  std::string trust;                         ///< "dscp", "pcp", "" unknown
};
} // namespace

/// "prio-pfc 0:off 1:off 2:off 3:on ..." of dcb, or the row "enabled 0 0 0 1 ..." of mlnx_qos.
static std::optional<std::array<bool, 8>> readPfc(const std::string &text) {
  std::array<bool, 8> on{};
  if (std::string row = valueOf(text, "prio-pfc"); !row.empty()) {
    std::istringstream words(row);
    for (std::string word; words >> word;)
      if (word.size() > 2 && word[0] >= '0' && word[0] <= '7')
        on[size_t(word[0] - '0')] = word.substr(2) == "on";
    return on;
  }
  if (std::string row = valueOf(text, "enabled"); !row.empty()) {
    std::istringstream words(row);
    for (bool &priority : on) {
      int value = 0;
      if (!(words >> value))
        return std::nullopt;
      priority = value != 0;
    }
    return on;
  }
  return std::nullopt;
}

/// "dscp-prio CS3:3 26:3 ..." of dcb -N (numbers), or rows "prio:3 dscp:31,30,..." of mlnx_qos. Without any, DSCP / 8.
static std::array<int, 64> readDscps(const std::string &text) {
  std::array<int, 64> priorities;
  for (int dscp = 0; dscp < 64; ++dscp)
    priorities[size_t(dscp)] = dscp / 8;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "dscp-prio")
      for (std::string word; words >> word;) {
        size_t colon = word.find(':');
        int dscp = std::atoi(word.c_str());
        if (colon != std::string::npos && std::isdigit(static_cast<unsigned char>(word[0])) && dscp >= 0 && dscp < 64)
          priorities[size_t(dscp)] = std::atoi(word.c_str() + colon + 1) & 7;
      }
    std::string list;
    if (first.rfind("prio:", 0) == 0 && words >> list && list.rfind("dscp:", 0) == 0) {
      std::istringstream dscps(list.substr(5));
      for (std::string dscp; std::getline(dscps, dscp, ',');)
        if (int value = std::atoi(dscp.c_str()); !dscp.empty() && value >= 0 && value < 64)
          priorities[size_t(value)] = std::atoi(first.c_str() + 5) & 7;
    }
  }
  return priorities;
}

static Queues readQueues(Tree &tree, const std::string &interface) {
  std::string dcb = tree.command("dcb-pfc-" + interface, {"dcb", "pfc", "show", "dev", interface}).value_or("");
  dcb += "\n" + tree.command("dcb-app-" + interface, {"dcb", "-N", "app", "show", "dev", interface}).value_or("");
  std::string qos;
  if (!readPfc(dcb))
    qos = tree.command("mlnx_qos-" + interface, {"mlnx_qos", "-i", interface}).value_or("");
  Queues queues;
  queues.paused = readPfc(dcb + "\n" + qos);
  queues.priorityOf = readDscps(dcb + "\n" + qos);
  queues.trust = tree.read("/sys/class/net/" + interface + "/qos/trust").value_or(valueOf(qos, "Priority trust state"));
  return queues;
}

/// The traffic class of the job's packets, and who says so.
static std::pair<int, std::string> trafficClass(Tree &tree, const Port &port) {
  std::string path = "/sys/class/infiniband/" + port.device + "/tc/" + std::to_string(port.number) + "/traffic_class";
  std::string forced = tree.read(path).value_or(""); // "Global tclass=106": overrides what applications ask for
  if (size_t equals = forced.find("tclass="); equals != std::string::npos)
    return {std::atoi(forced.c_str() + equals + 7), "set for the device"};
  if (std::optional<std::string> asked = tree.variable("NCCL_IB_TC"))
    return {std::atoi(asked->c_str()), "NCCL_IB_TC"};
  return {0, "the default"};
}

/// Of a port whose congestion control is not at work: as clusters/h100-roce-untuned-16x8.yaml has it.
static Changes frequentPauses() {
  return {1,
          {{"inter.profile.bulk_mean", "0.3"}, {"inter.profile.pause_probability", "0.005"}},
          "the pauses of an untuned fabric, cost_models/clusters/h100-roce-untuned-16x8.yaml"};
}

static void checkEcn(const Patient &patient, const Port &port, int priority) {
  std::string off;
  bool known = false;
  for (const char *role : {"roce_np", "roce_rp"}) {
    std::optional<std::string> enabled =
        patient.tree.read("/sys/class/net/" + port.netDevice + "/ecn/" + role + "/enable/" + std::to_string(priority));
    known |= enabled.has_value();
    if (enabled && *enabled == "0")
      off += (off.empty() ? "" : " and ") + std::string(role);
  }
  std::string where = " on priority " + std::to_string(priority);
  if (!known)
    patient.add(Level::NotChecked, "ecn", port.name(), "no ecn/ in /sys/class/net/" + port.netDevice,
                "the switches of congestion control (drivers of NVIDIA's OFED)");
  else if (off.empty())
    patient.add(Level::Ok, "ecn", port.name(), "congestion control is on" + where);
  else
    patient.add(Level::Problem, "ecn", port.name(), off + " off" + where,
                "both on: senders slow down before PFC pauses",
                "echo 1 > /sys/class/net/" + port.netDevice + "/ecn/roce_{np,rp}/enable/" + std::to_string(priority),
                frequentPauses());
}

void checkLossless(const Patient &patient) {
  for (const Port &port : patient.ports) {
    if (!port.ethernet || !port.active())
      continue;
    if (port.netDevice.empty()) {
      patient.add(Level::NotChecked, "lossless", port.name(), "no interface in /sys", "one");
      continue;
    }
    Queues queues = readQueues(patient.tree, port.netDevice);
    auto [tc, whose] = trafficClass(patient.tree, port);
    int dscp = (tc >> 2) & 63, priority = queues.priorityOf[size_t(dscp)];
    std::string packets = "traffic class " + std::to_string(tc) + " (" + whose + ", DSCP " + std::to_string(dscp) + ")";
    if (queues.trust == "pcp") {
      patient.add(Level::Problem, "lossless", port.name(),
                  "the NIC trusts PCP, which packets without a VLAN don't have", "trust of DSCP",
                  "mlnx_qos -i " + port.netDevice + " --trust dscp");
      patient.findings.back().unpriced = "packets are lost under load; the model loses none";
      priority = 0;
    }
    std::string goes = packets + " takes priority " + std::to_string(priority);
    if (!queues.paused) {
      patient.add(Level::NotChecked, "lossless", port.name(), "neither dcb nor mlnx_qos tells PFC of " + port.netDevice,
                  "PFC by priority", "install iproute2 or NVIDIA's OFED; or the driver has no PFC");
    } else if ((*queues.paused)[size_t(priority)]) {
      patient.add(Level::Ok, "lossless", port.name(), goes + ", which PFC keeps from losing packets");
    } else {
      int other = 0;
      while (other < 8 && !(*queues.paused)[size_t(other)])
        ++other;
      int better = 0; // a DSCP of that priority, the customary one if it is
      while (better < 64 && queues.priorityOf[size_t(better)] != other)
        ++better;
      constexpr int customary = 26;
      if (other < 8 && queues.priorityOf[customary] == other)
        better = customary;
      std::string advice = other == 8     ? "mlnx_qos -i " + port.netDevice +
                                                " --pfc 0,0,0,1,0,0,0,0 (and the same at the switches), with "
                                                "NCCL_IB_TC=106"
                           : better == 64 ? "map a DSCP to priority " + std::to_string(other) + " (dcb app add dev " +
                                                port.netDevice + " dscp-prio 26:" + std::to_string(other) + ")"
                                          : "NCCL_IB_TC=" + std::to_string(better << 2 | 2) + " (DSCP " +
                                                std::to_string(better) + ", packets that ECN may mark)";
      patient.add(Level::Problem, "lossless", port.name(),
                  goes + ", which has no PFC" +
                      (other == 8 ? "; no priority has" : "; priority " + std::to_string(other) + " has"),
                  "a priority with PFC", advice);
      patient.findings.back().unpriced = "packets are lost under load; the model loses none";
    }
    checkEcn(patient, port, priority);
  }
}

} // namespace braid::doctor
