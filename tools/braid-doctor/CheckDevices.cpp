//===- CheckDevices.cpp - limits of the devices, and what they have counted so far -------------------------------------===//
#include "Checks.h"
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

namespace {
struct Counter {
  const char *path, *meaning, *fix;
};
} // namespace

/// Names and meanings: Documentation/ABI/stable/sysfs-class-infiniband of the Linux kernel; the vendor's for hw_counters.
static const Counter lost[] = {
    {"hw_counters/out_of_sequence",
     "packets came out of sequence: some were lost, or adaptive routing is on and the "
     "receiver not ready for it",
     "see lossless"},
    {"hw_counters/packet_seq_err", "peers missed packets of this port", "see lossless, at the peers too"},
    {"hw_counters/local_ack_timeout_err", "peers did not acknowledge in time", "see lossless; raise NCCL_IB_TIMEOUT"},
    {"hw_counters/rnr_nak_retry_err", "peers were not ready to receive",
     "software of the peers is late: check their load"},
    {"counters/port_xmit_discards", "packets were dropped before the wire", "see lossless"},
    {"counters/port_rcv_errors", "damaged packets came", "clean or replace cable and transceiver"},
    {"counters/symbol_error", "the cable garbles symbols", "clean or replace cable and transceiver"},
};
/// Of DCQCN: receivers that met marked packets tell senders to slow down (CNP).
static const Counter slowed[] = {
    {"hw_counters/np_cnp_sent", "senders to this port were told to slow down",
     "many flows meet here: see the plan's paths"},
    {"hw_counters/rp_cnp_handled", "this port was told to slow down", "its flows meet others: see the plan's paths"},
};

static double numberIn(Tree &tree, const std::string &path) {
  return std::strtod(tree.read(path).value_or("0").c_str(), nullptr);
}

void checkCounters(const Patient &patient) {
  constexpr double oftenLost = 1e-6, oftenSlowed = 1e-3; // of the packets so far
  for (const Port &port : patient.ports) {
    if (!port.active())
      continue;
    double packets = numberIn(patient.tree, port.folder() + "/counters/port_xmit_packets") +
                     numberIn(patient.tree, port.folder() + "/counters/port_rcv_packets");
    if (packets <= 0) {
      patient.add(Level::NotChecked, "counters", port.name(), "no packets yet", "some traffic");
      continue;
    }
    bool good = true;
    auto look = [&](const Counter &counter, double often) {
      double count = numberIn(patient.tree, port.folder() + "/" + counter.path);
      if (count <= packets * often)
        return;
      char share[64];
      std::snprintf(share, sizeof share, " = %.0f, %.2g of the packets: ", count, count / packets);
      patient.add(Level::Warning, "counters", port.name(), counter.path + std::string(share) + counter.meaning,
                  often == oftenLost ? "next to none" : "few", counter.fix);
      good = false;
    };
    for (const Counter &counter : lost)
      look(counter, oftenLost);
    for (const Counter &counter : slowed)
      look(counter, oftenSlowed);
    if (good)
      patient.add(Level::Ok, "counters", port.name(), "next to no losses or retries since the host was started");
  }
}

} // namespace braid::doctor
