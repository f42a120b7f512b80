//===- CheckDevices.cpp - limits of the devices, and what they have counted so far -------------------------------------===//
#include "Checks.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

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

static double numberIn(Tree &tree, const std::string &path) { return numberOf(tree.read(path).value_or("")); }

/// Frames by which the link's other end has stopped this one: rx_prio3_pause of mlx5, rx_pause of others, as `ethtool -S` has them.
static double pauses(Tree &tree, const Port &port) {
  std::string interface = tree.read(port.folder() + "/gid_attrs/ndevs/0").value_or("");
  if (interface.empty())
    return 0;
  std::istringstream lines(tree.command("ethtool-" + interface, {"ethtool", "-S", interface}).value_or(""));
  double all = 0;
  for (std::string line; std::getline(lines, line);) {
    size_t from = line.find_first_not_of(" \t"), colon = line.find(':');
    std::string name = from < colon && colon != std::string::npos ? line.substr(from, colon - from) : "";
    if (name.compare(0, 3, "rx_") == 0 && name.size() > 6 && name.compare(name.size() - 6, 6, "_pause") == 0)
      all += std::strtod(line.c_str() + colon + 1, nullptr);
  }
  return all;
}

void checkCounters(const Patient &patient) {
  constexpr double oftenLost = 1e-6, oftenSlowed = 1e-3; // of the packets
  for (const Port &port : patient.ports) {
    if (!port.active())
      continue;
    auto grown = [&](const std::string &path) {
      std::string file = port.folder() + "/" + path;
      double now = numberIn(patient.tree, file);
      return patient.before ? now - numberIn(*patient.before, file) : now;
    };
    double packets = grown("counters/port_xmit_packets") + grown("counters/port_rcv_packets");
    if (packets <= 0) {
      patient.add(Level::NotChecked, "counters", port.name(),
                  packets < 0 ? "the record is of another start of the host, or newer" : "no packets yet",
                  "some traffic");
      continue;
    }
    bool good = true;
    std::string told;
    auto look = [&](const Counter &counter, double count, double often) {
      char text[96];
      std::string name = counter.path;
      std::snprintf(text, sizeof text, ", %s %.0f", name.substr(name.find('/') + 1).c_str(), count);
      told += text;
      if (count <= packets * often)
        return;
      std::snprintf(text, sizeof text, " = %.0f, %.2g of the packets%s: ", count, count / packets,
                    patient.before ? " in this run" : "");
      patient.add(Level::Warning, "counters", port.name(), name + text + counter.meaning,
                  often == oftenLost ? "next to none" : "few", counter.fix);
      good = false;
    };
    for (const Counter &counter : lost)
      look(counter, grown(counter.path), oftenLost);
    for (const Counter &counter : slowed)
      look(counter, grown(counter.path), oftenSlowed);
    const Counter paused = {"pauses", "the switch stopped this port", "its flows meet others: see the plan's paths"};
    look(paused, pauses(patient.tree, port) - (patient.before ? pauses(*patient.before, port) : 0), oftenSlowed);
    char count[64];
    std::snprintf(count, sizeof count, "in this run: %.0f packets", packets);
    if (patient.before)
      patient.add(Level::Ok, "counters", port.name(), count + told);
    else if (good)
      patient.add(Level::Ok, "counters", port.name(), "next to no losses or retries since the host was started");
  }
}

} // namespace braid::doctor
