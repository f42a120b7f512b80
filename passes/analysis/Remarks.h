//===- Remarks.h - what a pass says about what it did and did not do --------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_REMARKS_H
#define BRAID_PASSES_ANALYSIS_REMARKS_H

#include "mlir/IR/Remarks.h"
#include <string>

namespace mlir::braid {

/// All say nothing for an empty category: what is tried on a copy is not what happens.
inline void remarkPassed(Location loc, StringRef category, StringRef name, const Twine &text) {
  if (category.empty())
    return;
  if (auto remark = remark::passed(loc, remark::RemarkOpts::name(name).category(category)))
    remark << StringRef(text.str());
}
inline void remarkMissed(Location loc, StringRef category, StringRef name, const Twine &text) {
  if (category.empty())
    return;
  if (auto remark = remark::missed(loc, remark::RemarkOpts::name(name).category(category)))
    remark << StringRef(text.str());
}
/// For a text that is work to make: `text` is asked only if somebody listens to this category.
inline void remarkMissed(Location loc, StringRef category, StringRef name, llvm::function_ref<std::string()> text) {
  if (category.empty())
    return;
  if (auto remark = remark::missed(loc, remark::RemarkOpts::name(name).category(category)))
    remark << StringRef(text());
}
inline void remarkAnalysis(Location loc, StringRef category, StringRef name, const Twine &text) {
  if (category.empty())
    return;
  if (auto remark = remark::analysis(loc, remark::RemarkOpts::name(name).category(category)))
    remark << StringRef(text.str());
}
/// Whether somebody may listen. (mlir-opt has an engine always, which mostly drops everything.)
inline bool remarksWanted(MLIRContext *context) { return context->getRemarkEngine() != nullptr; }

} // namespace mlir::braid

#endif
