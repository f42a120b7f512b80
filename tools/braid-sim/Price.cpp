//===- Price.cpp - braid-sim price: what one collective costs, by size, and why ---------------------------------===//
//
//   braid-sim price all_reduce --bytes 8..1GiB --cluster FILE
//
// Prices the powers of two of the range. Text merges neighbours with one choice into a range and explains the choice at
// the range's largest size; csv and json list each size.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Price.h"
#include "Subcommands.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>

using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace cl = llvm::cl;

namespace {

/// What one size costs.
struct Row {
  cost::Bytes bytes;
  const cost::Candidate *choice = nullptr;
  const cost::Candidate *runnerUp = nullptr;
  std::vector<std::pair<cost::Seconds, cost::Seconds>> quantiles; ///< value and standard error
};

struct Report {
  std::string collective;
  const cost::Pricer &pricer;
  int ranks;
  std::vector<double> quantiles;
  std::vector<Row> rows;
};

} // namespace

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

static std::optional<cost::CollectiveKind> parseCollective(llvm::StringRef text, std::string &known) {
  using cost::CollectiveKind;
  std::optional<CollectiveKind> found;
  for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather,
                              CollectiveKind::AllToAll, CollectiveKind::Permute, CollectiveKind::Broadcast}) {
    known += (known.empty() ? "" : ", ") + std::string(::braid::algorithms::name(kind));
    if (text == ::braid::algorithms::name(kind))
      found = kind;
  }
  return found;
}

/// "1 MiB", or "8..1GiB": its powers of two times the low end, and the high end. Only the low end of a range may lack a
/// unit.
static cost::Result<std::vector<cost::Bytes>> parseSizes(llvm::StringRef text) {
  auto [low, high] = text.split("..");
  bool range = text.contains("..");
  cost::Result<cost::Bytes> first = cost::parseBytes(low.trim().str(), /*unitOptional=*/range);
  if (!first)
    return first.error();
  if (!range)
    return std::vector<cost::Bytes>{*first};
  cost::Result<cost::Bytes> last = cost::parseBytes(high.trim().str());
  if (!last)
    return last.error();
  if (*last < *first || first->value == 0)
    return cost::Error{"range of sizes, expected 0 < low <= high, got '" + text.str() + "'", ""};
  std::vector<cost::Bytes> sizes;
  for (int64_t bytes = first->value; bytes < last->value; bytes *= 2)
    sizes.push_back({bytes});
  sizes.push_back(*last);
  return sizes;
}

static cost::Result<std::vector<double>> parseQuantiles(llvm::StringRef text) {
  std::vector<double> quantiles;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    double q = 0;
    if (part.trim().getAsDouble(q) || !(q > 0 && q < 1))
      return cost::Error{"quantile, expected a number between 0 and 1, got '" + part.str() + "'", ""};
    quantiles.push_back(q);
  }
  return quantiles;
}

/// All ranks in one group; permute: each to the next one.
static std::shared_ptr<const cost::RankGroups> everyRank(cost::CollectiveKind kind, int ranks) {
  auto groups = std::make_shared<cost::RankGroups>();
  if (kind == cost::CollectiveKind::Permute) {
    for (int rank = 0; rank < ranks; ++rank)
      groups->pairs.push_back({rank, (rank + 1) % ranks});
    return groups;
  }
  groups->groups.emplace_back();
  for (int rank = 0; rank < ranks; ++rank)
    groups->groups[0].push_back(rank);
  return groups;
}

static std::string quantileName(double q) { return llvm::formatv("p{0}", llvm::format("%g", q * 100)).str(); }

static std::string choiceName(const cost::Candidate &c) {
  return c.algorithm + (c.protocol.empty() ? "" : " " + c.protocol);
}

//===- the three forms ------------------------------------------------------------------------------------------===//

static void printWhy(const std::vector<cost::PriceTerm> &terms, int depth, llvm::raw_ostream &os) {
  for (const cost::PriceTerm &term : terms) {
    std::string name = std::string(2 * depth, ' ') + term.name;
    os << llvm::format("      %-38s %9s  %s\n", name.c_str(), cost::toString(term.time).c_str(), term.how.c_str());
    printWhy(term.parts, depth + 1, os);
  }
}

static std::string span(const std::string &first, const std::string &last) {
  return first == last ? first : first + " .. " + last;
}

static void printText(const Report &report, llvm::raw_ostream &os) {
  const cost::Cluster &cluster = report.pricer.cluster();
  os << report.collective << " on " << cluster.name << ": " << report.ranks << " ranks, engine "
     << cost::name(report.pricer.engine()) << ", predicted (not measured); size = operand of each rank\n\n"
     << llvm::format("  %-24s %-28s", "size", "algorithm, protocol");
  for (double q : report.quantiles)
    os << llvm::format(" %-22s", quantileName(q).c_str());
  os << " runner-up\n";
  for (size_t begin = 0, end; begin < report.rows.size(); begin = end) {
    const Row &first = report.rows[begin];
    for (end = begin + 1; end < report.rows.size(); ++end)
      if (choiceName(*report.rows[end].choice) != choiceName(*first.choice))
        break;
    const Row &last = report.rows[end - 1];
    os << llvm::format("  %-24s %-28s", span(cost::toString(first.bytes), cost::toString(last.bytes)).c_str(),
                       choiceName(*first.choice).c_str());
    for (size_t i = 0; i < report.quantiles.size(); ++i)
      os << llvm::format(
          " %-22s", span(cost::toString(first.quantiles[i].first), cost::toString(last.quantiles[i].first)).c_str());
    if (last.runnerUp)
      os << " " << choiceName(*last.runnerUp) << " (" << cost::toString(last.runnerUp->time) << " without noise)";
    os << "\n    why, at " << cost::toString(last.bytes) << " without noise: " << cost::toString(last.choice->time)
       << " = " << last.choice->why.how << "\n";
    printWhy(last.choice->why.parts, 0, os);
  }
  os << "\n  standard error of the quantiles, at most:";
  for (size_t i = 0; i < report.quantiles.size(); ++i) {
    double worst = 0;
    for (const Row &row : report.rows)
      worst = std::max(worst, row.quantiles[i].first.value ? row.quantiles[i].second / row.quantiles[i].first : 0);
    os << llvm::format(" %s %.2f %%", quantileName(report.quantiles[i]).c_str(), worst * 100);
  }
  os << "\n";
  for (const std::string &sentence : report.pricer.notModelled())
    os << "  not modelled: " << sentence << "\n";
}

static void printCsv(const Report &report, llvm::raw_ostream &os) {
  os << "collective,bytes,ranks,engine,algorithm,protocol,channels,price_s";
  for (double q : report.quantiles)
    os << "," << quantileName(q) << "_s," << quantileName(q) << "_stderr_s";
  os << "\n";
  for (const Row &row : report.rows) {
    os << report.collective << "," << row.bytes.value << "," << report.ranks << ","
       << cost::name(report.pricer.engine()) << "," << row.choice->algorithm << "," << row.choice->protocol << ","
       << row.choice->channels << "," << llvm::format("%.9g", row.choice->time.value);
    for (auto [value, error] : row.quantiles)
      os << llvm::format(",%.9g,%.3g", value.value, error.value);
    os << "\n";
  }
}

static llvm::json::Object toJson(const cost::PriceTerm &term) {
  llvm::json::Array parts;
  for (const cost::PriceTerm &part : term.parts)
    parts.push_back(toJson(part));
  return llvm::json::Object{
      {"name", term.name}, {"time_s", term.time.value}, {"how", term.how}, {"parts", std::move(parts)}};
}

static llvm::json::Value toJson(const Report &report) {
  llvm::json::Array sizes, missing;
  for (const Row &row : report.rows) {
    llvm::json::Object size{{"bytes", row.bytes.value},          {"algorithm", row.choice->algorithm},
                            {"protocol", row.choice->protocol},  {"channels", row.choice->channels},
                            {"price_s", row.choice->time.value}, {"why", toJson(row.choice->why)}};
    for (size_t i = 0; i < report.quantiles.size(); ++i) {
      std::string name = quantileName(report.quantiles[i]);
      size[name + "_s"] = row.quantiles[i].first.value;
      size[name + "_stderr_s"] = row.quantiles[i].second.value;
    }
    if (row.runnerUp)
      size["runner_up"] = llvm::json::Object{{"algorithm", row.runnerUp->algorithm},
                                             {"protocol", row.runnerUp->protocol},
                                             {"price_s", row.runnerUp->time.value}};
    sizes.push_back(std::move(size));
  }
  for (const std::string &sentence : report.pricer.notModelled())
    missing.push_back(sentence);
  return llvm::json::Object{{"collective", report.collective},
                            {"cluster", report.pricer.cluster().name},
                            {"engine", cost::name(report.pricer.engine())},
                            {"ranks", report.ranks},
                            {"sizes", std::move(sizes)},
                            {"not_modelled", std::move(missing)}};
}

//===- the subcommand -------------------------------------------------------------------------------------------===//

/// Ranks on the first devices, or where the user says.
static cost::Result<cost::Placement> placeRanks(const std::string &text, int ranks, const cost::Cluster &cluster) {
  if (!text.empty())
    return cost::readPlacement(text, ranks ? ranks : int(llvm::StringRef(text).count(',')) + 1, cluster);
  if (ranks > cluster.ranks())
    return cost::Error{"--ranks, expected at most the cluster's " + std::to_string(cluster.ranks()) + " devices, got " +
                           std::to_string(ranks),
                       ""};
  cost::Placement placement;
  for (int rank = 0; rank < (ranks ? ranks : cluster.ranks()); ++rank)
    placement.deviceOf.push_back(rank);
  return placement;
}

int mlir::braid::sim::runPrice(int argc, char **argv) {
  cl::OptionCategory category("braid-sim price");
  cl::opt<std::string> collective(cl::Positional, cl::desc("<collective>"), cl::cat(category));
  cl::opt<std::string> bytes("bytes", cl::desc("operand of each rank: 25MiB, or a range 8..1GiB"), cl::cat(category));
  cl::opt<std::string> clusterFile("cluster", cl::desc("cluster file"), cl::cat(category));
  cl::opt<std::string> engineName("engine", cl::init("nccl"), cl::desc("nccl, braid"), cl::cat(category));
  cl::opt<int> ranks("ranks", cl::init(0), cl::desc("the first N devices (default: all)"), cl::cat(category));
  cl::opt<std::string> placementText("placement", cl::desc("host:gpu,host:gpu,... one per rank"), cl::cat(category));
  cl::opt<std::string> quantileText("quantiles", cl::init("0.5,0.95,0.99"), cl::desc("quantiles to print"),
                                    cl::cat(category));
  cl::opt<std::string> format("format", cl::init("text"), cl::desc("text, csv, json"), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "what one collective costs on a cluster, by size, and why\n");

  std::string known;
  std::optional<cost::CollectiveKind> kind = parseCollective(collective, known);
  if (!kind)
    return fail("collective, expected one of " + known + ", got '" + collective + "'");
  if (bytes.empty() || clusterFile.empty())
    return fail(bytes.empty() ? "--bytes, expected a size or a range such as 8..1GiB, got none"
                              : "--cluster, expected a cluster file, got none");
  if (format != "text" && format != "csv" && format != "json")
    return fail("--format, expected text, csv or json, got '" + format + "'");
  std::optional<cost::Engine> engine = cost::parseEngine(engineName);
  if (!engine)
    return fail("--engine, expected nccl or braid, got '" + engineName + "'");
  cost::Result<std::vector<cost::Bytes>> sizes = parseSizes(bytes);
  if (!sizes)
    return fail("--bytes: " + sizes.error().text());
  cost::Result<std::vector<double>> quantiles = parseQuantiles(quantileText);
  if (!quantiles)
    return fail("--quantiles: " + quantiles.error().text());
  if (ranks.getNumOccurrences() && ranks < 1)
    return fail("--ranks, expected at least 1, got " + std::to_string(ranks));
  cost::Result<cost::Cluster> cluster = cost::readCluster(clusterFile);
  if (!cluster)
    return fail(cluster.error().text());
  cost::Result<cost::Placement> placement = placeRanks(placementText, ranks, *cluster);
  if (!placement)
    return fail(placement.error().text());

  int count = int(placement->deviceOf.size());
  cost::Pricer pricer(*cluster, *placement, *engine, cost::BucketForm::OneLaunch);
  Report report{collective, pricer, count, *quantiles, {}};
  cost::CollectiveSpec spec;
  spec.kind = *kind;
  spec.groups = everyRank(*kind, count);
  for (cost::Bytes size : *sizes) {
    spec.bytes = size;
    const std::vector<cost::Candidate> &candidates = pricer.candidates(spec);
    Row row{size, &candidates[0], candidates.size() > 1 ? &candidates[1] : nullptr,
            pricer.quantiles(spec, 0, *quantiles, /*samples=*/8000)};
    report.rows.push_back(std::move(row));
  }

  if (format == "json")
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(report));
  else if (format == "csv")
    printCsv(report, llvm::outs());
  else
    printText(report, llvm::outs());
  return 0;
}
