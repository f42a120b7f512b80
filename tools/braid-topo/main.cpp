//===- main.cpp - braid-topo: finds, draws, checks and converts clusters ----------------------------------------===//
//
// A table of subcommands; each has a file of its own.
//===------------------------------------------------------------------------------------------------------------===//
#include "Subcommands.h"
#include "braid/runtime/trace/AtomicFile.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
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
  std::string error = trace::writeAtomically(path, text);
  return error.empty() ? 0 : fail(error);
}

cost::Result<cost::Topology> braid::topo::load(const std::string &path) {
  cost::Result<cost::Cluster> cluster = cost::readCluster(path);
  if (!cluster)
    return cluster.error();
  return cost::Topology::build(*cluster);
}

namespace {
struct Subcommand {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
};
} // namespace

static const Subcommand subcommands[] = {
    {"validate", runValidate, "check a cluster file; sizes, bisection, what rests on assumptions"},
    {"draw", runDraw, "a cluster as SVG or as Graphviz text"},
    {"paths", runPaths, "the paths that flows between two devices may take"},
    {"loads", runLoads, "what the flows of one step put on each link"},
    {"discover", runDiscover, "this machine as a cluster file"},
    {"convert", runConvert, "a topology of NCCL (XML) or hwloc (XML) as a cluster file"},
};

static void printUsage(llvm::raw_ostream &os) {
  os << "usage: braid-topo SUBCOMMAND ...     braid-topo SUBCOMMAND --help\n\n";
  for (const Subcommand &subcommand : subcommands)
    os << llvm::format("  %-12s %s\n", subcommand.name, subcommand.summary);
}

/// The exit status of a subcommand that said all it had to: a full disk must not look like success.
static int finish(int status) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return status;
  llvm::errs() << "error: standard output: " << llvm::outs().error().message() << "\n";
  llvm::outs().clear_error();
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::StringRef asked = argc > 1 ? argv[1] : "";
  if (asked == "--help" || asked == "-h" || asked == "help") {
    printUsage(llvm::outs());
    return finish(0);
  }
  for (const Subcommand &subcommand : subcommands)
    if (asked == subcommand.name) {
      std::string program = "braid-topo " + asked.str();
      argv[1] = program.data();
      return finish(subcommand.run(argc - 1, argv + 1));
    }
  llvm::errs() << "error: subcommand: expected one of these, got "
               << (asked.empty() ? std::string("none") : "'" + asked.str() + "'") << "\n";
  printUsage(llvm::errs());
  return 1;
}
