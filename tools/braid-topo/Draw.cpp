//===- Draw.cpp - braid-topo validate and draw ------------------------------------------------------------------===//
#include "../braid-sim/Png.h"
#include "../command/ClusterInputs.h"
#include "Subcommands.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace cl = llvm::cl;
namespace cost = ::braid::cost;

int braid::topo::runDraw(int argc, char **argv) {
  cl::OptionCategory category("braid-topo draw");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<cluster file>"), cl::cat(category));
  cl::opt<std::string> format("format", cl::desc("svg, png, dot; default: as OUT ends, else svg"), cl::cat(category));
  cl::opt<int> hosts("hosts", cl::init(8), cl::desc("svg, png: hosts drawn at most; default: 8"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "a cluster as SVG, as PNG or as Graphviz text\n");
  llvm::StringRef ending = output == "-" ? "" : llvm::sys::path::extension(output);
  bool isDot = ending == ".dot" || ending == ".gv", isSvg = ending == ".svg", isPng = drawing::isPng(output);
  if (std::string error = command::checkOutputs({{"-o", output}}, command::clusterInputs("the cluster file", input));
      !error.empty())
    return fail(error);
  if (format.empty() && !ending.empty() && !isDot && !isSvg && !isPng)
    return fail("-o: expected a file .svg, .png, .dot or .gv, or --format, got \"" + output + "\"");
  if (format.empty())
    format = isPng ? "png" : isDot ? "dot" : "svg";
  if (format != "svg" && format != "png" && format != "dot")
    return fail("--format: expected svg, png or dot, got \"" + format + "\"");
  if (hosts < 2)
    return fail("--hosts: expected at least 2, got " + std::to_string(hosts));
  cost::Result<cost::Topology> topology = load(input);
  if (!topology)
    return fail(topology.error().text());
  if (format == "dot")
    return write(output, cost::drawDot(*topology));
  std::string svg = cost::drawSvg(*topology, hosts), png;
  if (format == "svg")
    return write(output, svg);
  std::string error = drawing::renderPng(svg, png);
  return error.empty() ? write(output, png) : fail("--format: " + error);
}

/// Sum of the bandwidths, one way, of the links of a level.
static cost::BytesPerSecond upwards(const cost::Topology &topology, cost::Topology::Level level) {
  double sum = 0;
  for (size_t i = 0; i < topology.links().size(); i += 2)
    if (topology.links()[i].level == level)
      sum += topology.links()[i].bandwidth.value;
  return {sum};
}

/// A line for each constant, with its origin.
static void printConstants(const std::vector<cost::ResolvedConstant> &constants, llvm::raw_ostream &os) {
  for (const cost::ResolvedConstant &constant : constants)
    os << llvm::format("           %-22s %-12s %s\n", constant.key.c_str(), constant.value.c_str(),
                       constant.origin.c_str());
}

/// The link classes as prices see them, and the calibrations.
static void printResolved(const cost::Cluster &c, llvm::raw_ostream &os) {
  for (auto [name, link, what] :
       {std::make_tuple("intra", &c.intra, "inside a host"), std::make_tuple("inter", &c.inter, "between hosts"),
        std::make_tuple("host_link", &c.hostLink, "device to NIC")}) {
    os << llvm::format("%-10s ", name) << what << ": " << link->name;
    if (llvm::StringRef(name) != "host_link")
      os << ", fabric " << link->profile.name;
    os << "\n";
    printConstants(cost::resolved(c, name), os);
  }
  if (std::vector<cost::ResolvedConstant> constants = cost::resolvedCompute(c); !constants.empty()) {
    os << "compute    how ranks' computation differs, and what communication takes from it\n";
    printConstants(constants, os);
  }
  for (auto [model, who] :
       {std::make_pair("nccl", "prices of engine nccl come from it"),
        std::make_pair("messages", "braid-bench probe re-bases it; no price of braid-sim comes from it")})
    if (std::vector<cost::ResolvedConstant> constants = cost::resolvedCalibration(c, model); !constants.empty()) {
      os << "calibrated " << model << ": " << constants.size() << " constants; " << who << "\n";
      printConstants(constants, os);
    }
  if (c.ncclFit.empty() && c.messageFit.empty())
    os << "calibrated nothing (braid-bench fit writes a calibration)\n";
}

int braid::topo::runValidate(int argc, char **argv) {
  cl::OptionCategory category("braid-topo validate");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<cluster file>"), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "check a cluster file; sizes, bisection, what rests on assumptions\n");
  cost::Result<cost::Topology> topology = load(input);
  if (!topology)
    return fail(topology.error().text());
  const cost::Cluster &c = topology->cluster();
  if (c.nics() > 0 && !topology->connected())
    return fail(input + ": expected every device to reach every other, got a fabric in parts");
  if (!c.unreachableNccl.empty())
    return fail(c.unreachableNccl);
  if (!c.staleNccl.empty())
    llvm::errs() << "warning: " << c.staleNccl << "\n";
  llvm::raw_ostream &os = llvm::outs();
  os << "cluster    " << c.name << " (hash " << c.hash << ")\n";
  if (c.groups.empty())
    os << "hosts      " << c.hosts << " x " << c.devicesPerHost << " " << c.device.name << ", " << c.nicsPerHost
       << " NICs\n";
  for (const cost::HostGroup &group : c.groups)
    os << "hosts      " << group.hosts << " x " << group.devicesPerHost << " " << group.device.name << ", "
       << group.nicsPerHost << " NICs\n";
  os << "devices    " << c.ranks() << "\n";
  std::map<cost::Topology::VertexKind, int> switches;
  for (const cost::Topology::Vertex &vertex : topology->vertices())
    ++switches[vertex.kind];
  os << "topology   " << c.topology << ": " << switches[cost::Topology::VertexKind::Leaf] << " leaves, "
     << switches[cost::Topology::VertexKind::Spine] << " spines, " << switches[cost::Topology::VertexKind::Core]
     << " cores" << (c.planes > 1 ? ", in " + std::to_string(c.planes) + " planes" : std::string()) << "; routing "
     << (c.routing == cost::Routing::Static ? "static"
         : c.routing == cost::Routing::Hash ? "hash"
                                            : "shared_hash")
     << "\n";
  if (c.topology != "single_switch") {
    os << "           " << c.hostsPerLeaf << " hosts on a leaf, oversubscription "
       << llvm::format("%g", c.oversubscription) << ", spine latency " << cost::toString(c.spineLatency);
    if (c.topology == "three_tier")
      os << "; " << c.leavesPerPod << " leaves in a pod, core oversubscription "
         << llvm::format("%g", c.coreOversubscription) << ", core latency " << cost::toString(c.coreLatency);
    os << "\n";
  }
  if (c.nics() > 0) {
    os << "bandwidth  NICs " << cost::toString(upwards(*topology, cost::Topology::Level::Nic));
    if (switches[cost::Topology::VertexKind::Spine])
      os << ", leaves to spines " << cost::toString(upwards(*topology, cost::Topology::Level::Spine));
    if (switches[cost::Topology::VertexKind::Core])
      os << ", spines to cores " << cost::toString(upwards(*topology, cost::Topology::Level::Core));
    os << "\n";
  }
  printResolved(c, os);
  os << "assumed    " << c.assumptions.size() << " constants\n";
  for (const std::string &assumption : c.assumptions)
    os << "           " << assumption << "\n";
  return 0;
}
