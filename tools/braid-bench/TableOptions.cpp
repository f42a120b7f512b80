//===- TableOptions.cpp - what subcommands ask that read a measured table ---------------------------------------------===//
#include "TableOptions.h"
#include <climits>
#include <cstdlib>

namespace braid::bench {

using namespace command;

std::vector<Option> tableOptions(TableOptions &options) {
  auto collective = [&options](const std::string &value) -> std::string {
    for (cost::CollectiveKind kind :
         {cost::CollectiveKind::AllReduce, cost::CollectiveKind::AllGather, cost::CollectiveKind::ReduceScatter,
          cost::CollectiveKind::AllToAll, cost::CollectiveKind::Broadcast})
      if (value == algorithms::name(kind))
        options.hints.kind = kind;
    if (options.hints.kind)
      return "";
    return "expected all_reduce, all_gather, reduce_scatter, all_to_all or broadcast, got '" + value + "'";
  };
  constexpr int most = 1 << 24;
  return {textOption("cluster", options.cluster), textOption("o", options.output),
          numberOption("nodes", options.hints.hosts, 1, most), numberOption("per-node", options.hints.perHost, 1, most),
          Option{"collective", collective}};
}

std::string absolutePath(const std::string &path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

std::string nameOfFile(const std::string &path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

} // namespace braid::bench
