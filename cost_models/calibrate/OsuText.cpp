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
#include "calibrate/CsvColumns.h"
#include "calibrate/TableText.h"
#include <algorithm>
#include <cctype>
#include <cmath>

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

/// A title or a head, and no head of a CSV, which may cite a title in a comment.
bool isOsu(const Lines &lines) {
  bool titled = false;
  for (const std::string &line : lines) {
    std::vector<std::string> words = wordsOf(withoutMark(line));
    bool comment = !words.empty() && words[0][0] == '#';
    titled = titled || (words.size() > 2 && words[0] == "#" && words[1] == "OSU" &&
                        std::find(words.begin(), words.end(), "Test") != words.end());
    titled = titled || (words.size() > 2 && words[0] == "#" && words[1] == "Size" &&
                        line.find("Latency(us)") != std::string::npos);
    if (std::string low = lowered(line);
        !comment && low.find_first_of(",;\t") != std::string::npos &&
        (low.find("bytes") != std::string::npos || low.find("size") != std::string::npos))
      return false;
  }
  return titled;
}

namespace {

class Reader {
public:
  Reader(const std::string &path, const TableHints &hints) : hints(hints), kind(hints.kind) {
    table.path = table.source = path;
    table.format = "OSU";
  }

  Result<MeasuredTable> read(const Lines &lines) {
    if (!hints.hosts || !hints.perHost)
      return missingRanks(table.path);
    int number = 0;
    for (const std::string &line : lines) {
      ++number;
      std::vector<std::string> words = wordsOf(withoutMark(line));
      std::optional<std::string> wrong;
      if (words.empty())
        continue;
      if (words[0] == "#")
        wrong = words.size() > 2 && words[1] == "Size" ? head(words) : comment(words);
      else if (std::isdigit(static_cast<unsigned char>(words[0][0])) || words[0][0] == '-')
        wrong = row(words, number);
      if (wrong)
        return Error{*wrong, table.path + ":" + std::to_string(number)};
    }
    if (!kind)
      return Error{"collective, expected a title such as '# OSU MPI Allreduce Latency Test', got none "
                   "(--collective gives it)",
                   table.path};
    if (table.rows.empty())
      return Error{"measured table, expected rows below the head of OSU, got none; did the benchmark run to its end?",
                   table.path};
    for (MeasuredRow &row : table.rows) {
      row.kind = *kind;
      if (*kind == CollectiveKind::AllGather || *kind == CollectiveKind::AllToAll)
        row.bytes.value *= row.ranks();
    }
    return std::move(table);
  }

private:
  std::optional<std::string> head(const std::vector<std::string> &words) {
    columns = columnsOf(words);
    sectionBegin = table.rows.size();
    time = 0;
    for (const char *name : {"P50", "Avg Latency", "Latency"})
      if (!time)
        time = columnOf(columns, name);
    if (!time)
      return "head of OSU, expected a column of latencies, 'Avg Latency(us)', got '" +
             (columns.size() > 1 ? columns[1] : "none") + "' (of what only times whole collectives)";
    for (size_t i = 1; i < columns.size(); ++i)
      if (std::count(columns.begin(), columns.end(), columns[i]) > 1)
        return "head of OSU, expected each column once, got two of '" + columns[i] + "'";
    return std::nullopt;
  }

  std::optional<std::string> comment(const std::vector<std::string> &words) {
    for (const std::string &word : words)
      if (std::optional<CollectiveKind> found = collectiveOf(word)) {
        if (std::optional<std::string> other = otherCollective(hints, found))
          return other;
        if (kind && *kind != *found)
          return "table of OSU, expected one collective, got a second one";
        kind = found;
      }
    return std::nullopt;
  }

  std::optional<std::string> row(const std::vector<std::string> &words, int number) {
    std::optional<double> bytes = numberOf(words[0]);
    if (!bytes && (!time || words.size() < columns.size()))
      return std::nullopt; // what launchers print
    if (!bytes || *bytes < 0 || *bytes != std::floor(*bytes) || *bytes > 1e15)
      return "size, expected a whole number without separators, got '" + words[0] + "'";
    if (!time)
      return "row of OSU, expected a head '# Size  Avg Latency(us)' above it, got none";
    if (*bytes == 0)
      return std::nullopt;
    MeasuredRow row;
    for (size_t i = 1; i < columns.size(); ++i) {
      if (columns[i] == "Validation" && i < words.size() && lowered(words[i]).rfind("fail", 0) == 0)
        return "validation, expected Pass (a run whose results are wrong says nothing of its time), got '" + words[i] +
               "'";
      if (columns[i].find("(us)") == std::string::npos)
        continue;
      std::optional<double> value = i < words.size() ? numberOf(words[i]) : std::nullopt;
      if (!value || !(*value > 0))
        return "row of OSU, expected a number above zero in column '" + columns[i] + "', got " +
               (i < words.size() ? "'" + words[i] + "'" : "none");
      std::string name = lowered(columns[i].substr(0, columns[i].find(' ')));
      if (i == time)
        row.time = microseconds(*value);
      if (name == "avg" || name == "latency")
        row.mean = microseconds(*value);
      else if (std::optional<double> quantile = quantileNamed(name))
        row.quantiles[*quantile] = microseconds(*value);
    }
    if (words.size() < columns.size())
      return "row of OSU, expected " + std::to_string(columns.size()) + " fields, got " + std::to_string(words.size()) +
             " (was it cut off?)";
    // setting: the two percentiles that a row keeps by name
    row.p90 = row.quantiles.count(0.9) ? row.quantiles[0.9] : Seconds{};
    // setting: as above
    row.p99 = row.quantiles.count(0.99) ? row.quantiles[0.99] : Seconds{};
    row.line = number;
    for (const std::string &word : words)
      row.written += (row.written.empty() ? "" : " ") + word;
    row.bytes = {int64_t(*bytes)};
    row.hosts = hints.hosts;
    row.perHost = hints.perHost;
    row.job = std::to_string(hints.hosts);
    if (std::optional<std::string> wrong = outOfOrder(table.rows, sectionBegin, row))
      return wrong;
    table.rows.push_back(row);
    return std::nullopt;
  }

  const TableHints &hints;
  MeasuredTable table;
  std::optional<CollectiveKind> kind;
  std::vector<std::string> columns;
  size_t time = 0; ///< column of the time that is taken; 0: no head yet
  size_t sectionBegin = 0;
};

} // namespace

Result<MeasuredTable> parseOsu(const Lines &lines, const std::string &path, const TableHints &hints) {
  return Reader(path, hints).read(lines);
}

} // namespace braid::cost
