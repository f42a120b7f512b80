//===- ReadTable.cpp - which reader a measured table needs, and what readers share --------------------------------===//
//
// settings: all numbers here are units, or how much of a file is believed and said.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/TableText.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
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

std::vector<std::string> linesOf(const std::string &text) {
  // Line feeds end lines; where there are none, carriage returns do, as on old Macs.
  char end = text.find('\n') == std::string::npos ? '\r' : '\n';
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line, end);) {
    line.resize(line.find_last_not_of(" \r") + 1); // tabs separate fields, which may be empty
    lines.push_back(line);
  }
  return lines;
}

/// Without what colours and moves a terminal's text: ESC [ parameters letter, ESC ] title up to BEL or ESC \, ESC and one more
/// (ECMA-48). Line ends stay, so that errors name the right lines.
static std::string withoutEscapes(const std::string &text) {
  constexpr char escape = '\x1b';
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != escape) {
      plain += text[i];
      continue;
    }
    auto at = [&](size_t k) { return k < text.size() ? text[k] : '\n'; };
    size_t end = i + 1;
    if (at(end) == '[')
      do
        ++end;
      while (at(end) >= ' ' && at(end) < '@');
    else if (at(end) == ']')
      while (at(end) != '\n' && at(end) != '\a' && at(end + 1) != escape)
        ++end;
    i = at(end) == '\n' ? end - 1 : end;
  }
  return plain;
}

std::string withoutMark(const std::string &line) {
  size_t colon = line.find(':');
  std::string mark = colon == std::string::npos ? "" : line.substr(0, colon);
  bool numbered = !mark.empty() && mark.find_first_not_of(" 0123456789") == std::string::npos;
  bool marked = numbered || mark.find("<stdout>") != std::string::npos || mark.find("<stderr>") != std::string::npos;
  return marked ? line.substr(colon + 1) : line;
}

std::optional<std::string> outOfOrder(const std::vector<MeasuredRow> &rows, size_t sectionBegin,
                                      const MeasuredRow &row) {
  if (rows.size() <= sectionBegin || rows.back().bytes < row.bytes || row.bytes == rows[sectionBegin].bytes)
    return std::nullopt;
  return "size, expected more than " + toString(rows.back().bytes) + ", as a run goes through its sizes upwards, got " +
         toString(row.bytes) + "; are these rows of several runs, or moved?";
}

std::optional<std::string> otherCollective(const TableHints &hints, std::optional<CollectiveKind> found) {
  if (!hints.kind || !found || *hints.kind == *found)
    return std::nullopt;
  return std::string("--collective, expected what the table says, ") + algorithms::name(*found) + ", or nothing, got " +
         algorithms::name(*hints.kind);
}

Result<MeasuredTable> parseMeasured(const std::string &whole, const std::string &path, const TableHints &hints) {
  std::string text = withoutEscapes(whole);
  if (text.rfind("\xef\xbb\xbf", 0) == 0)
    text.erase(0, 3); // the mark that spreadsheets put in front of UTF-8
  if (text.find('\0') != std::string::npos || text.rfind("\xff\xfe", 0) == 0 || text.rfind("\xfe\xff", 0) == 0)
    return Error{
        "measured table, expected text in UTF-8, got bytes that are none (UTF-16 of a Windows shell, or a packed "
        "file?)",
        path};
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return Error{
        "measured table, expected what nccl-tests or the OSU benchmarks print, or a CSV with a head, got an empty "
        "file; did the benchmark run, and was its standard output kept?",
        path};
  Lines lines = linesOf(text);
  if (isOsu(lines))
    return parseOsu(lines, path, hints);
  return isNcclTests(lines) ? parseNcclTests(lines, path, hints) : parseCsv(lines, path, hints);
}

Result<MeasuredTable> readMeasured(const std::string &path, const TableHints &hints) {
  constexpr std::streamsize most = 256 << 20; // a million rows and more; devices and pipes may have no end
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem))
    return Error{"measured table, expected a file, got a folder", path};
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{std::string("measured table: ") + strerror(errno), path};
  std::string text;
  std::vector<char> block(1 << 16);
  while (file.read(block.data(), std::streamsize(block.size())) || file.gcount() > 0) {
    text.append(block.data(), size_t(file.gcount()));
    if (std::streamsize(text.size()) > most)
      return Error{"measured table, expected at most 256 MiB, got more", path};
  }
  if (file.bad())
    return Error{std::string("measured table: ") + strerror(errno), path};
  return parseMeasured(text, path, hints);
}

} // namespace braid::cost
