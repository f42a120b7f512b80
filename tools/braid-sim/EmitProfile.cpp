//===- EmitProfile.cpp - braid-sim emit-profile: a cluster as the emulated fabric reads it ----------------------===//
#include "braid/cost_models/EmitProfile.h"
#include "../command/ClusterInputs.h"
#include "Subcommands.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace cost = ::braid::cost;

int mlir::braid::sim::runEmitProfile(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-sim emit-profile");
  llvm::cl::opt<std::string> clusterPath("cluster", llvm::cl::Required, llvm::cl::desc("cluster file (YAML); required"),
                                         llvm::cl::cat(category));
  llvm::cl::opt<std::string> placementText("placement", llvm::cl::init("packed"), llvm::cl::cat(category),
                                           llvm::cl::desc("packed (default), or host:gpu,host:gpu,... one per rank"));
  llvm::cl::opt<std::string> output("o", llvm::cl::init("-"), llvm::cl::desc("file to write; default: standard output"),
                                    llvm::cl::cat(category));
  llvm::cl::opt<bool> inNetwork(
      "in-network", llvm::cl::cat(category),
      llvm::cl::desc("one more rank for each switch that reduces, after the others; default: off"));
  llvm::cl::opt<std::string> path(
      "path", llvm::cl::cat(category),
      llvm::cl::desc("flows have the source ports of a plan's path: 0-1:50003;1-0:50001; default: none"));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "a cluster as the runtime's emulated fabric reads it (JSON)\n");
  auto fail = [](const std::string &text) {
    llvm::errs() << "error: " << text << "\n";
    return 1;
  };
  if (std::string error =
          ::braid::command::checkOutputs({{"-o", output}}, ::braid::command::clusterInputs("--cluster", clusterPath));
      !error.empty())
    return fail(error);
  cost::Result<cost::Cluster> cluster = cost::readCluster(clusterPath);
  if (!cluster)
    return fail(cluster.error().text());
  int ranks = placementText == "packed" ? cluster->ranks() : 1 + int(llvm::StringRef(placementText).count(','));
  cost::Result<cost::Placement> placement = cost::readPlacement(placementText, ranks, *cluster);
  if (!placement)
    return fail(placement.error().text());
  cost::Result<std::string> text = cost::emitProfile(*cluster, *placement, inNetwork, path);
  if (!text)
    return fail(text.error().text());
  if (output == "-") {
    llvm::outs() << *text;
    return 0;
  }
  std::string error = ::braid::command::writeFile(output, *text);
  return error.empty() ? 0 : fail(error);
}
