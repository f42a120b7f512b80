//===- Json.cpp - a small reader of JSON ------------------------------------------------------------------------===//
#include "json/Json.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unordered_set>

namespace braid::runtime {

class JsonReader {
public:
  JsonReader(const std::string &text, size_t mostValues) : text(text), left(mostValues) {}

  std::string run(Json &result) {
    if (read(result, 0)) {
      skip();
      if (at < text.size())
        expected("the end");
    }
    return error;
  }

private:
  static constexpr int deepest = 64;

  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool expected(const std::string &what) {
    std::string got = at < text.size() ? std::string("'") + text[at] + "'" : "the end of the text";
    error = "expected " + what + ", got " + got + " at line " + line();
    return false;
  }
  std::string line() const { return std::to_string(1 + std::count(text.begin(), text.begin() + long(at), '\n')); }
  bool take(char c) {
    skip();
    if (at < text.size() && text[at] == c) {
      ++at;
      return true;
    }
    return false;
  }
  bool word(const char *name) {
    if (text.compare(at, std::strlen(name), name) != 0)
      return false;
    at += std::strlen(name);
    return true;
  }

  bool readString(std::string &out) {
    if (!take('"'))
      return expected("a string");
    while (at < text.size() && text[at] != '"') {
      if (text[at] == '\\' && at + 1 < text.size()) {
        ++at;
        const char *codes = "n\nt\tr\rb\bf\f";
        const char *code = text[at] == 'u' ? nullptr : std::strchr(codes, text[at]);
        if (text[at] == 'u')
          out += "\\u";
        else
          out += code && (code - codes) % 2 == 0 ? code[1] : text[at];
        ++at;
      } else {
        out += text[at++];
      }
    }
    return take('"') || expected("'\"'");
  }

  bool read(Json &result, int depth) {
    skip();
    if (depth > deepest || at >= text.size())
      return expected(depth > deepest ? "less than 64 levels" : "a value");
    if (left-- == 0)
      return expected("fewer values");
    char c = text[at];
    if (c == '{') {
      ++at;
      result.what = Json::Object;
      if (take('}'))
        return true;
      std::unordered_set<std::string> keys;
      do {
        std::string key;
        skip();
        if (!readString(key))
          return false;
        if (!keys.insert(key).second) {
          error = "expected \"" + key + "\" once, got it twice at line " + line();
          return false;
        }
        if (!take(':'))
          return expected("':'");
        result.members.emplace_back(std::move(key), Json());
        if (!read(result.members.back().second, depth + 1))
          return false;
      } while (take(','));
      return take('}') || expected("',' or '}'");
    }
    if (c == '[') {
      ++at;
      result.what = Json::Array;
      if (take(']'))
        return true;
      do {
        result.elements.emplace_back();
        if (!read(result.elements.back(), depth + 1))
          return false;
      } while (take(','));
      return take(']') || expected("',' or ']'");
    }
    if (c == '"') {
      result.what = Json::String;
      return readString(result.string);
    }
    if (word("null"))
      return true;
    if (word("true") || word("false")) {
      result.what = Json::Boolean;
      result.value = text[at - 2] == 'u';
      return true;
    }
    if (c != '-' && (c < '0' || c > '9'))
      return expected("a value");
    result.what = Json::Number;
    auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), result.value);
    if (problem != std::errc() || !std::isfinite(result.value)) // "-inf" is a number to from_chars
      return expected("a number that a double holds");
    at = size_t(end - text.data());
    return true;
  }

  const std::string &text;
  size_t left; ///< values that may still come
  size_t at = 0;
  std::string error;
};

std::string Json::parse(const std::string &text, Json &result, size_t mostValues) {
  return JsonReader(text, mostValues).run(result);
}

std::string Json::read(const std::string &path, Json &result) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return path + ": " + std::strerror(errno);
  std::string text;
  std::vector<char> buffer(64 << 10); // not on the stack, which may be as small (ulimit -s)
  while (size_t got = std::fread(buffer.data(), 1, buffer.size(), file))
    text.append(buffer.data(), got);
  bool broken = std::ferror(file);
  std::fclose(file);
  if (broken)
    return path + ": cannot be read";
  std::string error = parse(text, result);
  return error.empty() ? error : path + ": " + error;
}

const Json &Json::operator[](const char *key) const {
  static const Json nothing;
  for (const auto &[name, member] : members)
    if (name == key)
      return member;
  return nothing;
}

} // namespace braid::runtime
