//===- CsvColumns.cpp - what the head of a CSV table says of its columns -------------------------------------------===//
//
// Names are those of Measured.h and common others. A table often has several times. The median is taken where there is one:
// means carry spikes, minima no contention. Where two columns may both be the time ("time_us" beside "avg_us", or two of one
// name, as out of place and in place after a conversion), nothing says which was meant, so the table is refused.
//
// settings: all numbers here are units, or how much of a text is told.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/CsvColumns.h"
#include "calibrate/TableText.h"
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace braid::cost {

using Kind = CsvColumn::Kind;

/// "time (us)" and "Time[us]" are "time_us". Both signs for micro are u: "(µs)" without its first letter were seconds.
static std::string plainName(std::string text) {
  for (const char *micro : {"\xc2\xb5", "\xce\xbc"})
    for (size_t at; (at = text.find(micro)) != std::string::npos;)
      text.replace(at, 2, "u");
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

static bool takeSuffix(std::string &name, const std::string &suffix) {
  if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), std::string::npos, suffix) != 0)
    return false;
  name.resize(name.size() - suffix.size());
  return true;
}

static bool takePrefix(std::string &name, const std::string &prefix) {
  if (name.size() <= prefix.size() || name.compare(0, prefix.size(), prefix) != 0)
    return false;
  name.erase(0, prefix.size());
  return true;
}

std::optional<double> quantileNamed(const std::string &name) {
  static const std::map<std::string, double> ends = {{"min", 0}, {"p100", 1}, {"max", 1}};
  if (auto end = ends.find(name); end != ends.end())
    return end->second;
  std::string digits = name.empty() || name[0] != 'p' ? "" : name.substr(1);
  digits.erase(std::remove_if(digits.begin(), digits.end(), [](char c) { return c == '_' || c == '.'; }), digits.end());
  if (digits.empty() || digits.size() > 8 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  double value = std::stod(digits); // "p5", "p99", "p999": two digits before the point
  for (size_t more = digits.size(); more > 2; --more)
    value /= 10;
  return value / 100;
}

/// The quantity of a time column without its unit: "avg_latency" and "average" are "mean". "": none that is known.
static std::string timeQuantity(std::string name) {
  for (const char *word : {"_tail_lat", "_latency", "_lat", "_time"})
    if (takeSuffix(name, word))
      break;
  for (const char *word : {"latency_", "lat_", "time_"})
    if (takePrefix(name, word))
      break;
  static const std::map<std::string, std::string> synonyms = {
      {"avg", "mean"},         {"average", "mean"}, {"minimum", "min"},      {"maximum", "max"},
      {"oop", "out_of_place"}, {"ip", "in_place"},  {"inplace", "in_place"}, {"outofplace", "out_of_place"}};
  if (auto synonym = synonyms.find(name); synonym != synonyms.end())
    name = synonym->second;
  static const std::set<std::string> known = {"median",       "time",     "latency",    "mean",
                                              "out_of_place", "in_place", "median_low", "median_high"};
  return known.count(name) || quantileNamed(name) ? name : "";
}

static std::optional<CsvColumn> timeColumn(const std::string &name) {
  static const std::vector<std::pair<std::string, double>> units = {{"_us", 1e-6},   {"_usec", 1e-6}, {"_ms", 1e-3},
                                                                    {"_msec", 1e-3}, {"_ns", 1e-9},   {"_nsec", 1e-9},
                                                                    {"_s", 1},       {"_sec", 1}};
  for (const auto &[suffix, unit] : units) {
    CsvColumn column{Kind::Time, name, "", unit};
    if (!takeSuffix(column.name, suffix))
      continue;
    column.name = timeQuantity(column.name);
    return column.name.empty() ? std::nullopt : std::optional(column);
  }
  return std::nullopt;
}

/// "algbw_GBps", "busbw (MB/s)", "algbw_gbit_s"; without a unit GB/s, as nccl-tests prints it. Gb is bits, GB bytes.
static std::optional<CsvColumn> bandwidthColumn(std::string name, const std::string &written) {
  CsvColumn column{Kind::Bandwidth, "", "", 1};
  for (const char *bandwidth : {"algbw", "busbw", "bus"})
    if (column.name.empty() && (name == bandwidth || takePrefix(name, bandwidth + std::string("_"))))
      column.name = bandwidth;
  if (column.name.empty() || name == "bus")
    return std::nullopt;
  if (column.name == "bus")
    column.name = "busbw"; // bus_bytes_per_s
  if (name == "algbw" || name == "busbw")
    return column;
  bool per = false;
  for (const char *time : {"_per_s", "_per_sec", "_sec", "_s", "ps"})
    per = per || takeSuffix(name, time);
  bool bits = false;
  for (const char *word : {"bits", "bit", "bytes", "byte", "b"})
    if (name.size() >= std::string(word).size() &&
        name.compare(name.size() - std::string(word).size(), std::string::npos, word) == 0) {
      bits = std::string(word).rfind("bit", 0) == 0;
      name.resize(name.size() - std::string(word).size());
      break;
    }
  static const std::map<std::string, double> prefixes = {{"", 1e-9},
                                                         {"k", 1e-6},
                                                         {"m", 1e-3},
                                                         {"g", 1},
                                                         {"t", 1e3},
                                                         {"ki", 1024 / 1e9},
                                                         {"mi", 1048576 / 1e9},
                                                         {"gi", 1073741824 / 1e9},
                                                         {"ti", 1099511627776 / 1e9}};
  auto prefix = prefixes.find(name);
  if (!per || prefix == prefixes.end())
    return std::nullopt;
  for (const char *small : {"Kb", "Mb", "Gb", "Tb"})
    bits = bits || written.find(small) != std::string::npos;
  column.unit = prefix->second / (bits ? 8 : 1);
  return column;
}

static CsvColumn columnOf(const std::string &written) {
  static const std::map<std::string, std::string> synonyms = {{"hosts", "nodes"},
                                                              {"num_nodes", "nodes"},
                                                              {"gpus_per_node", "per_host"},
                                                              {"ranks_per_node", "per_host"},
                                                              {"ppn", "per_host"},
                                                              {"algo", "algorithm"},
                                                              {"size", "bytes"},
                                                              {"size_b", "bytes"},
                                                              {"size_bytes", "bytes"},
                                                              {"message_size", "bytes"}};
  static const std::map<std::string, Kind> kinds = {
      {"collective", Kind::Word}, {"algorithm", Kind::Word}, {"job", Kind::Word},
      {"transport", Kind::Word},  {"bytes", Kind::Size},     {"nodes", Kind::Count},
      {"ranks", Kind::Count},     {"per_host", Kind::Count}, {"wrong", Kind::Wrong}};
  std::string name = plainName(written);
  if (auto synonym = synonyms.find(name); synonym != synonyms.end())
    name = synonym->second;
  CsvColumn column{Kind::Unknown, name, "", 1};
  if (auto kind = kinds.find(name); kind != kinds.end())
    column.kind = kind->second;
  else if (std::optional<CsvColumn> time = timeColumn(name))
    column = *time;
  else if (std::optional<CsvColumn> bandwidth = bandwidthColumn(name, written))
    column = *bandwidth;
  column.written = written;
  return column;
}

bool CsvHead::has(const std::string &name) const {
  return std::any_of(columns.begin(), columns.end(), [&](const CsvColumn &column) { return column.name == name; });
}

static std::string listed(const std::vector<std::string> &fields) {
  std::string all;
  for (const std::string &field : fields)
    all += (all.empty() ? "" : ", ") + field;
  return all.size() > 200 ? all.substr(0, 200) + " ..." : all;
}

std::optional<std::string> readHead(const std::vector<std::string> &fields, CsvHead &head) {
  for (const std::string &field : fields)
    head.columns.push_back(columnOf(field));
  head.ours = head.has("transport");
  // Of braid-bench the median is of batches and p50 of single calls; elsewhere they are one.
  for (CsvColumn &column : head.columns)
    if (!head.ours && column.kind == Kind::Time && column.name == "median")
      column.name = "p50";
  std::map<std::string, const CsvColumn *> seen;
  for (const CsvColumn &column : head.columns) {
    auto [other, isNew] = seen.try_emplace(column.name, &column);
    if (column.kind != Kind::Unknown && !isNew)
      return "measured table, expected each column once, got two of '" + column.name + "', '" + other->second->written +
             "' and '" + column.written + "' (leave out the one that is not meant)";
  }
  if (!head.has("bytes"))
    return "measured table, expected a head of nccl-tests or of the OSU benchmarks, or a CSV's with a column 'bytes', "
           "got '" +
           listed(fields) + "' (a count of elements is none: multiply it by the bytes of one)";
  const CsvColumn *unnamed = nullptr, *named = nullptr; // that may be the time
  for (const char *name : {"time", "latency", "out_of_place", "median", "p50", "mean"}) {
    auto found = seen.find(name);
    if (found == seen.end() || found->second->kind != Kind::Time)
      continue;
    bool isNamed = std::string(name) == "median" || std::string(name) == "p50" || std::string(name) == "mean";
    const CsvColumn *&place = isNamed ? named : unnamed;
    if (unnamed)
      return "measured table, expected one column that is the time, got '" + unnamed->written + "' and '" +
             found->second->written + "' (leave out one, or name what it is: p50_us, mean_us, min_us, max_us)";
    if (!place)
      place = found->second;
  }
  if (const CsvColumn *time = unnamed ? unnamed : named)
    head.time = size_t(time - head.columns.data());
  else if (!head.has("busbw") && !head.has("algbw"))
    return "measured table, expected a column of times with its unit (time_us, p50_us, median_s), got '" +
           listed(fields) + "'";
  return std::nullopt;
}

} // namespace braid::cost
