//===- Nearest.cpp - the word that somebody meant -----------------------------------------------------------------===//
#include "braid/runtime/algorithms/Nearest.h"
#include <algorithm>

namespace braid::algorithms {

namespace {

/// Edits between two words: insertions, deletions, replacements, swaps of neighbours.
size_t distance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits[a.size()][b.size()];
}

} // namespace

std::string nearest(const std::string &word, const std::vector<std::string> &known) {
  if (word.size() > 64)
    return {};
  std::string best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string &candidate : known) {
    size_t edits = distance(word, candidate);
    if (edits < least && edits < candidate.size()) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

std::string didYouMean(const std::string &word, const std::vector<std::string> &known) {
  std::string near = nearest(word, known);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

} // namespace braid::algorithms
