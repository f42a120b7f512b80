//===- Loads.cpp - braid-topo paths and loads: where flows go and where they meet -------------------------------===//
#include "Subcommands.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace cl = llvm::cl;
namespace cost = ::braid::cost;
using cost::Topology;

static std::string nameOf(const Topology &topology, int link) {
  const Topology::Link &l = topology.links()[link];
  return topology.vertices()[l.from].name() + " -> " + topology.vertices()[l.to].name();
}

static std::string walk(const Topology &topology, const Topology::Path &path, int from) {
  std::string out = topology.vertices()[topology.device(from)].name();
  for (int link : path)
    out += " " + topology.vertices()[topology.links()[link].to].name();
  return out;
}

int braid::topo::runPaths(int argc, char **argv) {
  cl::OptionCategory category("braid-topo paths");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<cluster file>"), cl::cat(category));
  cl::opt<int> from(cl::Positional, cl::Required, cl::desc("<device>"), cl::cat(category));
  cl::opt<int> to(cl::Positional, cl::Required, cl::desc("<device>"), cl::cat(category));
  cl::opt<int> flows("flows", cl::init(1), cl::desc("flows (source ports) whose paths are marked; default: 1"),
                     cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "the paths that flows between two devices may take\n");
  if (flows < 1 || flows > 1 << 20)
    return fail("--flows: expected 1 to 1048576, got " + std::to_string(flows));
  cost::Result<Topology> topology = load(input);
  if (!topology)
    return fail(topology.error().text());
  int devices = topology->cluster().ranks();
  for (int device : {int(from), int(to)})
    if (device < 0 || device >= devices)
      return fail("device: expected 0 to " + std::to_string(devices - 1) + ", got " + std::to_string(device));
  if (topology->cluster().hostOf(from) != topology->cluster().hostOf(to) && topology->cluster().nics() == 0)
    return fail("paths: expected hosts with NICs, got none");
  std::vector<std::string> taken;
  for (int flow = 0; flow < flows; ++flow)
    taken.push_back(walk(*topology, topology->path(from, to, uint64_t(flow)), from));
  for (const Topology::Path &path : topology->pathSet(from, to)) {
    std::string text = walk(*topology, path, from), marks;
    for (size_t flow = 0; flow < taken.size(); ++flow)
      if (taken[flow] == text)
        marks += (marks.empty() ? "  <- flow " : ", ") + std::to_string(flow);
    llvm::outs() << text << marks << "\n";
  }
  return 0;
}

/// The flows that --flows names; an error text if it names none.
static std::string readFlows(llvm::StringRef text, const cost::Placement &placement, cost::Bytes bytes,
                             std::vector<cost::Flow> &flows) {
  int n = int(placement.deviceOf.size());
  auto add = [&](int from, int to, double share) {
    if (from != to)
      flows.push_back({placement.deviceOf[from], placement.deviceOf[to], {int64_t(bytes.value * share)}});
  };
  auto [kind, rest] = text.split(':');
  if (kind == "ring" && rest.empty()) {
    std::vector<int> order = cost::localityOrder(placement);
    for (int i = 0; i < n; ++i)
      add(order[i], order[(i + 1) % n], 1);
    return {};
  }
  if (kind == "all_to_all" && rest.empty()) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        add(i, j, 1.0 / n);
    return {};
  }
  int shift = 0;
  if (kind == "shift" && !rest.getAsInteger(10, shift) && shift > 0 && shift < n) {
    for (int i = 0; i < n; ++i)
      add(i, (i + shift) % n, 1);
    return {};
  }
  return "--flows: expected shift:K with K from 1 to " + std::to_string(n - 1) + ", ring or all_to_all, got \"" +
         text.str() + "\"";
}

int braid::topo::runLoads(int argc, char **argv) {
  cl::OptionCategory category("braid-topo loads");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<cluster file>"), cl::cat(category));
  cl::opt<std::string> kind(
      "flows", cl::init("ring"), cl::cat(category),
      cl::desc("shift:K (rank i to i + K), ring (default, in the order of locality), all_to_all"));
  cl::opt<std::string> size("bytes", cl::init("1MiB"),
                            cl::desc("that each rank sends, all_to_all to all others together; default: 1MiB"),
                            cl::cat(category));
  cl::opt<std::string> place("placement", cl::init("packed"), cl::desc("packed (default), or host:gpu,host:gpu,..."),
                             cl::cat(category));
  cl::opt<int> top("top", cl::init(10), cl::desc("links printed; default: 10"), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "what the flows of one step put on each link\n");
  if (top < 0)
    return fail("--top: expected at least 0, got " + std::to_string(top));
  cost::Result<Topology> topology = load(input);
  if (!topology)
    return fail(topology.error().text());
  const cost::Cluster &c = topology->cluster();
  if (c.hosts > 1 && c.nics() == 0)
    return fail("loads: expected hosts with NICs, got none");
  int ranks = place == "packed" ? c.ranks() : 1 + int(llvm::StringRef(place).count(','));
  cost::Result<cost::Placement> placement = cost::readPlacement(place, ranks, c);
  if (!placement)
    return fail(placement.error().text());
  cost::Result<cost::Bytes> bytes = cost::parseBytes(size);
  if (!bytes)
    return fail("--bytes: " + bytes.error().message + " (one size; braid-sim price takes ranges)");
  if (bytes->value == 0)
    return fail("--bytes: expected more than 0 B, got '" + size + "'");
  std::vector<cost::Flow> flows;
  if (std::string error = readFlows(kind, *placement, *bytes, flows); !error.empty())
    return fail(error);

  std::vector<cost::LinkLoad> all = cost::loads(*topology, flows);
  static const char *const names[] = {"inside hosts", "device - NIC", "NIC - leaf", "leaf - spine", "spine - core"};
  std::map<Topology::Level, int> links;
  for (const Topology::Link &link : topology->links())
    ++links[link.level];
  llvm::outs() << llvm::format("%-14s %8s %8s %10s %12s\n", "level", "links", "used", "most flows", "longest");
  for (auto [level, count] : links) {
    int used = 0, most = 0;
    cost::Seconds longest;
    for (const cost::LinkLoad &load : all)
      if (topology->links()[load.link].level == level) {
        ++used;
        most = std::max(most, load.flows);
        longest = std::max(longest, load.time);
      }
    llvm::outs() << llvm::format("%-14s %8d %8d %10d %12s\n", names[int(level)], count, used, most,
                                 cost::toString(longest).c_str());
  }
  llvm::outs() << "\n";
  for (size_t i = 0; i < all.size() && int(i) < top; ++i)
    llvm::outs() << llvm::format("%12s  %3d flows  ", cost::toString(all[i].time).c_str(), all[i].flows)
                 << nameOf(*topology, all[i].link) << "\n";
  return 0;
}
