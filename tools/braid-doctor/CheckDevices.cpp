//===- CheckDevices.cpp - limits of the devices, and what they have counted so far -------------------------------------===//
#include "Checks.h"
#include "Counters.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace braid::doctor {

void checkQueuePairs(const Patient &patient) {
  const cost::Cluster &c = patient.cluster;
  int asked = std::atoi(patient.tree.variable("NCCL_IB_QPS_PER_CONNECTION").value_or("1").c_str());
  int nics = std::max(1, c.nicsPerHost), sharing = (c.devicesPerHost + nics - 1) / nics;
  // Where every rank talks to every rank of other hosts (all_to_all), each way a connection of its own.
  long long needed = 2LL * sharing * std::max(0, c.ranks() - c.devicesPerHost) * std::max(1, asked);
  std::string last;
  for (const Port &port : patient.ports) {
    if (!port.active() || port.device == last)
      continue;
    last = port.device;
    std::string devinfo =
        patient.tree.command("ibv_devinfo-" + port.device, {"ibv_devinfo", "-v", "-d", port.device}).value_or("");
    long long limit = std::atoll(valueOf(devinfo, "max_qp").c_str());
    std::string need = std::to_string(needed) + " for an all_to_all of the " + std::to_string(c.ranks()) +
                       " devices of " + c.name + " with " + std::to_string(std::max(1, asked)) + " a connection";
    if (limit <= 0)
      patient.add(Level::NotChecked, "qps", port.device, "ibv_devinfo doesn't tell max_qp", need,
                  "install ibverbs-utils");
    else if (limit < needed) {
      patient.add(Level::Problem, "qps", port.device, std::to_string(limit) + " queue pairs", need,
                  "a smaller NCCL_IB_QPS_PER_CONNECTION, or more of them by the driver's or firmware's setting");
      patient.findings.back().unpriced = "connections beyond it fail";
    } else
      patient.add(Level::Ok, "qps", port.device, std::to_string(limit) + " queue pairs, needed " + need);
  }
}

void checkManager(const Patient &patient) {
  if (patient.tree.variable("BRAID_IB_CM").value_or("") != "rdma_cm" || patient.ports.empty())
    return;
  // The character device of the module rdma_ucm, which udev names infiniband/rdma_cm.
  if (patient.tree.read("/sys/class/misc/rdma_cm/dev"))
    patient.add(Level::Ok, "rdma_cm", "host", "/dev/infiniband/rdma_cm");
  else {
    patient.add(Level::Problem, "rdma_cm", "host", "BRAID_IB_CM=rdma_cm, and no /dev/infiniband/rdma_cm",
                "the connection manager's device", "modprobe rdma_ucm; or leave BRAID_IB_CM at exchange");
    patient.findings.back().unpriced = "no job connects";
  }
}

void checkCounters(const Patient &patient) {
  constexpr double oftenLost = 1e-6, oftenSlowed = 1e-3; // of the packets
  for (const Port &port : patient.ports) {
    if (!port.active())
      continue;
    Counts counts = readCounts(patient.tree, port);
    if (patient.before)
      counts = grown(counts, readCounts(*patient.before, port));
    for (const Unknown &one : counts.unknown)
      patient.add(Level::NotChecked, "counters", port.name(), one.path + ": " + one.why);
    if (counts.packets <= 0) {
      if (counts.unknown.empty() || counts.unknown.front().path != "packets")
        patient.add(Level::NotChecked, "counters", port.name(), "no packets yet", "some traffic");
      continue;
    }
    bool good = true;
    std::string told;
    for (const auto &[counter, count] : counts.all) {
      char text[96];
      std::snprintf(text, sizeof text, ", %s %.0f", counter->name().c_str(), count);
      told += text;
      bool lost = counter->concern == Counter::Lost;
      if (count <= counts.packets * (lost ? oftenLost : oftenSlowed))
        continue;
      std::snprintf(text, sizeof text, " = %.0f, %.2g of the packets%s: ", count, count / counts.packets,
                    patient.before ? " in this run" : "");
      patient.add(Level::Warning, "counters", port.name(), counter->path + (text + std::string(counter->meaning)),
                  lost ? "next to none" : "few", counter->fix);
      good = false;
    }
    char count[64];
    std::snprintf(count, sizeof count, "in this run: %.0f packets", counts.packets);
    if (patient.before)
      patient.add(Level::Ok, "counters", port.name(), count + told);
    else if (good)
      patient.add(Level::Ok, "counters", port.name(), "next to no losses or retries since the host was started");
  }
}

} // namespace braid::doctor
