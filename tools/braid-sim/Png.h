//===- Png.h - an SVG drawing as PNG ------------------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_SIM_PNG_H
#define BRAID_TOOLS_BRAID_SIM_PNG_H

#include <string>

namespace braid::drawing {

/// Whether the path ends in .png.
bool isPng(const std::string &path);

/// Draws `svg`, which says its width and height in pixels, twice as large. By librsvg and cairo, which are loaded where they
/// are and not linked. Returns an error or "".
std::string renderPng(const std::string &svg, std::string &png);

} // namespace braid::drawing

#endif
