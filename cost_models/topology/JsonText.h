//===- JsonText.h - numbers and strings of the JSON that is written ---------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_JSONTEXT_H
#define BRAID_COST_MODELS_TOPOLOGY_JSONTEXT_H

#include <cstdio>
#include <cstdlib>
#include <string>

namespace braid::cost {

/// Shortest text that reads back as the same number.
inline std::string number(double value) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

/// Control characters become blanks.
inline std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += (unsigned char)c < 0x20 ? ' ' : c;
  return out + "\"";
}

} // namespace braid::cost

#endif
