//===- Machine.h - what is known of a host, and a cluster file of it --------------------------------------------===//
#ifndef BRAID_COST_MODELS_MACHINE_H
#define BRAID_COST_MODELS_MACHINE_H

#include <cstdint>
#include <string>
#include <vector>

namespace braid::cost {

struct Accelerator {
  std::string name;          ///< "NVIDIA H100 80GB HBM3"
  int64_t memory = 0;        ///< bytes; 0: not known
  int computeCapability = 0; ///< 90 for 9.0; 0: not known
  int nvlinks = 0;           ///< to other accelerators or switches
};

struct NetworkCard {
  std::string name;         ///< "mlx5_0", "eth0"
  double bitsPerSecond = 0; ///< 0: not known
  enum Kind { Ethernet, Roce, InfiniBand } kind = Ethernet;
};

struct Machine {
  std::string name;                      ///< of the host
  std::string source;                    ///< how all this is known
  std::string cpu;                       ///< "AMD EPYC ..."
  int cores = 0;                         ///< that this process may use
  int64_t memory = 0;                    ///< bytes
  double copyRate = 0;                   ///< bytes/s that one core copies; 0: not measured
  int vectorBits = 128;                  ///< widest arithmetic
  double clockHz = 0;                    ///< 0: not known
  std::vector<Accelerator> accelerators; ///< none: the cores are the devices
  std::vector<NetworkCard> cards;
};

/// A cluster file of `hosts` such hosts. What is not known is an assumption, and says so.
std::string clusterFile(const Machine &machine, int hosts);

/// Reads what NCCL wrote (NCCL_TOPO_DUMP_FILE). An error text, or empty.
std::string readNcclXml(const std::string &path, Machine &machine);

} // namespace braid::cost

#endif
