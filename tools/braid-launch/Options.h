//===- Options.h - the command line of braid-launch ----------------------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_LAUNCH_OPTIONS_H
#define BRAID_TOOLS_BRAID_LAUNCH_OPTIONS_H

#include <string>
#include <vector>

namespace braid::launch {

struct Options {
  int local = 1;          ///< ranks started here
  int ranks = 0;          ///< of the job; as many as local if not given
  int firstRank = 0;      ///< the lowest rank started here
  std::string rendezvous; ///< where the launcher of rank 0 serves the store; empty: a free port of the loopback
  bool prefix = false;    ///< each line begins with "[rank] "
  bool keep = false;      ///< survivors go on after a failure
  bool verbose = false;
  double grace = 5;     ///< seconds between asking ranks to end and ending them
  double deadline = 60; ///< seconds to wait for the launcher of rank 0
  std::vector<std::string> command;
};

extern const char *const usage;

/// What the tool says instead of starting a job.
enum class Asked { Nothing, Help, Version };

/// Empty, or what is wrong.
std::string parseOptions(int argc, char **argv, Options &options, Asked &asked);

} // namespace braid::launch

#endif
