//===- OpaqueText.h - reads the text of opaque attributes ------------------===//
//
// Attributes of a placeholder dialect are kept as text. This is the small scanner that reads the few of them that Braid
// needs: channel handles, meshes, axes and bounds. Every method skips blanks first, and leaves the position alone where
// it does not find what it looks for.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PASSES_IMPORT_OPAQUETEXT_H
#define BRAID_PASSES_IMPORT_OPAQUETEXT_H

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir::braid {

class OpaqueText {
public:
  explicit OpaqueText(llvm::StringRef text) : rest(text) {}

  /// Takes `token` if it comes next.
  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  /// Takes `key` and the equals sign after it.
  bool takeKey(llvm::StringRef key) {
    llvm::StringRef before = rest;
    if (take(key) && take("="))
      return true;
    rest = before;
    return false;
  }

  std::optional<int64_t> takeInteger() {
    rest = rest.ltrim();
    llvm::StringRef digits = rest;
    digits.consume_front("-");
    size_t length = digits.take_while(llvm::isDigit).size();
    int64_t value;
    if (length == 0 || rest.take_front(length + rest.size() - digits.size()).getAsInteger(10, value))
      return std::nullopt;
    rest = digits.drop_front(length);
    return value;
  }

  /// A string in double quotes, without escapes (axis and mesh names have none).
  std::optional<std::string> takeString() {
    llvm::StringRef before = rest;
    size_t end;
    if (!take("\"") || (end = rest.find('"')) == llvm::StringRef::npos) {
      rest = before;
      return std::nullopt;
    }
    std::string value = rest.take_front(end).str();
    rest = rest.drop_front(end + 1);
    return value;
  }

  /// A name as in `@name` or `@"name"`, after the at sign.
  std::optional<std::string> takeSymbol() {
    if (auto quoted = takeString())
      return quoted;
    llvm::StringRef name =
        rest.take_while([](char c) { return llvm::isAlnum(c) || llvm::StringRef("_$.-").contains(c); });
    if (name.empty())
      return std::nullopt;
    rest = rest.drop_front(name.size());
    return name.str();
  }

  /// A whole attribute in MLIR's own syntax (`dense<[1, 0]> : tensor<2xi64>`).
  Attribute takeAttribute(MLIRContext *context) {
    size_t length = 0;
    rest = rest.ltrim();
    // What is in no form that is known is said of the operation, not of its text.
    ScopedDiagnosticHandler silence(context, [](Diagnostic &) { return success(); });
    Attribute attr = parseAttribute(rest, context, Type(), &length);
    if (attr)
      rest = rest.drop_front(length);
    return attr;
  }

private:
  llvm::StringRef rest;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_OPAQUETEXT_H
