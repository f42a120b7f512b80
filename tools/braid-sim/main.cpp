//===- main.cpp - braid-sim: prices and plays programs on a cluster ---------------------------------------------===//
//
// A table of subcommands; each has a file of its own.
//===------------------------------------------------------------------------------------------------------------===//
#include "Subcommands.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

using namespace mlir::braid::sim;

namespace {
struct Subcommand {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
};
} // namespace

static const Subcommand subcommands[] = {
    {"price", runPrice, "what one collective costs on a cluster, by size, and why"},
    {"compare", runCompare, "a program under the usual policies beside Braid's plan"},
    {"play", runPlay, "a program's timeline under one policy"},
    {"explain", runExplain, "why each collective of the plan is as it is"},
    {"emit-profile", runEmitProfile, "a cluster as the runtime's emulated fabric reads it (JSON)"},
};

static void printUsage(llvm::raw_ostream &os) {
  os << "usage: braid-sim SUBCOMMAND ...     braid-sim SUBCOMMAND --help\n\n";
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
      std::string program = "braid-sim " + asked.str();
      argv[1] = program.data();
      return finish(subcommand.run(argc - 1, argv + 1));
    }
  if (asked.empty())
    llvm::errs() << "error: subcommand: expected one of these, got none\n";
  else
    llvm::errs() << "error: subcommand: expected one of these, got '" << asked << "'\n";
  printUsage(llvm::errs());
  return 1;
}
