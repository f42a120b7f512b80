//===- MeasureOptions.h - what braid-bench measure is asked for ---------------------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_MEASUREOPTIONS_H
#define BRAID_BENCH_MEASUREOPTIONS_H

#include "../command/Arguments.h"
#include "Values.h"
#include "braid/runtime/braid_rt.h"
#include <cstdint>
#include <string>
#include <vector>

namespace braid::bench {

/// An element type: how a small count is written in it.
struct ElementType {
  const char *name;
  braid_type type;
  size_t bytes;
  uint64_t (*encode)(unsigned value); ///< the bits of the element, the lowest `bytes`
};

struct MeasureOptions {
  std::vector<Kind> kinds;
  std::vector<size_t> sizes; ///< bytes of the larger buffer of a rank
  const ElementType *type = nullptr;
  std::vector<std::string> algorithms; ///< "": the runtime's choice
  bool allAlgorithms = false;
  int ranks = 0; ///< to start; 0: a launcher did
  int channels = 0, chunks = 0;
  std::string transport, profile, runtime, csv, json;
  uint64_t seed = 0;
  bool mapped = true, bind = false;
  double seconds = 1;
  int samples = 25;
  double deadline = 0;
};

extern const char *const measureUsage;

/// nullptr: there is none of this name.
const ElementType *typeNamed(const std::string &name);

/// What any subcommand asks that starts ranks, or is one: -n, --transport, --profile, --seed, --bind, --deadline, --runtime.
std::vector<command::Option> rankOptions(MeasureOptions &options);

/// Returns an error or "". `help` is set where the usage was asked for.
std::string parseMeasureOptions(int argc, char **argv, MeasureOptions &options, bool &help);

} // namespace braid::bench

#endif
