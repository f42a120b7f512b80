//===- Inliner.h - registers what the inliner may do with the dialect ---------------------------------*- C++ -*-===//
#ifndef BRAID_INTERFACES_INLINER_H
#define BRAID_INTERFACES_INLINER_H

namespace mlir::braid {
class BraidDialect;
void addInlinerInterface(BraidDialect &dialect);
} // namespace mlir::braid

#endif // BRAID_INTERFACES_INLINER_H
