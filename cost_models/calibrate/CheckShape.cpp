//===- CheckShape.cpp - whether a table's ranks are the cluster's, and its rows what they seem ----------------------===//
//
// What is wrong before any time is looked at: hosts or ranks that the cluster file has not, a row that stands there twice,
// percentiles in an order that no times have.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/CheckShape.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace braid::cost {

static std::string at(const MeasuredTable &table, const MeasuredRow &row) {
  return table.path + ":" + std::to_string(row.line);
}

std::optional<Error> wrongShape(MeasuredTable &table, const Cluster &cluster, bool placed) {
  std::set<int> full = {cluster.devicesPerHost}; // devices of a host, all in use
  for (const HostGroup &group : cluster.groups)
    full.insert(group.devicesPerHost);
  const std::string &file = cluster.name;
  int largest = 0;
  for (const MeasuredRow &row : table.rows) {
    if (placed || !row.hostsKnown) {
      if (row.ranks() > cluster.ranks())
        return Error{
            text("ranks: expected at most the %d devices of cluster file %s, got %d x %d (a file of the machine that "
                 "was measured, with as many hosts and devices_per_host)",
                 cluster.ranks(), file.c_str(), row.hosts, row.perHost),
            at(table, row)};
      continue;
    }
    largest = std::max(largest, row.hosts);
    if (row.hosts > cluster.hosts)
      return Error{
          text("nodes: expected at most the %d hosts of cluster file %s, got %d (a file of the machine that was "
               "measured, or one that takes over this and sets hosts)",
               cluster.hosts, file.c_str(), row.hosts),
          at(table, row)};
    // One host may be measured in part. Of several, the cards of the others' ranks would stand idle, and what is fitted as a
    // rate of all cards would be that of some.
    if (row.perHost > cluster.devicesPerHost || (row.hosts > 1 && !full.count(row.perHost)))
      return Error{
          text("ranks per node: expected the %d devices of a host of cluster file %s, got %d (a file that takes over "
               "this and sets devices_per_host and nics_per_host, if jobs are of %d ranks per node)",
               cluster.devicesPerHost, file.c_str(), row.perHost, row.perHost),
          at(table, row)};
  }
  if (largest && largest < cluster.hosts)
    table.notes.push_back(text("at most %d of the %d hosts of %s were measured: beyond, prices go by the model alone",
                               largest, cluster.hosts, file.c_str()));
  return std::nullopt;
}

std::optional<Error> wrongOrder(const MeasuredTable &table) {
  auto nameOf = [](double quantile) {
    return quantile == 0 ? std::string("min") : quantile == 1 ? "max" : text("p%.10g", 100 * quantile);
  };
  auto shown = [](Seconds time) { return toString(time); };
  for (const MeasuredRow &row : table.rows) {
    auto refused = [&](const std::string &one, Seconds a, const std::string &other, Seconds b) {
      return Error{"percentiles: expected times that do not fall from " + one + " to " + other + ", got " + shown(a) +
                       " and " + shown(b) + "; did columns change places?",
                   at(table, row)};
    };
    // setting: columns are rounded, each in its own way.
    auto above = [](Seconds a, Seconds b) { return a > b * 1.002; };
    const std::pair<const double, Seconds> *last = nullptr;
    for (const auto &point : row.quantiles) {
      if (last && above(last->second, point.second))
        return refused(nameOf(last->first), last->second, nameOf(point.first), point.second);
      last = &point;
    }
    for (auto [name, time] : {std::make_pair("mean", row.mean), std::make_pair("time", row.time)}) {
      auto least = row.quantiles.find(0), most = row.quantiles.find(1);
      if (time.value > 0 && least != row.quantiles.end() && above(least->second, time))
        return refused("min", least->second, name, time);
      if (time.value > 0 && most != row.quantiles.end() && above(time, most->second))
        return refused(name, time, "max", most->second);
    }
  }
  return std::nullopt;
}

/// Whether two rows are the same to the last digit.
static bool copied(const MeasuredRow &a, const MeasuredRow &b) {
  if (!a.written.empty() || !b.written.empty())
    return a.written == b.written;
  return a.time.value == b.time.value && a.algBandwidth == b.algBandwidth && a.busBandwidth == b.busBandwidth;
}

std::optional<Error> wrongRepetition(MeasuredTable &table) {
  using Cell = std::tuple<CollectiveKind, int, int, std::string, std::string, int64_t>;
  std::map<Cell, std::vector<const MeasuredRow *>> cells;
  for (const MeasuredRow &row : table.rows)
    cells[{row.kind, row.hosts, row.perHost, row.algorithm, row.job, row.bytes.value}].push_back(&row);
  int repeated = 0, same = 0;
  const MeasuredRow *first = nullptr, *again = nullptr;
  for (const auto &cell : cells)
    for (auto row = cell.second.begin() + 1; row != cell.second.end(); ++row) {
      ++repeated;
      auto twin = std::find_if(cell.second.begin(), row, [&](auto *other) { return copied(*other, **row); });
      if (twin == row)
        continue;
      ++same;
      if (!again || (*row)->line < again->line)
        std::tie(first, again) = std::make_pair(*twin, *row);
    }
  // Cells that were measured again and again come out alike now and then; where most do, rows were copied.
  if (2 * same > repeated)
    return Error{
        text("twice: expected each row once, got that of line %d again%s (leave out the copy; a column 'job' tells "
             "jobs apart that are measured alike)",
             first->line, same > 1 ? text(", and %d more", same - 1).c_str() : ""),
        at(table, *again)};
  if (repeated)
    table.notes.push_back(text("%d rows repeat a size that was measured before: all count", repeated));
  return std::nullopt;
}

} // namespace braid::cost
