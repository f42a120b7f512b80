//===- Convert.cpp - braid-topo convert: other tools' topologies as cluster files -------------------------------===//
#include "../command/Command.h"
#include "Hwloc.h"
#include "Subcommands.h"
#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

namespace braid::topo {

int runConvert(int argc, char **argv) {
  cl::OptionCategory category("braid-topo convert");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<file>"), cl::cat(category));
  cl::opt<std::string> from("from", cl::Required, cl::desc("nccl-xml, hwloc-xml; required"), cl::cat(category));
  cl::opt<int> hosts("hosts", cl::init(1), cl::desc("equal hosts in the cluster; default: 1"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "a topology of NCCL or hwloc as a cluster file\n");
  if (hosts < 1 || hosts > 1 << 17)
    return fail("--hosts: expected 1 to 131072, got " + std::to_string(hosts));
  if (std::string error = command::checkOutputs({{"-o", output}}, {{"the input", input}}); !error.empty())
    return fail(error);
  cost::Machine machine;
  std::string error = from == "nccl-xml"    ? cost::readNcclXml(input, machine)
                      : from == "hwloc-xml" ? readHwlocXml(input, machine)
                                            : "--from: expected nccl-xml or hwloc-xml, got \"" + from + "\"";
  return error.empty() ? write(output, cost::clusterFile(machine, hosts)) : fail(error);
}

} // namespace braid::topo
