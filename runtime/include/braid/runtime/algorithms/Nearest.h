//===- Nearest.h - the word that somebody meant ---------------------------------------------------------*- C++ -*-===//
#ifndef BRAID_RUNTIME_ALGORITHMS_NEAREST_H
#define BRAID_RUNTIME_ALGORITHMS_NEAREST_H

#include <string>
#include <vector>

namespace braid::algorithms {

/// The known word nearest to `word`, if it is near enough for a slip of the keyboard; else empty.
std::string nearest(const std::string &word, const std::vector<std::string> &known);

/// For the end of an error: "; did you mean 'ring'?", or "".
std::string didYouMean(const std::string &word, const std::vector<std::string> &known);

} // namespace braid::algorithms

#endif
