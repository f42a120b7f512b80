//===- Convert.cpp - braid-topo convert: other tools' topologies as cluster files -------------------------------===//
//
// NCCL writes what it found with NCCL_TOPO_DUMP_FILE=topo.xml. Of its elements these matter here:
//
//   <gpu dev="0" sm="90" ...><nvlink target="..." count="18" .../></gpu>
//   <nic><net name="mlx5_0" dev="0" speed="400000" .../></nic>      speed in Mb/s
//   <cpu vendor="GenuineIntel" ...>
//===------------------------------------------------------------------------------------------------------------===//
#include "Machine.h"
#include "Subcommands.h"
#include "llvm/Support/CommandLine.h"
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

namespace cl = llvm::cl;

namespace braid::topo {

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

int runConvert(int argc, char **argv) {
  cl::OptionCategory category("braid-topo convert");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<file>"), cl::cat(category));
  cl::opt<std::string> from("from", cl::Required, cl::desc("nccl-xml, hwloc-xml"), cl::cat(category));
  cl::opt<int> hosts("hosts", cl::init(1), cl::desc("equal hosts in the cluster"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "a topology of NCCL or hwloc as a cluster file\n");
  if (hosts < 1 || hosts > 1 << 17)
    return fail("--hosts: expected 1 to 131072, got " + std::to_string(hosts));
  Machine machine;
  std::string error = from == "nccl-xml"    ? readNcclXml(input, machine)
                      : from == "hwloc-xml" ? readHwlocXml(input, machine)
                                            : "--from: expected nccl-xml or hwloc-xml, got \"" + from + "\"";
  return error.empty() ? write(output, clusterFile(machine, hosts)) : fail(error);
}

} // namespace braid::topo
