//===- NcclXml.cpp - the topology that NCCL found ---------------------------------------------------------------===//
//
// NCCL writes it with NCCL_TOPO_DUMP_FILE=topo.xml. Of its elements these matter here:
//
//   <gpu dev="0" sm="90" ...><nvlink target="..." count="18" .../></gpu>
//   <nic><net name="mlx5_0" dev="0" speed="400000" .../></nic>      speed in Mb/s
//   <cpu vendor="GenuineIntel" ...>
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Machine.h"
#include <boost/property_tree/xml_parser.hpp>

namespace braid::cost {

using Tree = boost::property_tree::ptree;

/// sm -> a device that has it, by the name that the data sheets use.
static std::string deviceOf(int sm) {
  switch (sm) {
  case 70:
    return "V100 (compute capability 7.0)";
  case 80:
    return "A100 (compute capability 8.0)";
  case 90:
    return "H100 (compute capability 9.0)";
  default:
    return "GPU of compute capability " + std::to_string(sm / 10) + "." + std::to_string(sm % 10);
  }
}

static void collect(const Tree &tree, Machine &machine) {
  for (const auto &[tag, child] : tree) {
    const Tree &none = tree.get_child("", tree);
    const Tree &attributes = child.count("<xmlattr>") ? child.get_child("<xmlattr>") : none;
    if (tag == "gpu") {
      Accelerator gpu;
      gpu.computeCapability = attributes.get("sm", 0);
      gpu.name = deviceOf(gpu.computeCapability);
      for (const auto &[kind, link] : child)
        if (kind == "nvlink")
          gpu.nvlinks += link.get("<xmlattr>.count", 1);
      machine.accelerators.push_back(gpu);
    } else if (tag == "net") {
      NetworkCard card;
      card.name = attributes.get("name", std::string("net"));
      card.bitsPerSecond = attributes.get("speed", 0.0) * 1e6;
      card.kind = card.name.compare(0, 3, "mlx") == 0 ? NetworkCard::InfiniBand : NetworkCard::Ethernet;
      machine.cards.push_back(card);
    } else if (tag == "cpu" && machine.cpu.empty()) {
      std::string vendor = attributes.get("vendor", std::string());
      machine.cpu = vendor == "GenuineIntel" ? "Intel" : vendor == "AuthenticAMD" ? "AMD" : vendor;
    }
    collect(child, machine);
  }
}

std::string readNcclXml(const std::string &path, Machine &machine) {
  Tree tree;
  try {
    boost::property_tree::read_xml(path, tree);
  } catch (const boost::property_tree::xml_parser_error &error) {
    return path + ": expected XML of NCCL (NCCL_TOPO_DUMP_FILE), got: " + error.message() +
           (error.line() ? " in line " + std::to_string(error.line()) : std::string());
  }
  if (!tree.count("system"))
    return path + ": expected XML of NCCL with a <system>, got none";
  machine.name = "from-nccl";
  machine.source = "converted from NCCL's XML";
  try {
    collect(tree, machine);
  } catch (const boost::property_tree::ptree_error &error) {
    return path + ": expected XML of NCCL, got: " + error.what();
  }
  return machine.accelerators.empty() ? path + ": expected at least one <gpu>, got none" : "";
}

} // namespace braid::cost
