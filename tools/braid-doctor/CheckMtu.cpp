//===- CheckMtu.cpp - how large RDMA's packets are --------------------------------------------------------------------===//
//
// Payloads of RDMA packets are a power of two from 256 B to 4096 B. Over Ethernet it is the largest that fits into the interface's
// MTU beside 96 B of headers (include/rdma/ib_addr.h of the Linux kernel, iboe_get_mtu: GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28,
// ICRC 4): 1500 B give 1024 B, and 4096 B take 4192 B or more.
//
// On the wire a packet of RoCE v2 has 82 B besides: preamble and gap 20, Ethernet 14 and 4, IPv4 20, UDP 8, BTH 12, ICRC 4. So
// payloads of 1024 B get 1024 / 1106 = 92.6 % of the line rate, payloads of 4096 B 98.0 %.
//===------------------------------------------------------------------------------------------------------------===//
#include "Checks.h"
#include <cstdlib>

namespace braid::doctor {

static constexpr int largestPayload = 4096, headersReserved = 96, headersOnWire = 82;

static int payloadOf(int interfaceMtu) {
  int payload = largestPayload;
  while (payload > 256 && payload > interfaceMtu - headersReserved)
    payload /= 2;
  return payload;
}

static double efficiency(int payload) { return double(payload) / (payload + headersOnWire); }

static void tell(const Patient &patient, const Port &port, int payload, const std::string &why,
                 const std::string &fix) {
  std::string found = "RDMA packets of " + std::to_string(payload) + " B" + why;
  if (payload >= largestPayload)
    patient.add(Level::Ok, "mtu", port.name(), found);
  else
    patient.add(payload >= largestPayload / 2 ? Level::Warning : Level::Problem, "mtu", port.name(), found,
                std::to_string(largestPayload) + " B", fix,
                {efficiency(payload) / efficiency(largestPayload), {}, "headers of each packet"});
}

void checkMtu(const Patient &patient) {
  for (const Port &port : patient.ports) {
    if (!port.active())
      continue;
    std::string devinfo =
        patient.tree.command("ibv_devinfo-" + port.device, {"ibv_devinfo", "-v", "-d", port.device}).value_or("");
    if (int payload = std::atoi(valueOf(devinfo, "active_mtu").c_str()); payload > 0 && !port.ethernet) {
      tell(patient, port, payload, "", "set the MTU of the partition in the subnet manager (opensm: mtu=5)");
      continue;
    }
    std::string path = "/sys/class/net/" + port.netDevice + "/mtu";
    std::optional<std::string> mtu = port.netDevice.empty() ? std::nullopt : patient.tree.read(path);
    if (!mtu)
      patient.add(Level::NotChecked, "mtu", port.name(),
                  port.ethernet ? "no interface in /sys/class/net" : "ibv_devinfo doesn't tell it",
                  port.ethernet ? "the MTU of the interface" : "active_mtu",
                  port.ethernet ? "" : "install ibverbs-utils");
    else
      tell(patient, port, payloadOf(std::atoi(mtu->c_str())), " (" + port.netDevice + " has an MTU of " + *mtu + ")",
           "ip link set " + port.netDevice + " mtu 9000, and the same at the switch");
  }
}

} // namespace braid::doctor
