//===- main.cpp - braid-topo: finds, draws, checks and converts clusters ----------------------------------------===//
//
// A table of subcommands; each has a file of its own.
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "Subcommands.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace braid::topo;
namespace cost = braid::cost;

int braid::topo::fail(const std::string &text) {
  llvm::errs() << "error: " << text << "\n";
  return 1;
}

int braid::topo::write(const std::string &path, const std::string &text) {
  if (path == "-") {
    llvm::outs() << text;
    return 0;
  }
  std::string error = command::writeFile(path, text);
  return error.empty() ? 0 : fail(error);
}

cost::Result<cost::Topology> braid::topo::load(const std::string &path) {
  cost::Result<cost::Cluster> cluster = cost::readCluster(path);
  if (!cluster)
    return cluster.error();
  return cost::Topology::build(*cluster);
}

int main(int argc, char **argv) {
  braid::command::Tool tool("braid-topo");
  llvm::InitLLVM init(argc, argv);
  return tool.run(
      {{"validate", runValidate, "check a cluster file; sizes, bisection, what rests on assumptions"},
       {"draw", runDraw, "a cluster as SVG or as Graphviz text"},
       {"paths", runPaths, "the paths that flows between two devices may take"},
       {"loads", runLoads, "what the flows of one step put on each link"},
       {"probe-paths", runProbePaths, "which source ports take which of this host's equal routes, as a table"},
       {"discover", runDiscover, "this machine as a cluster file"},
       {"convert", runConvert, "a topology of NCCL (XML) or hwloc (XML) as a cluster file"}},
      argc, argv);
}
