//===- Ranges.cpp - sizes for which one ranking holds -----------------------------------------------------------===//
#include "braid/cost_models/Choices.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

namespace {

class Search {
public:
  Search(const std::function<std::string(int64_t)> &identity, double resolution)
      : identity(identity), resolution(resolution) {}

  /// Sizes in (low, high] at which another range begins, in order. What goes and comes back between two sizes is not looked for.
  void changes(int64_t low, const std::string &atLow, int64_t high, const std::string &atHigh) {
    if (atLow == atHigh)
      return;
    if (high - low <= 1 || double(high) <= double(low) * resolution) {
      begins.push_back(high);
      return;
    }
    int64_t middle = low + (high - low) / 2;
    std::string atMiddle = identity(middle);
    changes(low, atLow, middle, atMiddle);
    changes(middle, atMiddle, high, atHigh);
  }

  std::vector<int64_t> begins{1};

private:
  const std::function<std::string(int64_t)> &identity;
  double resolution;
};

} // namespace

std::vector<ChoiceRange> choiceRanges(int64_t most, const std::function<Ranking(int64_t)> &rank,
                                      const std::function<std::string(const Ranking &, int64_t)> &identity,
                                      double resolution, int perOctave) {
  std::function<std::string(int64_t)> at = [&](int64_t size) { return identity(rank(size), size); };
  Search search(at, resolution);
  int64_t low = 1;
  std::string atLow = at(low);
  for (int step = 1; low < most; ++step) {
    int64_t high = std::min(most, int64_t(std::llround(std::exp2(double(step) / perOctave))));
    if (high == low)
      continue;
    std::string atHigh = at(high);
    search.changes(low, atLow, high, atHigh);
    low = high;
    atLow = std::move(atHigh);
  }
  std::vector<ChoiceRange> ranges;
  for (size_t i = 0; i < search.begins.size(); ++i) {
    ChoiceRange range;
    range.from = search.begins[i];
    range.to = i + 1 < search.begins.size() ? search.begins[i + 1] - 1 : most;
    range.at = std::clamp(int64_t(std::sqrt(double(range.from) * double(range.to))), range.from, range.to);
    range.first = rank(range.from);
    range.middle = rank(range.at);
    range.last = rank(range.to);
    ranges.push_back(std::move(range));
  }
  return ranges;
}

} // namespace braid::cost
