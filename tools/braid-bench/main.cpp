//===- main.cpp - braid-bench: measures collectives, fits what was measured -----------------------------------------===//
//
// A table of subcommands; each has a file of its own.
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "Subcommands.h"

using namespace braid::bench;

int main(int argc, char **argv) {
  braid::command::Tool tool("braid-bench");
  return tool.run(
      {{"measure", runMeasure, "times of the runtime's collectives on this host or under a launcher, by size"},
       {"fit", runFit, "constants of a cluster from a table of measured times"},
       {"probe", runProbe, "a job's latency and bandwidth from a few measurements, and which choices stand"}},
      argc, argv);
}
