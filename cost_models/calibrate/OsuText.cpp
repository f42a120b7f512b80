//===- OsuText.cpp - what the OSU micro-benchmarks of collectives print -------------------------------------------===//
//
// osu_allreduce -f, and with percentiles:
//
//   # OSU MPI Allreduce Latency Test v7.3
//   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations   P50 Tail Lat(us) ...
//   4                       2.10              1.95              2.31        1000
//
// Sizes are those of what a rank sends to each of the others: MeasuredRow has those of the larger buffer.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/TableText.h"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace braid::cost {

/// Names of columns are of several words; each ends with its unit, or is one of these.
static std::vector<std::string> columnsOf(const std::vector<std::string> &words) {
  std::vector<std::string> columns(1);
  for (size_t i = 1; i < words.size(); ++i) { // after the #
    columns.back() += (columns.back().empty() ? "" : " ") + words[i];
    if (words[i].back() == ')' || words[i] == "Size" || words[i] == "Iterations" || words[i] == "Validation")
      columns.emplace_back();
  }
  if (columns.back().empty())
    columns.pop_back();
  return columns;
}

/// The column that begins with these words and is in microseconds; 0: there is none.
static size_t columnOf(const std::vector<std::string> &columns, const std::string &begin) {
  for (size_t i = 1; i < columns.size(); ++i)
    if (columns[i].rfind(begin, 0) == 0 && columns[i].find("(us)") != std::string::npos)
      return i;
  return 0;
}

Result<MeasuredTable> parseOsu(const std::string &text, const std::string &path, const TableHints &hints) {
  MeasuredTable table;
  table.path = table.source = path;
  table.format = "OSU";
  if (!hints.hosts || !hints.perHost)
    return missingRanks(path);
  std::optional<CollectiveKind> kind = hints.kind;
  std::vector<std::string> columns;
  size_t time = 0;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string place = path + ":" + std::to_string(number);
    std::vector<std::string> words = wordsOf(line);
    if (words.empty())
      continue;
    if (words[0] == "#" && words.size() > 2 && words[1] == "Size") {
      columns = columnsOf(words);
      time = 0;
      for (const char *name : {"P50", "Avg Latency", "Latency"})
        if (!time)
          time = columnOf(columns, name);
      if (!time)
        return Error{"head of OSU, expected a column of latencies, 'Avg Latency(us)', got '" +
                         (columns.size() > 1 ? columns[1] : "none") + "' (of what only times whole collectives)",
                     place};
    } else if (words[0] == "#") {
      for (const std::string &word : words)
        if (std::optional<CollectiveKind> found = collectiveOf(word); found && !hints.kind) {
          if (kind && *kind != *found)
            return Error{"table of OSU, expected one collective, got a second one", place};
          kind = found;
        }
    } else if (std::optional<double> bytes = numberOf(words[0])) {
      if (!time)
        return Error{"row of OSU, expected a head '# Size  Avg Latency(us)' above it, got none", place};
      if (*bytes < 0 || *bytes != std::floor(*bytes) || *bytes > 1e15)
        return Error{"size, expected a whole number above zero, got '" + words[0] + "'", place};
      if (*bytes == 0)
        continue;
      auto at = [&](size_t column) {
        return column > 0 && column < words.size() ? numberOf(words[column]) : std::nullopt;
      };
      std::optional<double> value = at(time);
      if (!value || !(*value > 0))
        return Error{"row of OSU, expected a number above zero in column '" + columns[time] + "', got " +
                         (time < words.size() ? "'" + words[time] + "'" : "none"),
                     place};
      MeasuredRow row;
      row.line = number;
      row.bytes = {int64_t(*bytes)};
      row.time = microseconds(*value);
      row.p90 = microseconds(at(columnOf(columns, "P90")).value_or(0));
      row.p99 = microseconds(at(columnOf(columns, "P99")).value_or(0));
      row.hosts = hints.hosts;
      row.perHost = hints.perHost;
      row.job = std::to_string(hints.hosts);
      table.rows.push_back(row);
    }
  }
  if (!kind)
    return Error{
        "collective, expected a title such as '# OSU MPI Allreduce Latency Test', got none (--collective gives it)",
        path};
  for (MeasuredRow &row : table.rows) {
    row.kind = *kind;
    if (*kind == CollectiveKind::AllGather || *kind == CollectiveKind::AllToAll)
      row.bytes.value *= row.ranks();
  }
  return table;
}

} // namespace braid::cost
