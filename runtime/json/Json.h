//===- Json.h - a small reader of JSON --------------------------------------------------------------------------===//
//
// For the compiled files that the runtime and NCCL's tuner read (fabric profiles, skeletons, choices): written by Braid's own tools,
// read whole. No comments; a key stands once in its object; numbers are finite doubles whatever the process's locale, \u escapes are kept as
// they are.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_JSON_JSON_H
#define BRAID_RUNTIME_JSON_JSON_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace braid::runtime {

class Json {
public:
  enum Kind { Null, Boolean, Number, String, Array, Object };

  /// Returns an error ("expected ',' or ']', got 'x' at line 3"), or an empty string and the value in `result`.
  /// A text of more than `mostValues` values is an error too, before they take memory.
  static std::string parse(const std::string &text, Json &result, size_t mostValues = SIZE_MAX);
  /// Reads and parses a file; errors name it.
  static std::string read(const std::string &path, Json &result);

  Kind kind() const { return what; }
  bool isNull() const { return what == Null; }
  double number(double otherwise = 0) const { return what == Number || what == Boolean ? value : otherwise; }
  const std::string &text() const { return string; }
  const std::vector<Json> &items() const { return elements; }
  const std::vector<std::pair<std::string, Json>> &fields() const { return members; }
  /// A field of an object; a null value where there is none.
  const Json &operator[](const char *key) const;
  const Json &operator[](int index) const { return elements[size_t(index)]; }
  size_t size() const { return elements.size(); }

private:
  friend class JsonReader;
  Kind what = Null;
  double value = 0;
  std::string string;
  std::vector<Json> elements;
  std::vector<std::pair<std::string, Json>> members;
};

} // namespace braid::runtime

#endif
