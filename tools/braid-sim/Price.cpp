//===- Price.cpp - braid-sim price: what one collective costs, by size, and why ---------------------------------===//
//
//   braid-sim price all_reduce --bytes 8..1GiB --cluster FILE
//   braid-sim price all_reduce --bytes 1MiB --cluster FILE --engine braid --sweep inter.latency=1us..10us:5
//   braid-sim price all_to_all --bytes 1MiB --counts tokens.csv --cluster FILE
//
// Prices the powers of two of the range, for each value of a knob if one is swept: any key of cluster files.
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/ClusterInputs.h"
#include "Png.h"
#include "PriceReport.h"
#include "Subcommands.h"
#include "Sweep.h"
#include "braid/runtime/algorithms/Nearest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace drawing = ::braid::drawing;
namespace cl = llvm::cl;

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

static std::optional<cost::CollectiveKind> parseCollective(llvm::StringRef text, std::vector<std::string> &known) {
  using cost::CollectiveKind;
  std::optional<CollectiveKind> found;
  for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather,
                              CollectiveKind::AllToAll, CollectiveKind::Permute, CollectiveKind::Broadcast,
                              CollectiveKind::Reduce, CollectiveKind::Gather, CollectiveKind::Scatter}) {
    known.push_back(::braid::algorithms::name(kind));
    if (text == ::braid::algorithms::name(kind))
      found = kind;
  }
  return found;
}

/// "1 MiB", or "8..1GiB": its powers of two times the low end, and the high end. Only the low end of a range may lack a
/// unit.
static cost::Result<std::vector<cost::Bytes>> parseSizes(llvm::StringRef text) {
  constexpr int64_t most = int64_t(1) << 44; // what all ranks gather must be a number, too
  auto [low, high] = text.split("..");
  bool range = text.contains("..");
  auto quoted = [&] { return ", got '" + text.str() + "'"; };
  cost::Result<cost::Bytes> first = cost::parseBytes(low.trim().str(), /*unitOptional=*/true);
  bool zero = first && first->value == 0; // of what is no size in any unit, the unit does not matter
  if (!range && !zero)
    first = cost::parseBytes(low.trim().str());
  cost::Result<cost::Bytes> last = range ? cost::parseBytes(high.trim().str()) : first;
  if (!zero && (!first || !last)) {
    llvm::StringRef end = range ? high.trim() : low.trim();
    bool unitless = (!range || first) && !end.empty() && llvm::all_of(end, llvm::isDigit);
    return cost::Error{
        "expected a size such as 25MiB, or a range LOW..HIGH such as 8..1GiB with a unit at its high end" + quoted() +
            (unitless ? "; bytes are written " + end.str() + "B" : ""),
        ""};
  }
  if (zero)
    return cost::Error{"size, expected more than 0 B and at most 16 TiB" + quoted(), ""};
  for (cost::Bytes size : {*first, *last})
    if (size.value > most)
      return cost::Error{"size, expected at most 16 TiB, got " + cost::toString(size), ""};
  if (*last < *first)
    return cost::Error{"range of sizes, expected 0 < low <= high" + quoted(), ""};
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
      return cost::Error{"quantile, expected a number above 0 and below 1 (0.5: the median), got '" + part.str() + "'",
                         ""};
    quantiles.push_back(q);
  }
  return quantiles;
}

/// What each rank sends to each, a line for each rank: numbers with commas or blanks between them.
static cost::Result<std::vector<int64_t>> readCounts(const std::string &path, int ranks) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return cost::Error{"expected a readable file, got: " + file.getError().message(), path};
  std::vector<int64_t> counts;
  llvm::SmallVector<llvm::StringRef> lines, words;
  (*file)->getBuffer().split(lines, '\n');
  for (size_t line = 0; line < lines.size(); ++line) {
    words.clear();
    llvm::SplitString(lines[line], words, ", \t\r");
    if (words.empty() || words[0].starts_with("#"))
      continue;
    std::string place = path + ":" + std::to_string(line + 1);
    if (int(words.size()) != ranks)
      return cost::Error{"expected " + std::to_string(ranks) + " numbers, what a rank sends to each, got " +
                             std::to_string(words.size()),
                         place};
    for (llvm::StringRef word : words) {
      int64_t count;
      if (word.getAsInteger(10, count) || count < 0 || count > int64_t(1) << 40)
        return cost::Error{"expected a whole number from 0 to 2^40, got '" + word.str() + "'", place};
      counts.push_back(count);
    }
  }
  if (int64_t(counts.size()) != int64_t(ranks) * ranks)
    return cost::Error{"expected " + std::to_string(ranks) + " lines, one for each rank, got " +
                           std::to_string(counts.size() / size_t(ranks)),
                       path};
  if (*std::max_element(counts.begin(), counts.end()) == 0)
    return cost::Error{"expected a number above 0 somewhere, got none", path};
  return counts;
}

/// Counts as bytes, such that the rank that sends most sends so many.
static std::shared_ptr<const std::vector<int64_t>> scaledTo(cost::Bytes bytes, const std::vector<int64_t> &counts,
                                                            int ranks) {
  double most = 0;
  for (int rank = 0; rank < ranks; ++rank)
    most = std::max(most, std::accumulate(counts.begin() + rank * ranks, counts.begin() + (rank + 1) * ranks, 0.0));
  auto scaled = std::make_shared<std::vector<int64_t>>();
  for (int64_t count : counts)
    scaled->push_back(count ? std::max<int64_t>(1, std::llround(double(count) * double(bytes.value) / most)) : 0);
  return scaled;
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

/// The specification that a report's rows are of, but for its size.
static cost::CollectiveSpec everyRankSpec(const PriceReport &report) {
  cost::CollectiveSpec spec;
  spec.kind = report.kind;
  spec.groups = everyRank(report.kind, report.ranks);
  return spec;
}

//===- the subcommand -------------------------------------------------------------------------------------------===//

/// Ranks on the first devices, or where the user says.
static cost::Result<cost::Placement> placeRanks(const std::string &text, int ranks, const cost::Cluster &cluster) {
  if (!text.empty() && text != "packed")
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

/// What is cheaper than the engine's choice at a quantile, be it a composition, which the engine does not choose by itself.
/// Noise moves prices by less than their half or so: what costs far more without it is not looked at.
static void findCheaper(PriceReport &report, const cost::CollectiveSpec &spec, PriceRow &row, int samples) {
  constexpr double far = 1.6;
  const std::vector<cost::Candidate> &candidates = report.pricer->candidates(spec);
  row.cheaper.assign(report.quantiles.size(), {nullptr, {}});
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (candidates[i].time > candidates[0].time * far)
      continue;
    auto others = report.pricer->quantiles(spec, i, report.quantiles, samples);
    for (size_t q = 0; q < others.size(); ++q) {
      cost::Seconds best = row.cheaper[q].first ? row.cheaper[q].second : row.quantiles[q].first;
      cost::Seconds errors = 2 * (others[q].second + row.quantiles[q].second);
      if (others[q].first < best && others[q].first + errors < row.quantiles[q].first)
        row.cheaper[q] = {&candidates[i], others[q].first};
    }
  }
}

/// Whether both have the same candidates at the same prices without noise.
static bool sameCandidates(const PriceReport &a, const PriceReport &b) {
  return std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(),
                    [](const PriceRow &x, const PriceRow &y) {
                      return std::equal(x.candidates->begin(), x.candidates->end(), y.candidates->begin(),
                                        y.candidates->end(), [](const cost::Candidate &p, const cost::Candidate &q) {
                                          return choiceName(p) == choiceName(q) && p.time.value == q.time.value;
                                        });
                    });
}

/// Whether both have the same choices with the same prices and quantiles.
static bool samePrices(const PriceReport &a, const PriceReport &b) {
  return std::equal(
      a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), [](const PriceRow &x, const PriceRow &y) {
        return choiceName(*x.choice) == choiceName(*y.choice) && x.choice->time.value == y.choice->time.value &&
               std::equal(x.quantiles.begin(), x.quantiles.end(), y.quantiles.begin(), y.quantiles.end(),
                          [](const auto &p, const auto &q) { return p.first.value == q.first.value; });
      });
}

/// Every size's candidates, the cheapest one's quantiles, and what is cheaper there.
static PriceReport priceAll(cost::CollectiveKind kind, const std::vector<cost::Bytes> &sizes,
                            const std::vector<double> &quantiles, const cost::Cluster &cluster,
                            const cost::Placement &placement, cost::Engine engine, const std::vector<int64_t> &counts) {
  PriceReport report;
  report.kind = kind;
  report.ranks = int(placement.deviceOf.size());
  report.quantiles = quantiles;
  report.pricer = std::make_unique<cost::Pricer>(cluster, placement, engine, cost::BucketForm::OneLaunch);
  cost::CollectiveSpec spec = everyRankSpec(report);
  for (cost::Bytes size : sizes) {
    spec.bytes = size;
    if (!counts.empty())
      spec.counts = scaledTo(size, counts, report.ranks);
    const std::vector<cost::Candidate> &candidates = report.pricer->candidates(spec);
    constexpr int samples = 8000;
    report.rows.push_back({size,
                           &candidates[0],
                           candidates.size() > 1 ? &candidates[1] : nullptr,
                           report.pricer->quantiles(spec, 0, quantiles, samples),
                           {}});
    report.rows.back().candidates = &candidates;
    findCheaper(report, spec, report.rows.back(), samples);
  }
  return report;
}

/// What a sweep that changes nothing that is printed has to say: what did not change, and why where that is known. "": it did.
static std::string noteOnSweep(const PriceReports &reports) {
  const PriceReport &first = reports.reports.front();
  auto others = llvm::drop_begin(reports.reports);
  auto all = [&](auto same) {
    return llvm::all_of(others, [&](const PriceReport &report) { return same(first, report); });
  };
  if (reports.reports.size() < 2 || !all(samePrices))
    return "";
  const cost::Cluster &cluster = first.pricer->cluster();
  std::string engine = cost::name(first.pricer->engine()), why;
  if (all([](const PriceReport &a, const PriceReport &b) {
        return a.pricer->cluster().hash == b.pricer->cluster().hash;
      }))
    return "the key is not in use on this cluster: with each of its values the cluster is the same one";
  if (!all(sameCandidates))
    return "the prices of the choices do not depend on it, those of other candidates do (--format json lists them)";
  bool oneHost = first.pricer->fabric(everyRankSpec(first)) == cost::Fabric::Intra;
  if (llvm::StringRef(reports.knob).starts_with("compute."))
    why = ": it says how computation differs and is slowed, which is part of a program's step (braid-sim compare), not "
          "of "
          "one collective's price";
  else if (oneHost && llvm::StringRef(reports.knob).starts_with("inter."))
    why = ": all ranks are on one host, no message goes between hosts";
  else if (!oneHost && cluster.devicesPerHost == 1 && llvm::StringRef(reports.knob).starts_with("intra."))
    why = ": each host has one device, no message stays inside";
  else if (first.pricer->engine() == cost::Engine::Nccl)
    why = " (engine nccl prices by a formula with constants of its own; --engine braid plays messages on the cluster's "
          "links)";
  return "neither a candidate's price without noise nor a quantile of the choice changes over these values" + why;
}

int mlir::braid::sim::runPrice(int argc, char **argv) {
  cl::OptionCategory category("braid-sim price");
  cl::opt<std::string> collective(cl::Positional, cl::desc("<collective>"), cl::cat(category));
  cl::opt<std::string> bytes(
      "bytes",
      cl::desc("operand of each rank: 25MiB, or a range 8..1GiB with a unit at its high end; of an all_gather "
               "nccl-tests and braid-bench count the result, ranks times as much; required"),
      cl::cat(category));
  cl::alias sizesAlias("sizes", cl::desc("as --bytes"), cl::aliasopt(bytes), cl::cat(category));
  cl::opt<std::string> clusterFile("cluster", cl::desc("cluster file; required"), cl::cat(category));
  cl::opt<std::string> engineName("engine", cl::init("nccl"), cl::desc("nccl (default), braid"), cl::cat(category));
  cl::opt<int> ranks("ranks", cl::init(0), cl::desc("the first N devices (default: all)"), cl::cat(category));
  cl::opt<std::string> placementText(
      "placement", cl::desc("packed (default), the first devices; or host:gpu,host:gpu,... one per rank"),
      cl::cat(category));
  cl::opt<std::string> quantileText("quantiles", cl::init("0.5,0.95,0.99"),
                                    cl::desc("quantiles to print; default: 0.5,0.95,0.99"), cl::cat(category));
  cl::opt<std::string> sweepText("sweep",
                                 cl::desc("any key of cluster files over values: inter.latency=1us..10us:5, "
                                          "inter.profile.queue_pairs=1,2,4; default: none"),
                                 cl::cat(category));
  cl::opt<std::string> countsFile(
      "counts",
      cl::desc("all_to_all: file of what each rank (line) sends to each; --bytes is then the most that a rank sends; "
               "default: equal blocks"),
      cl::cat(category));
  cl::opt<std::string> plot("plot", cl::desc("file .svg or .png: time and bus bandwidth by size; default: none"),
                            cl::cat(category));
  cl::opt<std::string> format("format", cl::init("text"), cl::desc("text (default), csv, json"), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "what one collective costs on a cluster, by size, and why\n");

  std::vector<std::string> known;
  std::optional<cost::CollectiveKind> kind = parseCollective(collective, known);
  if (!kind)
    return fail("collective, expected one of " + llvm::join(known, ", ") + ", got '" + collective + "'" +
                ::braid::algorithms::didYouMean(collective, known));
  if (bytes.empty() || clusterFile.empty())
    return fail(bytes.empty() ? "--bytes, expected a size or a range such as 8..1GiB, got none"
                              : "--cluster, expected a cluster file, got none");
  if (!countsFile.empty() && *kind != cost::CollectiveKind::AllToAll)
    return fail("--counts, expected an all_to_all, got '" + collective + "'");
  if (format != "text" && format != "csv" && format != "json")
    return fail("--format, expected text, csv or json, got '" + format + "'");
  std::optional<cost::Engine> engine = cost::parseEngine(engineName);
  if (!engine)
    return fail(std::string("--engine, expected ") + cost::engineNames + ", got '" + engineName + "'");
  using cost::CollectiveKind;
  if (*engine == cost::Engine::Nccl &&
      (kind == CollectiveKind::Reduce || kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter))
    return fail("--engine: expected braid for " + collective + ", of which the model of NCCL has no price, got nccl");
  cost::Result<std::vector<cost::Bytes>> sizes = parseSizes(bytes);
  if (!sizes)
    return fail("--bytes: " + sizes.error().text());
  cost::Result<std::vector<double>> quantiles = parseQuantiles(quantileText);
  if (!quantiles)
    return fail("--quantiles: " + quantiles.error().text());
  if (ranks.getNumOccurrences() && ranks < 1)
    return fail("--ranks, expected at least 1, got " + std::to_string(ranks));
  if (!plot.empty() && !drawing::isPng(plot) && !llvm::StringRef(plot).ends_with(".svg"))
    return fail("--plot: expected a file .svg or .png, got '" + plot + "'");
  cost::Result<Sweep> sweep = parseSweep(sweepText);
  if (!sweep)
    return fail("--sweep: " + sweep.error().text());
  if (std::string error =
          ::braid::command::checkOutputs({{"--plot", plot}}, ::braid::command::clusterInputs("--cluster", clusterFile));
      !error.empty())
    return fail(error);

  PriceReports reports{sweep->knob, {}};
  for (const std::string &value : sweep->values) {
    std::vector<cost::ClusterOverride> overrides;
    if (!sweep->knob.empty())
      overrides.push_back({sweep->knob, value});
    cost::Result<cost::Cluster> cluster = cost::readCluster(clusterFile, overrides);
    if (!cluster)
      return fail(cluster.error().text());
    if (*engine == cost::Engine::Nccl && reports.reports.empty() && !cluster->staleNccl.empty())
      llvm::errs() << "warning: " << cluster->staleNccl << "\n";
    if (*engine == cost::Engine::Nccl && reports.reports.empty() && !cluster->unreachableNccl.empty())
      llvm::errs() << "warning: " << cluster->unreachableNccl << "; priced with what the NICs carry\n";
    cost::Result<cost::Placement> placement = placeRanks(placementText, ranks, *cluster);
    if (!placement)
      return fail(placement.error().text());
    std::vector<int64_t> counts;
    if (!countsFile.empty()) {
      cost::Result<std::vector<int64_t>> read = readCounts(countsFile, int(placement->deviceOf.size()));
      if (!read)
        return fail("--counts: " + read.error().text());
      counts = *read;
    }
    reports.reports.push_back(priceAll(*kind, *sizes, *quantiles, *cluster, *placement, *engine, counts));
    reports.reports.back().value = value;
  }

  std::string text;
  llvm::raw_string_ostream os(text);
  (format == "json"  ? printJson
   : format == "csv" ? printCsv
                     : static_cast<void (*)(const PriceReports &, llvm::raw_ostream &)>(printText))(reports, os);
  if (std::string note = noteOnSweep(reports); !note.empty())
    llvm::errs() << "note: --sweep: " << sweep->knob << " changes no price here (engine " << cost::name(*engine)
                 << "): " << note << '\n';
  if (!plot.empty()) {
    std::string svg = plotSvg(reports), png;
    std::string error = drawing::isPng(plot) ? drawing::renderPng(svg, png) : "";
    if (!error.empty())
      return fail("--plot " + plot + ": " + error);
    error = ::braid::command::writeFile(plot, drawing::isPng(plot) ? png : svg);
    if (!error.empty())
      return fail(error);
  }
  llvm::outs() << text;
  return 0;
}
