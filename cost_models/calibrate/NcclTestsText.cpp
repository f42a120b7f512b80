//===- NcclTestsText.cpp - what nccl-tests prints -----------------------------------------------------------------===//
//
// all_reduce_perf -b 8 -e 8G -f 2 -g 1 and the like:
//
//   # Collective test starting: all_reduce_perf                                              (since 2.16)
//   #  Rank  0 Group  0 Pid  12 on    node-1 device  0 [0x06] NVIDIA H100
//   #                                                 out-of-place                       in-place
//   #       size         count    type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//   #        (B)    (elements)                             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
//             8             2   float     sum      -1    45.72    0.00    0.00      0    29.31    0.00    0.00      0
//
// Columns are found by the head's words, since versions differ (root, #wrong); the first time is out of place. Several runs
// may follow each other: each head begins a section. Pasted output has often lost its #, or carries a launcher's mark in
// front of each line ("[1,0]<stdout>:", "0: ").
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/TableText.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace braid::cost {

Error missingRanks(const std::string &path) {
  return Error{"measured table, expected to learn the numbers of nodes and of ranks per node, got no lines that name "
               "them (--nodes and --per-node give them)",
               path};
}

/// The words of a line without a launcher's mark and without the # of comments.
static std::vector<std::string> barewords(std::string line) {
  size_t colon = line.find(':');
  std::string mark = colon == std::string::npos ? "" : line.substr(0, colon);
  bool numbered = !mark.empty() && mark.find_first_not_of(" 0123456789") == std::string::npos;
  if (numbered || mark.find("<stdout>") != std::string::npos || mark.find("<stderr>") != std::string::npos)
    line.erase(0, colon + 1);
  std::vector<std::string> words = wordsOf(line);
  if (!words.empty() && words[0] == "#")
    words.erase(words.begin());
  return words;
}

namespace {

class Reader {
public:
  Reader(const std::string &path, const TableHints &hints) : hints(hints) {
    table.path = table.source = path;
    table.format = "nccl-tests";
  }

  Result<MeasuredTable> read(const std::string &text) {
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);)
      if (std::optional<Error> wrong = take(barewords(line), ++number))
        return *wrong;
    if (std::optional<Error> wrong = endSection())
      return *wrong;
    if (table.rows.empty())
      return Error{"measured table, expected rows below the head of nccl-tests, got none", table.path};
    return std::move(table);
  }

private:
  Error at(int number, const std::string &message) const {
    return {message, table.path + ":" + std::to_string(number)};
  }

  std::optional<Error> take(const std::vector<std::string> &words, int number) {
    auto has = [&](const char *word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    if (words.empty())
      return std::nullopt;
    for (const std::string &word : words)
      if (word.size() > 5 && word.compare(word.size() - 5, 5, "_perf") == 0) { // the first line of a run, and the last
        if (std::optional<Error> wrong = endSection())
          return wrong;
        program = word.substr(word.find_last_of('/') + 1);
      }
    if (has("nThread")) { // the first line of a run: its ranks follow
      if (std::optional<Error> wrong = endSection())
        return wrong;
      ranksOn.clear();
      head.clear();
    }
    if (auto on = std::find(words.begin(), words.end(), "on");
        words[0] == "Rank" && words.size() > 4 && on != words.end() && on + 1 != words.end()) {
      ++ranksOn[*(on + 1)];
      return std::nullopt;
    }
    if (has("redop") && has("busbw")) {
      if (std::optional<Error> wrong = endSection())
        return wrong;
      head = words;
      unit = 1e-6;
      time = size_t(std::find(head.begin(), head.end(), "time") - head.begin());
      if (time + 2 >= head.size() || head[time + 1] != "algbw" || head[time + 2] != "busbw")
        return at(number, "head of nccl-tests, expected columns time, algbw and busbw one after the other, got others");
      return std::nullopt;
    }
    if (!head.empty() && sectionEmpty())
      for (auto [name, factor] :
           {std::make_pair("(us)", 1e-6), std::make_pair("(ms)", 1e-3), std::make_pair("(s)", 1.)})
        if (has(name))
          unit = factor;
    return head.empty() ? std::nullopt : row(words, number);
  }

  /// A row begins with size, count and type: "8 2 float"; anything else is what launchers print.
  std::optional<Error> row(const std::vector<std::string> &words, int number) {
    std::optional<double> bytes = numberOf(words[0]);
    if (!bytes || words.size() < 2 || !numberOf(words[1])) {
      if (looksGrouped(words[0]))
        return at(number, "size, expected a whole number without separators, got '" + words[0] + "'");
      return std::nullopt;
    }
    if (words.size() <= time + 2)
      return at(number, "row of nccl-tests, expected at least " + std::to_string(time + 3) + " fields, got " +
                            std::to_string(words.size()));
    if (*bytes == 0)
      return std::nullopt; // nothing was sent
    std::optional<double> numbers[3];
    for (size_t i = 0; i < 3; ++i) {
      numbers[i] = numberOf(words[time + i]);
      if (!numbers[i] || *numbers[i] < 0 || (i == 0 && *numbers[i] == 0))
        return at(number, "column " + head[time + i] + ", expected a number" + (i ? "" : " above zero") + ", got '" +
                              words[time + i] + "'");
    }
    if (*bytes < 0 || *bytes != std::floor(*bytes) || *bytes > 1e15)
      return at(number, "size, expected a whole number above zero, got '" + words[0] + "'");
    if (size_t wrong = time + 3; wrong < head.size() && wrong < words.size() && head[wrong] == "#wrong")
      if (std::optional<double> elements = numberOf(words[wrong]); elements && *elements != 0) // N/A: not checked
        return at(number, "#wrong, expected 0 (a run whose results are wrong says nothing of its time), got '" +
                              words[wrong] + "'");
    auto named = [&](const char *name) {
      size_t column = size_t(std::find(head.begin(), head.end(), name) - head.begin());
      return column < words.size() ? words[column] : "";
    };
    reduces = named("redop") != "none";
    rooted = !named("root").empty() && named("root") != "-1";
    MeasuredRow row;
    row.line = number;
    row.bytes = {int64_t(*bytes)};
    row.time = {*numbers[0] * unit};
    row.algBandwidth = *numbers[1];
    row.busBandwidth = *numbers[2];
    table.rows.push_back(row);
    return std::nullopt;
  }

  static bool looksGrouped(const std::string &word) {
    return word.find(',') != std::string::npos && word.find_first_not_of("0123456789,") == std::string::npos;
  }

  bool sectionEmpty() const { return table.rows.size() == sectionBegin; }

  /// The rows since the last head get their ranks and their collective.
  std::optional<Error> endSection() {
    if (sectionEmpty())
      return std::nullopt;
    int hosts = hints.hosts, each = hints.perHost;
    if (!hosts || !each) {
      if (ranksOn.empty())
        return missingRanks(table.path);
      hosts = int(ranksOn.size());
      each = ranksOn.begin()->second;
      for (const auto &[host, count] : ranksOn)
        if (count != each)
          return Error{"ranks per node, expected the same everywhere, got " + std::to_string(each) + " and " +
                           std::to_string(count) + " on " + host,
                       table.path};
    }
    std::optional<CollectiveKind> kind = hints.kind ? hints.kind : collectiveOf(program);
    if (!kind && !program.empty())
      return at(table.rows[sectionBegin].line,
                "collective, expected one that is priced, got the program '" + program + "'");
    if (!kind) {
      // The bus bandwidth of the largest message tells all_reduce from reduce_scatter, which moves half as much.
      const MeasuredRow &last = table.rows.back();
      double factor = last.algBandwidth > 0 ? last.busBandwidth / last.algBandwidth : 0;
      // setting: the table has two digits
      if (!reduces || rooted || std::abs(factor - busFactor(CollectiveKind::AllReduce, hosts * each)) > 0.02)
        return Error{
            "collective, expected the name of the program (all_reduce_perf, ...), got none (--collective gives it)",
            table.path};
      kind = CollectiveKind::AllReduce;
    }
    for (; sectionBegin < table.rows.size(); ++sectionBegin) {
      MeasuredRow &row = table.rows[sectionBegin];
      row.hosts = hosts;
      row.perHost = each;
      row.kind = *kind;
      row.job = std::to_string(hosts);
    }
    return std::nullopt;
  }

  const TableHints &hints;
  MeasuredTable table;
  size_t sectionBegin = 0; ///< the first of the rows of the head that was read last
  std::map<std::string, int> ranksOn;
  std::string program;                  ///< "all_reduce_perf"
  bool reduces = false, rooted = false; ///< the last row's collective
  std::vector<std::string> head;
  size_t time = 0; ///< column of the first time; those of its bandwidths follow
  double unit = 1e-6;
};

} // namespace

Result<MeasuredTable> parseNcclTests(const std::string &text, const std::string &path, const TableHints &hints) {
  return Reader(path, hints).read(text);
}

} // namespace braid::cost
