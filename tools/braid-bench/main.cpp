//===- main.cpp - braid-bench: measures collectives, fits what was measured -----------------------------------------===//
//
// A table of subcommands; each has a file of its own.
//===------------------------------------------------------------------------------------------------------------===//
#include "Subcommands.h"
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>

using namespace braid::bench;

namespace {
struct Subcommand {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
};
} // namespace

static const Subcommand subcommands[] = {
    {"measure", runMeasure, "times of the runtime's collectives on this host or under a launcher, by size"},
    {"fit", runFit, "constants of a cluster from a table of measured times"},
    {"probe", runProbe, "a job's latency and bandwidth from a few measurements, and which choices stand"},
};

static void printUsage(FILE *out) {
  fprintf(out, "usage: braid-bench SUBCOMMAND ...     braid-bench SUBCOMMAND --help\n\n");
  for (const Subcommand &subcommand : subcommands)
    fprintf(out, "  %-12s %s\n", subcommand.name, subcommand.summary);
}

/// The exit status of a subcommand that said all it had to: a full disk must not look like success.
static int finish(int status) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return status;
  perror("braid-bench: error: standard output");
  return status ? status : 1;
}

/// The first connection of a rank would take the place of a standard stream that is closed, and the table would go there.
/// Standard output that cannot be written is an error in the end.
static void holdStandardStreams() {
  for (int stream : {0, 1, 2})
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY); // takes the lowest that is free
}

int main(int argc, char **argv) {
  holdStandardStreams();
  std::string asked = argc > 1 ? argv[1] : "";
  if (asked == "--help" || asked == "-h" || asked == "help") {
    printUsage(stdout);
    return finish(0);
  }
  for (const Subcommand &subcommand : subcommands)
    if (asked == subcommand.name) {
      std::string program = "braid-bench " + asked;
      argv[1] = program.data();
      return finish(subcommand.run(argc - 1, argv + 1));
    }
  fprintf(stderr, "braid-bench: error: subcommand: expected one of these, got %s\n",
          asked.empty() ? "none" : ("'" + asked + "'").c_str());
  printUsage(stderr);
  return 2;
}
