//===- ReadTable.cpp - CSV tables, and which reader a text needs -------------------------------------------------===//
//
// settings: all numbers here are units, or how much of a file is believed and said.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/TableText.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace braid::cost {

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::string> wordsOf(const std::string &line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::optional<double> numberOf(const std::string &text) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos)
    return std::nullopt;
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (*end || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<CollectiveKind> collectiveOf(std::string text) {
  text = lowered(text);
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '_' || c == '-' || c == ' '; }),
             text.end());
  for (const char *suffix : {"perf", "mpi"})
    if (text.size() > 4 && text.compare(text.size() - std::string(suffix).size(), std::string::npos, suffix) == 0)
      text.resize(text.size() - std::string(suffix).size());
  static const std::map<std::string, CollectiveKind> names = {
      {"allreduce", CollectiveKind::AllReduce},         {"allgather", CollectiveKind::AllGather},
      {"reducescatter", CollectiveKind::ReduceScatter}, {"alltoall", CollectiveKind::AllToAll},
      {"broadcast", CollectiveKind::Broadcast},         {"bcast", CollectiveKind::Broadcast}};
  auto found = names.find(text);
  return found == names.end() ? std::nullopt : std::optional<CollectiveKind>(found->second);
}

double busFactor(CollectiveKind kind, int ranks) {
  double others = double(ranks - 1) / std::max(1, ranks);
  switch (kind) {
  case CollectiveKind::AllReduce:
    return 2 * others;
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllToAll:
  case CollectiveKind::Gather:
  case CollectiveKind::Scatter:
    return others;
  default:
    return 1;
  }
}

namespace {

/// "time (us)" and "Time[us]" are "time_us".
std::string columnName(const std::string &text) {
  std::string name;
  for (unsigned char c : lowered(text))
    if (std::isalnum(c))
      name += char(c);
    else if (!name.empty() && name.back() != '_')
      name += '_';
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name;
}

std::string trimmed(const std::string &text) {
  size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// "400", and "64 KiB" of a table for people.
std::optional<double> sizeOf(const std::string &text) {
  if (std::optional<double> number = numberOf(text))
    return number;
  Result<Bytes> bytes = parseBytes(text);
  return bytes ? std::optional<double>(double(bytes->value)) : std::nullopt;
}

/// A time column: "p50_us" is the quantity p50 in microseconds.
struct TimeColumn {
  std::string quantity;
  double unit = 0;
};

TimeColumn timeColumn(const std::string &name) {
  static const std::map<std::string, double> units = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  size_t bar = name.rfind('_');
  auto unit = bar == std::string::npos ? units.end() : units.find(name.substr(bar + 1));
  return unit == units.end() ? TimeColumn{} : TimeColumn{name.substr(0, bar), unit->second};
}

class CsvReader {
public:
  CsvReader(const std::string &path, const TableHints &hints) : hints(hints) {
    table.path = table.source = path;
    table.format = "CSV";
  }

  Result<MeasuredTable> read(const std::string &text) {
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (number == 1 && line.rfind("\xef\xbb\xbf", 0) == 0)
        line.erase(0, 3); // the mark that spreadsheets put in front of UTF-8
      if (!line.empty() && line.back() == '\r')
        line.pop_back();
      if (line.rfind("# source:", 0) == 0 && table.source == table.path)
        table.source = trimmed(line.substr(9));
      if (line.empty() || line[0] == '#')
        continue;
      if (line.find_first_not_of(" \t,;") == std::string::npos)
        continue;
      if (columns.empty() && line.find(',') == std::string::npos)
        separator = line.find(';') != std::string::npos ? ';' : line.find('\t') != std::string::npos ? '\t' : ',';
      std::vector<std::string> fields = split(line);
      if (fields == heads)
        continue; // tables put together
      if (columns.empty()) {
        if (std::optional<std::string> wrong = head(fields))
          return Error{*wrong, place(number)};
      } else if (std::optional<std::string> wrong = row(fields, number)) {
        return Error{*wrong, place(number)};
      }
    }
    for (const auto &[kind, count] : unpriced)
      table.notes.push_back(std::to_string(count) + " rows set aside: collective '" + kind +
                            "' is none that is priced");
    if (columns.empty())
      return Error{"measured table, expected a head that names its columns, got none", table.path};
    return std::move(table);
  }

private:
  std::string place(int number) const { return table.path + ":" + std::to_string(number); }

  /// Fields without the blanks around them; in double quotes a separator is a part of the field.
  std::vector<std::string> split(const std::string &line) const {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (char c : line)
      if (c == '"')
        quoted = !quoted;
      else if (c == separator && !quoted)
        fields.emplace_back();
      else
        fields.back() += c;
    for (std::string &field : fields)
      field = trimmed(field);
    return fields;
  }

  std::optional<std::string> head(const std::vector<std::string> &fields) {
    static const std::map<std::string, std::string> synonyms = {
        {"hosts", "nodes"},      {"gpus_per_node", "per_host"}, {"ranks_per_node", "per_host"},
        {"ppn", "per_host"},     {"algo", "algorithm"},         {"size", "bytes"},
        {"algbw_gbps", "algbw"}, {"busbw_gbps", "busbw"},       {"bus_bytes_per_s", "busbw_b"},
        {"algbw_gb_s", "algbw"}, {"busbw_gb_s", "busbw"},       {"size_b", "bytes"},
        {"size_bytes", "bytes"}, {"message_size", "bytes"},     {"num_nodes", "nodes"}};
    heads = fields;
    for (const std::string &field : fields) {
      std::string name = columnName(field);
      auto known = synonyms.find(name);
      columns.push_back(known == synonyms.end() ? name : known->second);
      // Gb is bits, GB bytes; so is Gbit.
      if ((columns.back() == "algbw" || columns.back() == "busbw") && field.find("Gb") != std::string::npos)
        bits.insert(columns.back());
      if (std::count(columns.begin(), columns.end(), columns.back()) > 1)
        return "measured table, expected each column once, got two of '" + columns.back() + "'";
    }
    if (std::find(columns.begin(), columns.end(), "bytes") == columns.end())
      return "measured table, expected a column 'bytes', got '" + listed(fields) +
             "' (a count of elements is none: multiply it by the bytes of one)";
    if (std::find(columns.begin(), columns.end(), "transport") != columns.end())
      table.format = "braid-bench";
    // The median is the time where there is one: means carry spikes, minima no contention.
    int rank = 99;
    for (const std::string &column : columns) {
      static const std::vector<std::string> best = {"median", "p50", "time", "latency", "mean", "avg", "avg_latency"};
      auto found = std::find(best.begin(), best.end(), timeColumn(column).quantity);
      if (found != best.end() && int(found - best.begin()) < rank) {
        rank = int(found - best.begin());
        time = column;
      }
    }
    if (time.empty() && std::find(columns.begin(), columns.end(), "busbw") == columns.end())
      return std::string(
                 "measured table, expected a column of times with its unit (time_us, p50_us, median_s), got '") +
             listed(fields) + "'";
    return std::nullopt;
  }

  static std::string listed(const std::vector<std::string> &fields) {
    std::string all;
    for (const std::string &field : fields)
      all += (all.empty() ? "" : ", ") + field;
    return all.size() > 200 ? all.substr(0, 200) + " ..." : all;
  }

  std::optional<std::string> row(const std::vector<std::string> &fields, int number) {
    if (fields.size() != columns.size())
      return "row, expected " + std::to_string(columns.size()) + " fields, got " + std::to_string(fields.size());
    std::map<std::string, std::string> texts;
    std::map<std::string, double> numbers;
    for (size_t i = 0; i < fields.size(); ++i) {
      texts[columns[i]] = fields[i];
      static const std::vector<std::string> words = {"collective", "algorithm", "fabric",    "protocol",
                                                     "job",        "type",      "transport", "buffers"};
      bool used = columns[i] == "bytes" || columns[i] == time || columns[i] == "nodes" || columns[i] == "ranks" ||
                  columns[i] == "per_host" || columns[i] == "algbw" || columns[i] == "busbw";
      if (fields[i].empty() || std::find(words.begin(), words.end(), columns[i]) != words.end())
        continue;
      std::optional<double> value = columns[i] == "bytes" ? sizeOf(fields[i]) : numberOf(fields[i]);
      if (used && (!value || *value < 0 || (columns[i] == time && *value == 0)))
        return "column " + columns[i] + ", expected a number" + (columns[i] == time ? " above zero" : "") + ", got '" +
               fields[i] + "'";
      if (value)
        numbers[columns[i]] = *value / (bits.count(columns[i]) ? 8 : 1);
    }
    auto number_ = [&](const char *name, double otherwise) { return numbers.count(name) ? numbers[name] : otherwise; };
    MeasuredRow r;
    r.line = number;
    std::string kind = texts.count("collective") ? texts["collective"] : "all_reduce";
    std::optional<CollectiveKind> known = hints.kind ? hints.kind : collectiveOf(kind);
    if (!known) {
      ++unpriced[kind];
      return std::nullopt;
    }
    r.kind = *known;
    double hosts = number_("nodes", hints.hosts), each = number_("per_host", hints.perHost),
           ranks = number_("ranks", 0);
    if (!hosts && ranks && each)
      hosts = ranks / each;
    if (!each && ranks && hosts)
      each = ranks / hosts;
    if (!(hosts >= 1) || !(each >= 1) || hosts != std::floor(hosts) || each != std::floor(each) ||
        hosts * each > 1 << 24)
      return std::string("ranks, expected whole numbers of nodes and of ranks per node, got ") +
             (texts.count("nodes") ? texts["nodes"] : "none") + " and " +
             (texts.count("per_host") ? texts["per_host"] : "none") + " (--nodes and --per-node give them)";
    r.hosts = int(hosts);
    r.perHost = int(each);
    r.algorithm = lowered(texts["algorithm"]);
    if (r.algorithm.rfind("default", 0) == 0 || r.algorithm == "auto")
      r.algorithm.clear();
    r.job = texts.count("job") ? texts["job"] : std::to_string(r.hosts);
    double bytes = number_("bytes", 0);
    if (!(bytes > 0) || bytes != std::floor(bytes) || bytes > 1e15)
      return "bytes, expected a whole number above zero, got '" + texts["bytes"] + "'";
    r.bytes = {int64_t(bytes)};
    r.algBandwidth = number_("algbw", 0);
    r.busBandwidth = number_("busbw", number_("busbw_b", 0) / 1e9);
    auto timeOf = [&](const std::string &quantity) {
      for (const char *unit : {"_us", "_s", "_ms", "_ns"})
        if (numbers.count(quantity + unit))
          return Seconds{numbers[quantity + unit] * timeColumn(quantity + unit).unit};
      return Seconds{};
    };
    if (numbers.count(time))
      r.time = {numbers[time] * timeColumn(time).unit};
    else if (r.algBandwidth > 0)
      r.time = {bytes / r.algBandwidth / 1e9};
    else if (r.busBandwidth > 0)
      r.time = {bytes * busFactor(r.kind, r.ranks()) / r.busBandwidth / 1e9};
    if (!(r.time.value > 0)) {
      table.notes.push_back("line " + std::to_string(number) + ": no time and no bandwidth");
      return std::nullopt;
    }
    r.p90 = timeOf("p90");
    r.p99 = timeOf("p99");
    r.p999 = timeOf("p999");
    table.rows.push_back(std::move(r));
    return std::nullopt;
  }

  const TableHints &hints;
  MeasuredTable table;
  char separator = ',';
  std::vector<std::string> columns, heads; ///< by the names used here, and as they are written
  std::set<std::string> bits;              ///< columns of bits per second
  std::string time;                        ///< the column that is taken
  std::map<std::string, int> unpriced;
};

} // namespace

Result<MeasuredTable> parseMeasured(const std::string &text, const std::string &path, const TableHints &hints) {
  if (text.find("# OSU ") != std::string::npos)
    return parseOsu(text, path, hints);
  if (text.find("busbw") != std::string::npos && text.find("redop") != std::string::npos)
    return parseNcclTests(text, path, hints);
  return CsvReader(path, hints).read(text);
}

Result<MeasuredTable> readMeasured(const std::string &path, const TableHints &hints) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return Error{"measured table, expected a file that can be read, got none", path};
  return parseMeasured(text.str(), path, hints);
}

} // namespace braid::cost
