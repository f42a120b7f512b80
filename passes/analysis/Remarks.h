//===- Remarks.h - what a pass says about what it did and did not do --------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_REMARKS_H
#define BRAID_PASSES_ANALYSIS_REMARKS_H

#include "mlir/IR/Remarks.h"
#include <string>

namespace mlir::braid {

inline void remarkPassed(Location loc, StringRef category, StringRef name, const Twine &text) {
  if (auto remark = remark::passed(loc, remark::RemarkOpts::name(name).category(category)))
    remark << StringRef(text.str());
}
inline void remarkMissed(Location loc, StringRef category, StringRef name, const Twine &text) {
  if (auto remark = remark::missed(loc, remark::RemarkOpts::name(name).category(category)))
    remark << StringRef(text.str());
}
inline void remarkAnalysis(Location loc, StringRef category, StringRef name, const Twine &text) {
  if (auto remark = remark::analysis(loc, remark::RemarkOpts::name(name).category(category)))
    remark << StringRef(text.str());
}
/// Whether anybody listens: remarks that need work to make are made only then.
inline bool remarksWanted(MLIRContext *context) { return context->getRemarkEngine() != nullptr; }

} // namespace mlir::braid

#endif
