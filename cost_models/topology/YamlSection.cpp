//===- YamlSection.cpp - reading a layered YAML mapping with good errors ----------------------------------------===//
#include "topology/YamlSection.h"
#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <map>

namespace braid::cost {

static std::string placeOf(const std::string &file, const YAML::Node &node) {
  YAML::Mark mark = node.Mark();
  bool isFile = file.rfind(overridePrefix, 0) != 0; // else the line is none that anybody sees
  return mark.is_null() || !isFile ? file : file + ":" + std::to_string(mark.line + 1);
}

std::string PlacedNode::line() const { return placeOf(file, key.IsDefined() ? key : node); }

[[noreturn]] static void failAt(const std::string &place, const std::string &message) {
  throw ReadError{Error{message, place}};
}

static std::string kindOf(const YAML::Node &node) {
  switch (node.Type()) {
  case YAML::NodeType::Map:
    return "a mapping";
  case YAML::NodeType::Sequence:
    return node.size() == 0 ? "an empty list" : "a list";
  case YAML::NodeType::Scalar:
    return "\"" + node.Scalar() + "\"";
  default:
    return "nothing";
  }
}

static std::string list(const std::vector<std::string> &words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

/// What a source or an assumption says, which has to be something: neither blank nor a place to fill in later.
static void sentenceOf(const std::string &place, const YAML::Node &node, const std::string &subject) {
  static const std::set<std::string> placeholders = {"to"
                                                     "do",
                                                     "tbd",
                                                     "tba",
                                                     "fix"
                                                     "me",
                                                     "xx"
                                                     "x",
                                                     "na",
                                                     "none",
                                                     "null",
                                                     "unknown",
                                                     "nil",
                                                     "source",
                                                     "assumption"};
  std::string letters, first; // all of them, and those of the first word; of other alphabets, their bytes
  for (char c : node.IsScalar() ? node.Scalar() : std::string()) {
    if (std::isalpha((unsigned char)c) || (unsigned char)c >= 0x80)
      letters += char(std::tolower((unsigned char)c));
    else if (first.empty() && c != '/')
      first = letters;
  }
  if (letters.size() < 3 || placeholders.count(letters) ||
      first == "to"
               "do" ||
      first == "tbd" ||
      first == "fix"
               "me")
    failAt(place, subject +
                      ": expected a sentence that says where the figures are from (source) or why they are taken "
                      "(assumption), got " +
                      kindOf(node));
}

YamlSection::YamlSection(std::string name, std::vector<PlacedNode> layers, const YamlSection *parent,
                         Provenance &provenance)
    : name(std::move(name)), layers(std::move(layers)), parent(parent), provenance(&provenance) {
  for (const PlacedNode &layer : this->layers) {
    std::string subject = this->name.empty() ? "cluster file" : this->name;
    if (!layer.node.IsMap())
      failAt(layer.line(), subject + ": expected a mapping of keys, got " + kindOf(layer.node) +
                               (layer.node.IsSequence() ? "; write \"key: value\", with neither dashes nor brackets"
                                : layer.node.IsNull()   ? "; write its keys below it, indented by spaces"
                                                        : ""));
    std::map<std::string, int> seen; // in which line
    for (const auto &entry : layer.node) {
      std::string place = placeOf(layer.file, entry.first);
      if (!entry.first.IsScalar())
        failAt(place, subject + ": expected a word as key, got " + kindOf(entry.first));
      const std::string &key = entry.first.Scalar();
      if (key == "<<")
        failAt(place, full(key) +
                          ": expected no merge of mappings, got one; write the keys out, or let the file take over "
                          "another one (base: FILE)");
      if (auto [first, isNew] = seen.try_emplace(key, entry.first.Mark().line + 1); !isNew)
        failAt(place, full(key) + ": expected once, got it twice (first in line " + std::to_string(first->second) +
                          "); leave one out");
      if (key == "source" || key == "assumption")
        sentenceOf(place, entry.second, full(key));
    }
  }
}

PlacedNode YamlSection::find(const char *key) const {
  for (const PlacedNode &layer : layers)
    for (const auto &entry : layer.node)
      if (entry.first.Scalar() == key)
        return {layer.file, entry.second, entry.first};
  return {"", YAML::Node(YAML::NodeType::Undefined)};
}

bool YamlSection::has(const char *key) const {
  known.insert(key);
  return find(key).node.IsDefined();
}

void YamlSection::fail(const char *key, const std::string &message) const {
  PlacedNode placed = find(key);
  failAt(placed.node.IsDefined() ? placed.line() : layers.front().line(), full(key) + ": " + message);
}

void YamlSection::missing(const char *key, const std::string &message) const {
  const YamlSection *whole = this;
  while (whole->parent)
    whole = whole->parent;
  std::string place, below;
  for (const PlacedNode &file : whole->layers) {
    if (file.file.rfind(overridePrefix, 0) == 0)
      continue;
    auto here =
        std::find_if(layers.begin(), layers.end(), [&](const PlacedNode &own) { return own.file == file.file; });
    std::string line = here == layers.end() ? file.file : here->line();
    if (place.empty())
      place = line;
    else
      below += (below.empty() ? "" : ", ") + line;
  }
  if (name.find('[') != std::string::npos) // an entry of a list stands in one file
    fail(key, message);
  if (below.empty())
    failAt(layers.front().line(),
           full(key) + ": " + message + "; set it in this file, or in one that this one is based on (base: FILE)");
  failAt(place, full(key) + ": " + message + "; set it in this file, or in one that it is based on (" + below + ")");
}

YamlSection YamlSection::section(const char *key) {
  asked.insert(key);
  std::vector<PlacedNode> found;
  for (const PlacedNode &layer : layers)
    for (const auto &entry : layer.node)
      if (entry.first.Scalar() == key)
        found.push_back({layer.file, entry.second, entry.first});
  if (found.empty())
    missing(key, "expected this mapping, got none");
  return YamlSection(full(key), std::move(found), this, *provenance);
}

std::vector<YamlSection> YamlSection::sections(const char *key, const char *otherwise) {
  asked.insert(key);
  PlacedNode placed = find(key);
  if (!placed.node.IsSequence() || placed.node.size() == 0)
    fail(key, "expected a list of mappings, got " + kindOf(placed.node) + "; " + otherwise);
  std::vector<YamlSection> all;
  for (size_t i = 0; i < placed.node.size(); ++i)
    all.push_back(
        YamlSection(full(key) + "[" + std::to_string(i) + "]", {{placed.file, placed.node[i]}}, this, *provenance));
  return all;
}

void YamlSection::replaced(const char *key, const char *other) {
  asked.insert(key);
  int layer = 0, keyLayer = INT_MAX, otherLayer = INT_MAX;
  for (const PlacedNode &placed : layers) {
    for (const auto &entry : placed.node) {
      if (entry.first.Scalar() == key)
        keyLayer = std::min(keyLayer, layer);
      if (entry.first.Scalar() == other)
        otherLayer = std::min(otherLayer, layer);
    }
    ++layer;
  }
  if (keyLayer <= otherLayer && keyLayer != INT_MAX)
    fail(key, std::string("expected ") + other + " alone, got this key beside it");
}

std::vector<std::string> YamlSection::keys() const {
  std::vector<std::string> out;
  for (const PlacedNode &layer : layers)
    for (const auto &entry : layer.node)
      if (std::find(out.begin(), out.end(), entry.first.Scalar()) == out.end())
        out.push_back(entry.first.Scalar());
  return out;
}

//===- constants ------------------------------------------------------------------------------------------------===//

/// The text of an entry `key` of a mapping, or empty.
static std::string entryText(const YAML::Node &map, const char *key) {
  for (const auto &entry : map)
    if (entry.first.IsScalar() && entry.first.Scalar() == key)
      return entry.second.Scalar();
  return {};
}

void YamlSection::noteProvenance(const char *key, const PlacedNode &placed, const YAML::Node &own) {
  WrittenConstant written{full(key), placed.line(), ""};
  auto note = [&](const std::string &why) {
    std::string sentence = full(key) + ": " + why;
    if (std::find(provenance->assumptions.begin(), provenance->assumptions.end(), sentence) ==
        provenance->assumptions.end())
      provenance->assumptions.push_back(sentence);
  };
  /// Whether the mapping says where the constant is from.
  auto says = [&](const YAML::Node &map) {
    written.source = entryText(map, "source");
    std::string why = written.source.empty() ? entryText(map, "assumption") : "";
    if (!why.empty())
      note(why);
    return !written.source.empty() || !why.empty();
  };
  bool said = own.IsMap() && says(own);
  // The sections around it, in the same file.
  for (const YamlSection *section = this; section && !said; section = section->parent)
    for (const PlacedNode &layer : section->layers)
      said = said || (layer.file == placed.file && says(layer.node));
  if (!said)
    note("no source given");
  provenance->written.push_back(std::move(written));
}

std::string YamlSection::scalar(const char *key, bool constant) {
  asked.insert(key);
  PlacedNode placed = find(key);
  if (!placed.node.IsDefined()) {
    std::string message = "expected this key, got none";
    std::vector<std::string> unknown;
    for (const std::string &present : keys())
      if (!asked.count(present))
        unknown.push_back(present);
    std::string near = nearest(key, unknown);
    missing(key, message + (near.empty() ? "" : " (there is \"" + near + "\")"));
  }
  YAML::Node value;
  if (constant && placed.node.IsMap()) {
    std::set<std::string> seen;
    for (const auto &entry : placed.node) {
      std::string word = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (word != "value" && word != "source" && word != "assumption")
        failAt(placeOf(placed.file, entry.first),
               full(key) + ": expected value and source or assumption, got " + kindOf(entry.first));
      if (!seen.insert(word).second)
        failAt(placeOf(placed.file, entry.first), full(key) + "." + word + ": expected once, got it twice");
      if (word == "value")
        value.reset(entry.second);
      else
        sentenceOf(placeOf(placed.file, entry.first), entry.second, full(key) + "." + word);
    }
    if (!seen.count("value"))
      failAt(placed.line(), full(key) + ": expected a value, got only its source");
    if (seen.count("source") && seen.count("assumption"))
      failAt(placed.line(), full(key) + ": expected a source or an assumption, got both");
  } else {
    value.reset(placed.node);
  }
  if (!value.IsScalar())
    failAt(placed.line(), full(key) + ": expected one value, got " + kindOf(value));
  if (constant)
    noteProvenance(key, placed, placed.node);
  return value.Scalar();
}

std::string YamlSection::text(const char *key) {
  std::string value = scalar(key, false);
  if (value.empty())
    fail(key, "expected a text, got an empty one");
  return value;
}

std::string YamlSection::oneOf(const char *key, const std::vector<std::string> &words, bool constant) {
  std::string value = scalar(key, constant);
  if (std::find(words.begin(), words.end(), value) != words.end())
    return value;
  std::string near = nearest(value, words);
  fail(key, "expected " + list(words) + ", got \"" + value + "\"" +
                (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
}

/// Whether the text begins with a number that no constant can have, whatever comes after it: negative, infinite, none (nan).
static bool isNoQuantity(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos)
    return false;
  std::string number = text.substr(begin);
  if (size_t dot = number.find('.'); dot < 2 && std::isalpha((unsigned char)number[dot + 1])) // YAML's .nan and -.inf
    number.erase(dot, 1);
  char *end = nullptr;
  double value = std::strtod(number.c_str(), &end);
  return end != number.c_str() && (!std::isfinite(value) || std::signbit(value));
}

/// A finite number that is the whole text; "0x10", "nan" and "1_000" are none.
static bool readNumber(const std::string &text, double &value) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos)
    return false;
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(value);
}

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

int YamlSection::whole(const char *key, int least, int most, bool constant) {
  std::string text = scalar(key, constant);
  double value = 0;
  if (beginsWithZero(text))
    fail(key, "expected a whole number without leading zeros, got \"" + text +
                  "\", which is octal to some readers of YAML and decimal to others");
  if (!readNumber(text, value) || value != std::floor(value))
    fail(key, "expected a whole number, got \"" + text + "\"");
  if (value < least || value > most)
    fail(key,
         "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", got " + text);
  return int(value);
}

double YamlSection::number(const char *key, double least, double most) {
  std::string text = scalar(key, true);
  double value = 0;
  bool read = readNumber(text, value);
  if (read && beginsWithZero(text))
    fail(key, "expected a number without leading zeros, got \"" + text + "\"");
  if (read && vanishes(text, value))
    fail(key, "expected a number, got \"" + text + "\", which is too small to be one (0 means none at all)");
  if (!read && !isNoQuantity(text))
    fail(key, "expected a number without a unit, got \"" + text + "\"");
  if (!read || value < least || value > most)
    fail(key, "expected a number from " + numberText(least) + " to " + numberText(most) + ", got " + text);
  return value;
}

template <typename T>
T YamlSection::within(const char *key, const char *what, const ranges::Range<T> &range,
                      Result<T> (*parse)(const std::string &)) {
  std::string text = scalar(key, true);
  Result<T> result = parse(text);
  if (!result && !isNoQuantity(text))
    fail(key, result.error().message);
  if (!result || result->value < range.least.value || result->value > range.most.value)
    fail(key, std::string("expected ") + what + " from " + toString(range.least) + " to " + toString(range.most) +
                  ", got \"" + text + "\"");
  return *result;
}

Seconds YamlSection::time(const char *key) { return within<Seconds>(key, "a time", ranges::time, parseSeconds); }
Bytes YamlSection::size(const char *key) {
  Result<Bytes> result = parseBytes(scalar(key, true));
  if (!result)
    fail(key, result.error().message);
  return *result;
}
BytesPerSecond YamlSection::bandwidth(const char *key) {
  return within<BytesPerSecond>(key, "a bandwidth", ranges::bandwidth, parseBytesPerSecond);
}
FlopsPerSecond YamlSection::flops(const char *key) {
  return within<FlopsPerSecond>(key, "a rate", ranges::flops, parseFlopsPerSecond);
}

void YamlSection::finish() const {
  std::set<std::string> all = asked;
  all.insert(known.begin(), known.end());
  std::vector<std::string> words(all.begin(), all.end());
  for (const PlacedNode &layer : layers)
    for (const auto &entry : layer.node) {
      const std::string &key = entry.first.Scalar();
      if (asked.count(key) || key == "source" || key == "assumption")
        continue;
      std::string near = nearest(key, words);
      failAt(placeOf(layer.file, entry.first),
             full(key) + ": expected a known key, got this one" +
                 (near.empty() ? " (known: " + list(words) + ")" : "; did you mean \"" + near + "\"?"));
    }
}

} // namespace braid::cost
