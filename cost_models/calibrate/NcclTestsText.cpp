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
// Columns are found by the head's words, since versions differ (root, #wrong; redop may be left blank where nothing is
// reduced); the first time is out of place, and is the one that counts, as a program's operand and result are two buffers. Several runs may follow each other: each head begins a section. Pasted output has
// often lost its #, or carries a launcher's mark in front of each line ("[1,0]<stdout>:", "0: ").
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/TableText.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace braid::cost {

Error missingRanks(const std::string &path) {
  return Error{"measured table, expected to learn the numbers of nodes and of ranks per node, got no lines that name "
               "them (--nodes and --per-node give them)",
               path};
}

/// The words of a line without a launcher's mark and without the # of comments.
static std::vector<std::string> barewords(const std::string &line) {
  std::vector<std::string> words = wordsOf(withoutMark(line));
  if (!words.empty() && words[0] == "#")
    words.erase(words.begin());
  return words;
}

static bool has(const std::vector<std::string> &words, const char *word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

static bool isHead(const std::vector<std::string> &words) {
  return has(words, "size") && has(words, "count") && has(words, "type") && has(words, "time") && has(words, "busbw");
}

bool isNcclTests(const Lines &lines) {
  return std::any_of(lines.begin(), lines.end(), [](const std::string &line) { return isHead(barewords(line)); });
}

namespace {

class Reader {
public:
  Reader(const std::string &path, const TableHints &hints) : hints(hints) {
    table.path = table.source = path;
    table.format = "nccl-tests";
  }

  Result<MeasuredTable> read(const Lines &lines) {
    int number = 0;
    for (const std::string &line : lines)
      if (std::optional<Error> wrong = take(barewords(line), ++number))
        return *wrong;
    if (std::optional<Error> wrong = endSection())
      return *wrong;
    if (inPlace)
      table.notes.push_back("times are the out-of-place column's; the in-place one is not used");
    if (table.rows.empty())
      return Error{
          "measured table, expected rows below the head of nccl-tests, got none; did the benchmark run to its end?",
          table.path};
    return std::move(table);
  }

private:
  Error at(int number, const std::string &message) const {
    return {message, table.path + ":" + std::to_string(number)};
  }

  std::optional<Error> take(const std::vector<std::string> &words, int number) {
    if (words.empty())
      return std::nullopt;
    for (const std::string &word : words)
      if (word.size() > 5 && word.compare(word.size() - 5, 5, "_perf") == 0) { // the first line of a run, and the last
        if (std::optional<Error> wrong = endSection())
          return wrong;
        program = word.substr(word.find_last_of('/') + 1);
      }
    if (has(words, "nThread")) { // the first line of a run: its ranks follow
      if (std::optional<Error> wrong = endSection())
        return wrong;
      hostOf.clear();
      head.clear();
    }
    if (auto on = std::find(words.begin(), words.end(), "on");
        words[0] == "Rank" && words.size() > 4 && on != words.end() && on + 1 != words.end()) {
      std::optional<double> rank = numberOf(words[1]);
      if (!rank || *rank < 0 || *rank != std::floor(*rank))
        return at(number, "rank, expected a whole number, got '" + words[1] + "'");
      hostOf[int64_t(*rank)] = *(on + 1);
      return std::nullopt;
    }
    if (std::string all = joined(words); all.rfind("Out of bounds values", 0) == 0 && has(words, "FAILED"))
      return at(number,
                "expected 'Out of bounds values : 0 OK' (a run whose results are wrong says nothing of its time), "
                "got '" +
                    all + "'");
    if (isHead(words)) {
      if (std::optional<Error> wrong = endSection())
        return wrong;
      head = words;
      inPlace = inPlace || std::count(head.begin(), head.end(), "time") > 1;
      unit = 1e-6;
      time = size_t(std::find(head.begin(), head.end(), "time") - head.begin());
      if (time + 2 >= head.size() || head[time + 1] != "algbw" || head[time + 2] != "busbw")
        return at(number, "head of nccl-tests, expected columns time, algbw and busbw one after the other, got others");
      return std::nullopt;
    }
    if (!head.empty() && sectionEmpty())
      for (auto [name, factor] :
           {std::make_pair("(us)", 1e-6), std::make_pair("(ms)", 1e-3), std::make_pair("(s)", 1.)})
        if (has(words, name))
          unit = factor;
    return head.empty() ? std::nullopt : row(words, number);
  }

  /// A row begins with size, count and type: "8 2 float"; anything else is what launchers print.
  std::optional<Error> row(std::vector<std::string> words, int number) {
    static const std::set<std::string> types = {"int8",     "uint8",    "int32",  "uint32", "int64",
                                                "uint64",   "half",     "float",  "double", "bfloat16",
                                                "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"};
    std::optional<double> bytes = numberOf(words[0]);
    bool typed = words.size() > 2 && types.count(words[2]);
    if (words.size() < 2 || (!typed && !(bytes && numberOf(words[1]))))
      return std::nullopt;
    for (size_t i = 0; i < 2; ++i)
      if (std::optional<double> count = numberOf(words[i]);
          !count || *count < 0 || *count != std::floor(*count) || *count > 1e15)
        return at(number, std::string(i ? "count" : "size") + ", expected a whole number without separators, got '" +
                              words[i] + "'");
    MeasuredRow row;
    row.written = joined(words);
    // Where nothing is reduced, older versions leave redop blank.
    if (auto redop = std::find(head.begin(), head.end(), "redop");
        redop != head.end() && words.size() + 1 == head.size() && numberOf(words[size_t(redop - head.begin())]))
      words.insert(words.begin() + (redop - head.begin()), "none");
    auto cutOff = [&] {
      return at(number, "row of nccl-tests, expected at least " + std::to_string(head.size()) + " fields, got " +
                            std::to_string(words.size()) + " (was it cut off?)");
    };
    if (words.size() <= time + 2)
      return cutOff();
    if (*bytes == 0)
      return std::nullopt; // nothing was sent
    std::optional<double> numbers[3];
    for (size_t i = 0; i < 3; ++i) {
      numbers[i] = numberOf(words[time + i]);
      if (!numbers[i] || *numbers[i] < 0 || (i == 0 && *numbers[i] == 0))
        return at(number, "column " + head[time + i] + ", expected a number" + (i ? "" : " above zero") + ", got '" +
                              words[time + i] + "'");
    }
    if (words.size() < head.size())
      return cutOff();
    for (size_t i = 0; i < head.size(); ++i)
      if (std::optional<double> elements = numberOf(words[i]);
          head[i] == "#wrong" && elements && *elements != 0) // N/A: not checked
        return at(number, "#wrong, expected 0 (a run whose results are wrong says nothing of its time), got '" +
                              words[i] + "'");
    auto named = [&](const char *name) {
      size_t column = size_t(std::find(head.begin(), head.end(), name) - head.begin());
      return column < words.size() ? words[column] : "";
    };
    reduces = named("redop") != "none" && has(head, "redop");
    rooted = !named("root").empty() && named("root") != "-1";
    row.line = number;
    row.bytes = {int64_t(*bytes)};
    row.time = {*numbers[0] * unit};
    row.algBandwidth = *numbers[1];
    row.busBandwidth = *numbers[2];
    if (std::optional<std::string> wrong = outOfOrder(table.rows, sectionBegin, row))
      return at(number, *wrong);
    table.rows.push_back(row);
    return std::nullopt;
  }

  static std::string joined(const std::vector<std::string> &words) {
    std::string all;
    for (const std::string &word : words)
      all += (all.empty() ? "" : " ") + word;
    return all;
  }

  bool sectionEmpty() const { return table.rows.size() == sectionBegin; }

  /// The rows since the last head get their ranks and their collective.
  std::optional<Error> endSection() {
    if (sectionEmpty())
      return std::nullopt;
    int hosts = 0, each = 0;
    if (std::optional<Error> wrong = findRanks(hosts, each))
      return wrong;
    std::optional<CollectiveKind> kind = hints.kind ? hints.kind : collectiveOf(program);
    if (std::optional<std::string> other = otherCollective(hints, collectiveOf(program)))
      return at(table.rows[sectionBegin].line, *other);
    if (!kind && !program.empty())
      return at(table.rows[sectionBegin].line,
                "collective, expected one that is priced, got the program '" + program + "'");
    if (!kind) {
      std::vector<CollectiveKind> fitting = collectivesOfRows(hosts * each);
      if (fitting.size() != 1) {
        std::string among;
        for (CollectiveKind one : fitting)
          among += (among.empty() ? ", of which " : " or ") + std::string(algorithms::name(one));
        return Error{"collective, expected the name of the program (all_reduce_perf, ...), got none" + among +
                         (fitting.empty() ? " (--collective gives it)" : " is the one: --collective says which"),
                     table.path};
      }
      kind = fitting[0];
      table.notes.push_back(std::string("collective: ") + algorithms::name(*kind) +
                            ", by its bus bandwidth; no line names the program (--collective says otherwise)");
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

  /// As the lines name them; where some are left out, as the caller says.
  std::optional<Error> findRanks(int &hosts, int &each) const {
    hosts = hints.hosts;
    each = hints.perHost;
    bool complete = !hostOf.empty() && hostOf.rbegin()->first + 1 == int64_t(hostOf.size());
    if (!complete && hosts && each)
      return std::nullopt;
    if (hostOf.empty())
      return missingRanks(table.path);
    if (!complete)
      return Error{"ranks, expected a line for each of " + std::to_string(hostOf.rbegin()->first + 1) + ", got " +
                       std::to_string(hostOf.size()) + " (--nodes and --per-node say how many there were)",
                   table.path};
    std::map<std::string, int> ranksOn;
    for (const auto &[rank, host] : hostOf)
      ++ranksOn[host];
    hosts = int(ranksOn.size());
    each = ranksOn.begin()->second;
    for (const auto &[host, count] : ranksOn)
      if (count != each)
        return Error{"ranks per node, expected the same everywhere, got " + std::to_string(each) + " and " +
                         std::to_string(count) + " on " + host,
                     table.path};
    for (auto [option, said, found] :
         {std::make_tuple("--nodes", hints.hosts, hosts), std::make_tuple("--per-node", hints.perHost, each)})
      if (said && said != found)
        return Error{std::string(option) + ", expected what the table says, " + std::to_string(found) +
                         ", or nothing, got " + std::to_string(said),
                     table.path};
    return std::nullopt;
  }

  /// The collectives that the last row may be of: by its redop, its root, and the bus over the algorithm bandwidth.
  std::vector<CollectiveKind> collectivesOfRows(int ranks) const {
    const MeasuredRow &last = table.rows.back(); // the largest message, whose bandwidths have most digits
    double factor = last.algBandwidth > 0 ? last.busBandwidth / last.algBandwidth : 0;
    std::vector<CollectiveKind> fitting;
    for (auto [kind, reducing, hasRoot] : {std::make_tuple(CollectiveKind::AllReduce, true, false),
                                           std::make_tuple(CollectiveKind::ReduceScatter, true, false),
                                           std::make_tuple(CollectiveKind::AllGather, false, false),
                                           std::make_tuple(CollectiveKind::AllToAll, false, false),
                                           std::make_tuple(CollectiveKind::Broadcast, false, true)})
      // setting: the table has two digits
      if (reducing == reduces && hasRoot == rooted && std::abs(factor - busFactor(kind, ranks)) <= 0.02)
        fitting.push_back(kind);
    return fitting;
  }

  const TableHints &hints;
  MeasuredTable table;
  size_t sectionBegin = 0;               ///< the first of the rows of the head that was read last
  std::map<int64_t, std::string> hostOf; ///< of each rank that is named
  std::string program;                   ///< "all_reduce_perf"
  bool reduces = false, rooted = false;  ///< the last row's collective
  bool inPlace = false;                  ///< whether there is a second time
  std::vector<std::string> head;
  size_t time = 0; ///< column of the first time; those of its bandwidths follow
  double unit = 1e-6;
};

} // namespace

Result<MeasuredTable> parseNcclTests(const Lines &lines, const std::string &path, const TableHints &hints) {
  return Reader(path, hints).read(lines);
}

} // namespace braid::cost
