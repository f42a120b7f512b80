//===- Subcommands.h - one function per subcommand --------------------------------------------------------------===//
#ifndef BRAID_SIM_SUBCOMMANDS_H
#define BRAID_SIM_SUBCOMMANDS_H

namespace mlir::braid::sim {

// Each parses its own options; argv[0] is "braid-sim NAME". They return the exit status.
int runPrice(int argc, char **argv);
int runCompare(int argc, char **argv);
int runAdvise(int argc, char **argv);
int runDiff(int argc, char **argv);
int runPlay(int argc, char **argv);
int runExplain(int argc, char **argv);
int runReport(int argc, char **argv);
int runProfile(int argc, char **argv);
int runEmit(int argc, char **argv);
int runEmitProfile(int argc, char **argv);
int runImport(int argc, char **argv);
int runEmitTrace(int argc, char **argv);
int runPipeline(int argc, char **argv);

} // namespace mlir::braid::sim

#endif
