//===- TableOptions.h - what subcommands ask that read a measured table -------------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_TABLEOPTIONS_H
#define BRAID_BENCH_TABLEOPTIONS_H

#include "../command/Arguments.h"
#include "braid/cost_models/Measured.h"
#include <string>
#include <vector>

namespace braid::bench {

struct TableOptions {
  std::string cluster, output;
  cost::TableHints hints;
};
/// --cluster, -o, --nodes, --per-node, --collective.
std::vector<command::Option> tableOptions(TableOptions &options);

/// The same file by a path that holds wherever a cluster file that names it as its base is written.
std::string absolutePath(const std::string &path);
/// "mine" for "out/mine.yaml".
std::string nameOfFile(const std::string &path);

} // namespace braid::bench

#endif
