//===- Json.h - a small reader of JSON --------------------------------------------------------------------------===//
//
// For the compiled files that the runtime reads (fabric profiles, skeletons): written by Braid's own tools, read whole. No
// comments, no duplicates checked; numbers are doubles, \u escapes are kept as they are.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_JSON_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_JSON_H

#include <string>
#include <utility>
#include <vector>

namespace braid::runtime {

class Json {
public:
  enum Kind { Null, Boolean, Number, String, Array, Object };

  /// Returns an error ("expected ',' or ']', got 'x' at line 3"), or an empty string and the value in `result`.
  static std::string parse(const std::string &text, Json &result);
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
