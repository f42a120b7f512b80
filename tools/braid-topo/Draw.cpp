//===- Draw.cpp - braid-topo validate and draw ------------------------------------------------------------------===//
#include "../braid-sim/Png.h"
#include "../command/ClusterInputs.h"
#include "Subcommands.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace cl = llvm::cl;
namespace cost = ::braid::cost;

int braid::topo::runDraw(int argc, char **argv) {
  cl::OptionCategory category("braid-topo draw");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<cluster file>"), cl::cat(category));
  cl::opt<std::string> format("format", cl::desc("svg, png, dot; default: as OUT ends, else svg"), cl::cat(category));
  cl::opt<int> hosts("hosts", cl::init(8), cl::desc("svg, png: hosts drawn at most"), cl::cat(category));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "a cluster as SVG, as PNG or as Graphviz text\n");
  if (format.empty()) {
    llvm::StringRef path = output;
    format = drawing::isPng(output) ? "png" : path.ends_with(".dot") || path.ends_with(".gv") ? "dot" : "svg";
  }
  if (format != "svg" && format != "png" && format != "dot")
    return fail("--format: expected svg, png or dot, got \"" + format + "\"");
  if (hosts < 2)
    return fail("--hosts: expected at least 2, got " + std::to_string(hosts));
  if (std::string error = command::checkOutputs({{"-o", output}}, command::clusterInputs("the cluster file", input));
      !error.empty())
    return fail(error);
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
  if (c.nics() > 0) {
    os << "bandwidth  NICs " << cost::toString(upwards(*topology, cost::Topology::Level::Nic));
    if (switches[cost::Topology::VertexKind::Spine])
      os << ", leaves to spines " << cost::toString(upwards(*topology, cost::Topology::Level::Spine));
    if (switches[cost::Topology::VertexKind::Core])
      os << ", spines to cores " << cost::toString(upwards(*topology, cost::Topology::Level::Core));
    os << "\n";
  }
  os << "assumed    " << c.assumptions.size() << " constants\n";
  for (const std::string &assumption : c.assumptions)
    os << "           " << assumption << "\n";
  return 0;
}
