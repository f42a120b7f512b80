//===- PriceReport.cpp - prices of one collective as text, CSV and JSON -----------------------------------------===//
//
// Text merges neighbours with one choice into a range and explains the choice at the range's largest size; csv and json
// list each size.
//===------------------------------------------------------------------------------------------------------------===//
#include "PriceReport.h"
#include "braid/cost_models/Measured.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace mlir::braid::sim {

std::string quantileName(double q) { return llvm::formatv("p{0}", llvm::format("%g", q * 100)).str(); }

std::string choiceName(const cost::Candidate &c) {
  std::string name = c.algorithm;
  if (name.size() > 40) // what it takes is a list of ranks or links; csv and json have it
    name = name.substr(0, name.find('(')) + "(...)";
  return name + (c.protocol.empty() ? "" : " " + c.protocol);
}

double busBandwidth(const PriceReport &report, cost::Bytes bytes, cost::Seconds time) {
  // nccl-tests counts all that a gathered result holds.
  bool gathers = report.kind == cost::CollectiveKind::AllGather || report.kind == cost::CollectiveKind::Gather;
  double whole = double(bytes.value) * (gathers ? report.ranks : 1);
  return time.value > 0 ? whole * cost::busFactor(report.kind, report.ranks) / time.value / 1e9 : 0;
}

bool isNotOffered(const std::string &sentence) { return sentence.find(", not offered: ") != std::string::npos; }

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

/// A line for each algorithm that is cheaper at a quantile for some sizes of [begin, end), which follow each other.
static void printCheaper(const PriceReport &report, size_t begin, size_t end, llvm::raw_ostream &os) {
  for (size_t q = 0; q < report.quantiles.size(); ++q)
    for (size_t first = begin, last; first < end; first = last) {
      const cost::Candidate *other = report.rows[first].cheaper[q].first;
      for (last = first + 1; last < end; ++last) {
        const cost::Candidate *next = report.rows[last].cheaper[q].first;
        if (!next != !other || (other && choiceName(*next) != choiceName(*other)))
          break;
      }
      const PriceRow &row = report.rows[last - 1];
      if (other)
        os << "    cheaper at " << quantileName(report.quantiles[q]) << ", "
           << span(cost::toString(report.rows[first].bytes), cost::toString(row.bytes)) << ": " << choiceName(*other)
           << ", " << cost::toString(row.cheaper[q].second) << " for " << cost::toString(row.quantiles[q].first)
           << "\n";
    }
}

/// What the sizes are of: nccl-tests counts the larger buffer of a rank.
static std::string sizeOf(const PriceReport &report) {
  bool gathers = report.kind == cost::CollectiveKind::AllGather || report.kind == cost::CollectiveKind::Gather;
  return "size = operand of each rank" + (gathers ? ", of which nccl-tests and braid-bench count the result, " +
                                                        std::to_string(report.ranks) + " times as much"
                                                  : std::string());
}

static void printText(const PriceReport &report, const std::string &knob, llvm::raw_ostream &os) {
  const cost::Cluster &cluster = report.pricer->cluster();
  if (!knob.empty())
    os << knob << " = " << report.value << "\n";
  os << ::braid::algorithms::name(report.kind) << " on " << cluster.name << ": " << report.ranks << " ranks, engine "
     << cost::name(report.pricer->engine()) << ", predicted (not measured); " << sizeOf(report) << ";\n"
     << "the choice is the engine's own: the cheapest without noise of what it chooses among\n\n"
     << llvm::format("  %-24s %-28s", "size", "algorithm, protocol");
  for (double q : report.quantiles)
    os << llvm::format(" %-22s", quantileName(q).c_str());
  os << " runner-up\n";
  for (size_t begin = 0, end; begin < report.rows.size(); begin = end) {
    const PriceRow &first = report.rows[begin];
    for (end = begin + 1; end < report.rows.size(); ++end)
      if (choiceName(*report.rows[end].choice) != choiceName(*first.choice))
        break;
    const PriceRow &last = report.rows[end - 1];
    os << llvm::format("  %-24s %-28s", span(cost::toString(first.bytes), cost::toString(last.bytes)).c_str(),
                       choiceName(*first.choice).c_str());
    for (size_t i = 0; i < report.quantiles.size(); ++i)
      os << llvm::format(
          " %-22s", span(cost::toString(first.quantiles[i].first), cost::toString(last.quantiles[i].first)).c_str());
    if (last.runnerUp)
      os << " " << choiceName(*last.runnerUp) << " (" << cost::toString(last.runnerUp->time) << " without noise)";
    os << "\n";
    printCheaper(report, begin, end, os);
    os << "    why, at " << cost::toString(last.bytes) << " without noise: " << cost::toString(last.choice->time);
    if (double bus = busBandwidth(report, last.bytes, last.choice->time); bus > 0)
      os << llvm::format(" (bus bandwidth %.4g GB/s)", bus);
    os << " = " << last.choice->why.how << "\n";
    printWhy(last.choice->why.parts, 0, os);
  }
  os << "\n  standard error of the quantiles, at most:";
  for (size_t i = 0; i < report.quantiles.size(); ++i) {
    double worst = 0;
    for (const PriceRow &row : report.rows)
      worst = std::max(worst, row.quantiles[i].first.value ? row.quantiles[i].second / row.quantiles[i].first : 0);
    os << llvm::format(" %s %.2f %%", quantileName(report.quantiles[i]).c_str(), worst * 100);
  }
  os << "\n";
  for (const std::string &sentence : report.pricer->notModelled())
    os << (isNotOffered(sentence) ? "  " : "  not modelled: ") << sentence << "\n";
}

void printText(const PriceReports &reports, llvm::raw_ostream &os) {
  for (const PriceReport &report : reports.reports) {
    if (&report != &reports.reports.front())
      os << "\n";
    printText(report, reports.knob, os);
  }
}

/// One line for each size, and for each value of the knob, which stands last with the bus bandwidth before it.
void printCsv(const PriceReports &reports, llvm::raw_ostream &os) {
  os << "collective,bytes,ranks,engine,algorithm,protocol,channels,price_s";
  for (double q : reports.reports.front().quantiles)
    os << "," << quantileName(q) << "_s," << quantileName(q) << "_stderr_s," << quantileName(q) << "_cheapest";
  os << ",busbw_GBps" << (reports.knob.empty() ? "" : "," + reports.knob) << "\n";
  for (const PriceReport &report : reports.reports)
    for (const PriceRow &row : report.rows) {
      os << ::braid::algorithms::name(report.kind) << "," << row.bytes.value << "," << report.ranks << ","
         << cost::name(report.pricer->engine()) << "," << row.choice->algorithm << "," << row.choice->protocol << ","
         << row.choice->channels << "," << llvm::format("%.9g", row.choice->time.value);
      for (size_t q = 0; q < row.quantiles.size(); ++q)
        os << llvm::format(",%.9g,%.3g,", row.quantiles[q].first.value, row.quantiles[q].second.value)
           << choiceName(row.cheaper[q].first ? *row.cheaper[q].first : *row.choice);
      os << llvm::format(",%.6g", busBandwidth(report, row.bytes, row.choice->time));
      os << (reports.knob.empty() ? "" : "," + report.value) << "\n";
    }
}

static llvm::json::Object toJson(const cost::Candidate &candidate) {
  return llvm::json::Object{{"algorithm", candidate.algorithm},
                            {"protocol", candidate.protocol},
                            {"path", candidate.path},
                            {"price_s", candidate.time.value}};
}

static llvm::json::Object toJson(const cost::PriceTerm &term) {
  llvm::json::Array parts;
  for (const cost::PriceTerm &part : term.parts)
    parts.push_back(toJson(part));
  return llvm::json::Object{
      {"name", term.name}, {"time_s", term.time.value}, {"how", term.how}, {"parts", std::move(parts)}};
}

static llvm::json::Object toJson(const PriceReport &report) {
  llvm::json::Array sizes, missing, withheld;
  for (const PriceRow &row : report.rows) {
    llvm::json::Object size{
        {"bytes", row.bytes.value},         {"algorithm", row.choice->algorithm},
        {"protocol", row.choice->protocol}, {"channels", row.choice->channels},
        {"path", row.choice->path},         {"price_s", row.choice->time.value},
        {"why", toJson(row.choice->why)},   {"busbw_GBps", busBandwidth(report, row.bytes, row.choice->time)}};
    for (size_t i = 0; i < report.quantiles.size(); ++i) {
      std::string name = quantileName(report.quantiles[i]);
      size[name + "_s"] = row.quantiles[i].first.value;
      size[name + "_stderr_s"] = row.quantiles[i].second.value;
      if (auto [other, time] = row.cheaper[i]; other)
        size[name + "_cheaper"] = llvm::json::Object{
            {"algorithm", other->algorithm}, {"protocol", other->protocol}, {name + "_s", time.value}};
    }
    if (row.runnerUp)
      size["runner_up"] = toJson(*row.runnerUp);
    llvm::json::Array candidates;
    for (const cost::Candidate &candidate : *row.candidates)
      candidates.push_back(toJson(candidate));
    size["candidates"] = std::move(candidates);
    sizes.push_back(std::move(size));
  }
  for (const std::string &sentence : report.pricer->notModelled())
    (isNotOffered(sentence) ? withheld : missing).push_back(sentence);
  return llvm::json::Object{{"collective", ::braid::algorithms::name(report.kind)},
                            {"cluster", report.pricer->cluster().name},
                            {"engine", cost::name(report.pricer->engine())},
                            {"ranks", report.ranks},
                            {"size_is", sizeOf(report)},
                            {"sizes", std::move(sizes)},
                            {"not_offered", std::move(withheld)},
                            {"not_modelled", std::move(missing)}};
}

void printJson(const PriceReports &reports, llvm::raw_ostream &os) {
  if (reports.knob.empty()) {
    os << llvm::formatv("{0:2}\n", llvm::json::Value(toJson(reports.reports.front())));
    return;
  }
  llvm::json::Array values;
  for (const PriceReport &report : reports.reports) {
    llvm::json::Object one = toJson(report);
    one["value"] = report.value;
    values.push_back(std::move(one));
  }
  os << llvm::formatv("{0:2}\n",
                      llvm::json::Value(llvm::json::Object{{"knob", reports.knob}, {"values", std::move(values)}}));
}

} // namespace mlir::braid::sim
