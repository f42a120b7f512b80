//===- Page.h - the page of braid-sim report, from the files of this folder -------------------------------------===//
#ifndef BRAID_SIM_REPORT_PAGE_H
#define BRAID_SIM_REPORT_PAGE_H

namespace mlir::braid::sim {

/// page.html with style and scripts in it; the data belong where it says {{data}}. Made by embed.cmake.
extern const char reportPage[];

} // namespace mlir::braid::sim

#endif
