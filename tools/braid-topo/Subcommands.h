//===- Subcommands.h - one function per subcommand of braid-topo ------------------------------------------------===//
#ifndef BRAID_TOPO_SUBCOMMANDS_H
#define BRAID_TOPO_SUBCOMMANDS_H

#include "braid/cost_models/Topology.h"
#include <string>

namespace braid::topo {

// Each parses its own options; argv[0] is "braid-topo NAME". They return the exit status.
int runValidate(int argc, char **argv);
int runDraw(int argc, char **argv);
int runPaths(int argc, char **argv);
int runLoads(int argc, char **argv);
int runProbePaths(int argc, char **argv);
int runDiscover(int argc, char **argv);
int runConvert(int argc, char **argv);

/// Prints "error: TEXT" and gives the exit status of a mistake.
int fail(const std::string &text);
/// Writes a whole file, or to standard output for "-". Returns the exit status.
int write(const std::string &path, const std::string &text);
/// Reads a cluster file and builds its topology.
cost::Result<cost::Topology> load(const std::string &path);

} // namespace braid::topo

#endif
