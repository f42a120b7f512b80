//===- CsvText.cpp - CSV tables ---------------------------------------------------------------------------------===//
//
// settings: all numbers here are units, or how many ranks are believed.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/CsvColumns.h"
#include "calibrate/TableText.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace braid::cost {

namespace {

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

/// A field's number, or what is wrong with it. Empty fields are not there.
std::optional<std::string> readNumber(const CsvColumn &column, const std::string &field, std::optional<double> &value) {
  value = column.kind == CsvColumn::Kind::Size ? sizeOf(field) : numberOf(field);
  if (column.kind == CsvColumn::Kind::Wrong) // N/A: not checked
    return value && *value != 0
               ? std::optional("column " + column.written +
                               ", expected 0 (a run whose results are wrong says nothing of its time), "
                               "got '" +
                               field + "'")
               : std::nullopt;
  bool positive = column.kind == CsvColumn::Kind::Time;
  if (value && (positive ? *value > 0 : *value >= 0))
    return std::nullopt;
  std::string hint;
  if (field.find(',') != std::string::npos)
    hint = " (decimals after a point, and nothing between thousands)";
  else if (positive)
    hint = " (of what was not measured, leave the field empty)";
  return "column " + column.written + ", expected a number" + (positive ? " above zero" : "") + ", got '" + field +
         "'" + hint;
}

class CsvReader {
public:
  CsvReader(const std::string &path, const TableHints &hints) : hints(hints) {
    table.path = table.source = path;
    table.format = "CSV";
  }

  Result<MeasuredTable> read(const Lines &lines) {
    int number = 0;
    for (const std::string &line : lines) {
      ++number;
      if (line.rfind("# source:", 0) == 0 && table.source == table.path)
        table.source = trimmed(line.substr(9));
      if (line.empty() || line[0] == '#' || line.find_first_not_of(" \t,;") == std::string::npos)
        continue;
      if (head.columns.empty() && line.find(',') == std::string::npos)
        separator = line.find(';') != std::string::npos ? ';' : line.find('\t') != std::string::npos ? '\t' : ',';
      std::vector<std::string> fields;
      std::optional<std::string> wrong = split(line, fields);
      if (!wrong && fields == heads)
        continue; // tables put together
      if (!wrong && head.columns.empty()) {
        heads = fields;
        wrong = readHead(fields, head);
        if (head.ours)
          table.format = "braid-bench";
      } else if (!wrong)
        wrong = row(fields, number);
      if (wrong)
        return Error{*wrong, table.path + ":" + std::to_string(number)};
    }
    if (head.columns.empty())
      return Error{"measured table, expected a head that names its columns, got comments only", table.path};
    std::string aside;
    for (const auto &[kind, count] : unpriced) {
      table.notes.push_back(std::to_string(count) + " rows set aside: collective '" + kind +
                            "' is none that is priced");
      aside += "; " + table.notes.back();
    }
    if (table.rows.empty())
      return Error{"measured table, expected rows of times below its head, got none" +
                       (aside.empty() ? "; was it cut off, or did the benchmark not run to its end?" : aside),
                   table.path};
    return std::move(table);
  }

private:
  /// Fields without the blanks around them; in double quotes a separator is a part of the field.
  std::optional<std::string> split(const std::string &line, std::vector<std::string> &fields) const {
    fields.assign(1, "");
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
    size_t columns = head.columns.size();
    if (columns && fields.size() == columns + 1 && fields.back().empty())
      fields.pop_back(); // a separator at the end
    if (quoted)
      return "row, expected quotes in pairs, got one that is not closed";
    if (columns && fields.size() != columns)
      return "row, expected " + std::to_string(columns) + " fields, got " + std::to_string(fields.size()) +
             (fields.size() < columns ? " (was it cut off?)"
              : separator == ','      ? " (decimals after a point, and nothing between thousands)"
                                      : "");
    return std::nullopt;
  }

  std::optional<std::string> row(const std::vector<std::string> &fields, int number) {
    std::map<std::string, std::string> texts;
    std::map<std::string, double> numbers;
    MeasuredRow r;
    r.line = number;
    for (size_t i = 0; i < fields.size(); ++i) {
      const CsvColumn &column = head.columns[i];
      r.written += (i ? "," : "") + fields[i];
      texts[column.name] = fields[i];
      if (fields[i].empty() || column.kind == CsvColumn::Kind::Word || column.kind == CsvColumn::Kind::Unknown)
        continue;
      std::optional<double> value;
      if (std::optional<std::string> wrong = readNumber(column, fields[i], value))
        return wrong;
      if (!value)
        continue;
      numbers[column.name] = *value * column.unit;
      if (column.kind == CsvColumn::Kind::Time && column.name == "mean")
        r.mean = {*value * column.unit};
      else if (std::optional<double> quantile = quantileNamed(column.name);
               quantile && column.kind == CsvColumn::Kind::Time)
        r.quantiles[*quantile] = {*value * column.unit};
    }
    auto given = [&](const char *name, double otherwise) { return numbers.count(name) ? numbers[name] : otherwise; };
    std::string kind = texts.count("collective") ? texts["collective"] : "";
    std::optional<CollectiveKind> known = collectiveOf(kind);
    if (std::optional<std::string> other = otherCollective(hints, known))
      return other;
    if (!known && kind.empty())
      known = hints.kind.value_or(CollectiveKind::AllReduce);
    if (!known) {
      ++unpriced[kind];
      return std::nullopt;
    }
    r.kind = *known;
    if (std::optional<std::string> wrong = ranks(texts, numbers, r))
      return wrong;
    r.algorithm = lowered(texts["algorithm"]);
    if (r.algorithm.rfind("default", 0) == 0 || r.algorithm == "auto")
      r.algorithm.clear();
    r.job = texts.count("job") ? texts["job"] : std::to_string(r.hosts);
    r.hostsKnown = texts["transport"].rfind("emulated", 0) != 0;
    double bytes = given("bytes", 0);
    if (!(bytes > 0) || bytes != std::floor(bytes) || bytes > 1e15)
      return "bytes, expected a whole number above zero, got '" + texts["bytes"] + "'";
    r.bytes = {int64_t(bytes)};
    r.algBandwidth = given("algbw", -1);
    r.busBandwidth = given("busbw", -1);
    if (head.time && numbers.count(head.columns[*head.time].name))
      r.time = {numbers[head.columns[*head.time].name]};
    else if (r.algBandwidth > 0)
      r.time = {bytes / r.algBandwidth / 1e9};
    else if (r.busBandwidth > 0)
      r.time = {bytes * busFactor(r.kind, r.ranks()) / r.busBandwidth / 1e9};
    if (!(r.time.value > 0)) {
      table.notes.push_back("line " + std::to_string(number) + ": no time and no bandwidth");
      return std::nullopt;
    }
    r.p90 = {given("p90", 0)};
    r.p99 = {given("p99", 0)};
    r.p999 = {given("p999", given("p99_9", 0))};
    table.rows.push_back(std::move(r));
    return std::nullopt;
  }

  /// Nodes, ranks per node and ranks: two of them give the third, three must agree, and so must what the caller says.
  std::optional<std::string> ranks(std::map<std::string, std::string> &texts, std::map<std::string, double> &numbers,
                                   MeasuredRow &r) const {
    for (auto [column, option, hint] :
         {std::make_tuple("nodes", "--nodes", hints.hosts), std::make_tuple("per_host", "--per-node", hints.perHost)})
      if (hint && numbers.count(column) && numbers[column] != hint)
        return std::string(option) + ", expected what the table says, " + texts[column] + ", or nothing, got " +
               std::to_string(hint);
    double hosts = numbers.count("nodes") ? numbers["nodes"] : hints.hosts,
           each = numbers.count("per_host") ? numbers["per_host"] : hints.perHost,
           all = numbers.count("ranks") ? numbers["ranks"] : 0;
    if (!hosts && all && each)
      hosts = all / each;
    if (!each && all && hosts)
      each = all / hosts;
    if (!(hosts >= 1) || !(each >= 1) || hosts != std::floor(hosts) || each != std::floor(each) ||
        hosts * each > 1 << 24)
      return std::string("ranks, expected whole numbers of nodes and of ranks per node, got ") +
             (texts.count("nodes") ? texts["nodes"] : "none") + " and " +
             (texts.count("per_host") ? texts["per_host"] : "none") + " (--nodes and --per-node give them)";
    if (all && all != hosts * each)
      return "ranks, expected the product of nodes and ranks per node, " + std::to_string(int64_t(hosts * each)) +
             ", got '" + texts["ranks"] + "'";
    r.hosts = int(hosts);
    r.perHost = int(each);
    return std::nullopt;
  }

  const TableHints &hints;
  MeasuredTable table;
  char separator = ',';
  CsvHead head;
  std::vector<std::string> heads; ///< as they are written
  std::map<std::string, int> unpriced;
};

} // namespace

Result<MeasuredTable> parseCsv(const Lines &lines, const std::string &path, const TableHints &hints) {
  return CsvReader(path, hints).read(lines);
}

} // namespace braid::cost
