//===- Subcommands.h - one function per subcommand --------------------------------------------------------------===//
#ifndef BRAID_BENCH_SUBCOMMANDS_H
#define BRAID_BENCH_SUBCOMMANDS_H

namespace braid::bench {

// Each parses its own options; argv[0] is "braid-bench NAME". They return the exit status.
int runFit(int argc, char **argv);
int runMeasure(int argc, char **argv);
int runProbe(int argc, char **argv);

} // namespace braid::bench

#endif
