//===- Ports.h - the RDMA ports of a host, as /sys describes them --------------------------------------------*- C++ -*-===//
#ifndef BRAID_DOCTOR_PORTS_H
#define BRAID_DOCTOR_PORTS_H

#include "Tree.h"
#include "braid/cost_models/Units.h"

namespace braid::doctor {

struct Gid {
  int index;
  std::string address; ///< as /sys writes it: fe80:0000:...
  std::string type;    ///< "IB/RoCE v1", "RoCE v2"
  /// Of RoCE v2: an IPv4 address, or an IPv6 one that isn't of the link only.
  bool routable() const;
};

struct Port {
  std::string device; ///< "mlx5_0"
  int number = 1;
  std::string state, physicalState; ///< "ACTIVE", "LinkUp"
  std::string rateText;             ///< "400 Gb/sec (4X NDR)"
  cost::BytesPerSecond rate;        ///< 0: unknown
  std::string linkLayer;            ///< "InfiniBand", "Ethernet"; others are reached by libraries of their own
  bool ethernet = false;
  std::string netDevice; ///< of Ethernet: "eth0"; "" none
  std::string pci;       ///< "0000:3b:00.0"; "" a device without hardware
  std::string firmware, model;
  std::vector<Gid> gids; ///< those that are set

  std::string name() const { return device + "/" + std::to_string(number); }
  std::string folder() const { return "/sys/class/infiniband/" + device + "/ports/" + std::to_string(number); }
  bool active() const { return state == "ACTIVE"; }
};

/// All ports of all devices, in the order of names; with `only`, those that NCCL_IB_HCA names in its spelling: prefixes of
/// DEVICE[:PORT] with commas, "=" before them for whole names, "^" for all others.
std::vector<Port> readPorts(Tree &tree, const std::string &only);

/// The list of the job's environment: BRAID_IB_HCA, which goes before NCCL_IB_HCA; "": all ports.
std::string namedPorts(Tree &tree);

/// The value of a line "NAME: VALUE", "NAME=VALUE" or "NAME VALUE" of a text, blanks around it cut off; "" none.
std::string valueOf(const std::string &text, const std::string &name);

/// The number that a text begins with, "400 Gb/sec"; 0 if there is none that a counter or a rate could be.
double numberOf(const std::string &text);

} // namespace braid::doctor

#endif
