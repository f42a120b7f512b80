//===- BenchmarkText.cpp - what nccl-tests and the OSU micro-benchmarks print -------------------------------------===//
//
// nccl-tests (all_reduce_perf -b 8 -e 8G -f 2 -g 1 and the like):
//
//   #  Rank  0 Group  0 Pid  12 on    node-1 device  0 [0x06] NVIDIA H100
//   #                                                 out-of-place                       in-place
//   #       size         count    type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//   #        (B)    (elements)                             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
//             8             2   float     sum      -1    45.72    0.00    0.00      0    29.31    0.00    0.00      0
//
// Columns are found by the head's words, since versions differ (root, #wrong); the first time is out of place.
//
// OSU (osu_allreduce -f):
//
//   # OSU MPI Allreduce Latency Test v7.3
//   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations   P50 Tail Lat(us) ...
//   4                       2.10              1.95              2.31        1000
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/TableText.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace braid::cost {

static Error missingRanks(const std::string &path) {
  return Error{"measured table, expected to learn the numbers of nodes and of ranks per node, got no lines that name "
               "them (--nodes and --per-node give them)",
               path};
}

Result<MeasuredTable> parseNcclTests(const std::string &text, const std::string &path, const TableHints &hints) {
  MeasuredTable table;
  table.path = table.source = path;
  table.format = "nccl-tests";
  std::map<std::string, int> ranksOn;
  std::optional<CollectiveKind> kind = hints.kind;
  std::vector<std::string> head;
  double unit = 1e-6;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string place = path + ":" + std::to_string(number);
    std::vector<std::string> words = wordsOf(line);
    if (words.empty())
      continue;
    if (!kind)
      for (const char *name :
           {"all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "alltoall_perf", "broadcast_perf"})
        if (line.find(name) != std::string::npos)
          kind = collectiveOf(name);
    // Pasted output often has lost the # of its comments.
    if (words[0] == "#")
      words.erase(words.begin());
    if (words.empty())
      continue;
    auto has = [&](const std::string &word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    auto on = std::find(words.begin(), words.end(), "on");
    if (words.size() > 4 && words[0] == "Rank" && on != words.end() && on + 1 != words.end())
      ++ranksOn[*(on + 1)];
    if (has("redop") && has("busbw"))
      head = words;
    else if (!head.empty() && table.rows.empty())
      for (auto [name, factor] : std::map<std::string, double>{{"(us)", 1e-6}, {"(ms)", 1e-3}, {"(s)", 1}})
        if (has(name))
          unit = factor;
    std::optional<double> bytes = numberOf(words[0]);
    if (head.empty() || !bytes)
      continue; // what launchers print
    auto column = [&](const char *name) { return size_t(std::find(head.begin(), head.end(), name) - head.begin()); };
    size_t time = column("time");
    if (words.size() <= time + 2)
      return Error{"row of nccl-tests, expected at least " + std::to_string(time + 3) + " fields, got " +
                       std::to_string(words.size()),
                   place};
    std::optional<double> value = numberOf(words[time]), algbw = numberOf(words[time + 1]),
                          busbw = numberOf(words[time + 2]);
    if (!value || !algbw || !busbw || !(*bytes > 0))
      continue; // size 0, "N/A"
    MeasuredRow row;
    row.line = number;
    row.bytes = {int64_t(*bytes)};
    row.time = {*value * unit};
    row.algBandwidth = *algbw;
    row.busBandwidth = *busbw;
    if (row.time.value > 0)
      table.rows.push_back(row);
  }
  int hosts = hints.hosts, each = hints.perHost;
  if (!hosts || !each) {
    if (ranksOn.empty())
      return missingRanks(path);
    hosts = int(ranksOn.size());
    each = ranksOn.begin()->second;
    for (const auto &[host, count] : ranksOn)
      if (count != each)
        return Error{"ranks per node, expected the same everywhere, got " + std::to_string(each) + " and " +
                         std::to_string(count) + " on " + host,
                     path};
  }
  if (!kind) {
    // The bus bandwidth of the largest message tells all_reduce from the collectives that move half as much.
    double factor = table.rows.empty() || table.rows.back().algBandwidth <= 0
                        ? 0
                        : table.rows.back().busBandwidth / table.rows.back().algBandwidth;
    if (std::abs(factor - busFactor(CollectiveKind::AllReduce, hosts * each)) > 0.02)
      return Error{
          "collective, expected the name of the program (all_reduce_perf, ...), got none (--collective gives it)",
          path};
    kind = CollectiveKind::AllReduce;
  }
  for (MeasuredRow &row : table.rows) {
    row.hosts = hosts;
    row.perHost = each;
    row.kind = *kind;
    row.job = std::to_string(hosts);
  }
  return table;
}

Result<MeasuredTable> parseOsu(const std::string &text, const std::string &path, const TableHints &hints) {
  MeasuredTable table;
  table.path = table.source = path;
  table.format = "OSU";
  if (!hints.hosts || !hints.perHost)
    return missingRanks(path);
  std::optional<CollectiveKind> kind = hints.kind;
  int timeAt = 1, p90 = 0, p99 = 0;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::vector<std::string> words = wordsOf(line);
    if (words.empty())
      continue;
    if (words[0] == "#") {
      if (!kind)
        for (const std::string &word : words)
          if (std::optional<CollectiveKind> found = collectiveOf(word))
            kind = found;
      if (words.size() > 2 && words[1] == "Size") {
        // Columns are named by several words; each ends with its unit, or is the number of iterations.
        int at = 0;
        for (const std::string &word : words) {
          bool ends = word.find("(us)") != std::string::npos || word == "Iterations" || word == "Size";
          if (word == "P50")
            timeAt = at;
          if (word == "P90")
            p90 = at;
          if (word == "P99")
            p99 = at;
          at += ends;
        }
      }
      continue;
    }
    std::optional<double> bytes = numberOf(words[0]);
    if (!bytes || !(*bytes > 0))
      continue;
    auto at = [&](int column) {
      return column > 0 && column < int(words.size()) ? numberOf(words[column]) : std::nullopt;
    };
    std::optional<double> time = at(timeAt);
    if (!time || !(*time > 0))
      return Error{"row of OSU, expected a latency in us in column " + std::to_string(timeAt + 1) + ", got none",
                   path + ":" + std::to_string(number)};
    MeasuredRow row;
    row.line = number;
    row.bytes = {int64_t(*bytes)};
    row.time = microseconds(*time);
    row.p90 = microseconds(at(p90).value_or(0));
    row.p99 = microseconds(at(p99).value_or(0));
    row.hosts = hints.hosts;
    row.perHost = hints.perHost;
    row.job = std::to_string(hints.hosts);
    table.rows.push_back(row);
  }
  if (!kind)
    return Error{
        "collective, expected a title such as '# OSU MPI Allreduce Latency Test', got none (--collective gives it)",
        path};
  for (MeasuredRow &row : table.rows)
    row.kind = *kind;
  return table;
}

} // namespace braid::cost
