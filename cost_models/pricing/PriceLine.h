//===- PriceLine.h - the price of a collective by its bytes, asked for at few sizes -----------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PRICELINE_H
#define BRAID_COST_MODELS_PRICING_PRICELINE_H

#include "braid/cost_models/Price.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace braid::cost {

/// The cheapest price, no noise, of one message like `spec`: asked for at eighths of octaves, straight lines between. `ideal`:
/// without any copies, as bounds count.
class PriceLine {
public:
  PriceLine(const Pricer &pricer, const CollectiveSpec &spec, bool ideal = false)
      : pricer(pricer), spec(spec), ideal(ideal) {}

  /// In seconds; `merged`: of several tensors, which some engines must copy first.
  double operator()(double bytes, bool merged) {
    bytes = std::max(bytes, 1.0);
    int step = int(std::floor(8 * std::log2(bytes)));
    double low = std::exp2(step / 8.0), high = std::exp2((step + 1) / 8.0); // setting: eighths
    double share = std::clamp((bytes - low) / (high - low), 0.0, 1.0);
    return (1 - share) * at(step, merged) + share * at(step + 1, merged);
  }

private:
  double at(int step, bool merged) {
    auto [place, first] = known.try_emplace({step, merged}, 0);
    if (first) {
      CollectiveSpec asked = spec;
      asked.bytes = {int64_t(std::llround(std::exp2(step / 8.0)))}; // setting: eighths
      asked.tensors = ideal ? 0 : merged ? 2 : 1;
      place->second = pricer.cheapestTime(asked).value;
    }
    return place->second;
  }
  const Pricer &pricer;
  CollectiveSpec spec;
  bool ideal;
  std::map<std::pair<int, bool>, double> known;
};

} // namespace braid::cost

#endif
