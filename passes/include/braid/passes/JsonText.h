//===- JsonText.h - JSON that somebody else wrote ---------------------------------------------------------------===//
#ifndef BRAID_PASSES_JSONTEXT_H
#define BRAID_PASSES_JSONTEXT_H

#include "llvm/Support/JSON.h"

namespace mlir::braid {

constexpr int deepestJson = 1000; ///< setting: LLVM's parser calls itself for each level, and ends with the stack

/// With the mark that some editors put in front of UTF-8, or without; what is nested without end is an error.
inline llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text) {
  text.consume_front("\xef\xbb\xbf");
  int depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '"')
      quoted = !quoted;
    else if (quoted)
      at += c == '\\';
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (depth > deepestJson)
      return llvm::createStringError("expected at most %d levels, got more", deepestJson);
  }
  return llvm::json::parse(text);
}

} // namespace mlir::braid

#endif
