//===- Optimise.h - least squares ---------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_OPTIMISE_H
#define BRAID_COST_MODELS_CALIBRATE_OPTIMISE_H

#include <functional>
#include <vector>

namespace braid::cost {

struct Minimum {
  std::vector<double> place;     ///< z
  std::vector<double> deviation; ///< of each z, if the residuals are of unit variance
  /// Principal axes of what the residuals leave open around `place`, each one deviation long: z + a axis, |a| <= 2 holds 95 %.
  std::vector<std::vector<double>> axes;
  double cost = 0; ///< sum of squares
};

/// The z near which the sum of squared residuals is least, from `starts` places: 0 and others drawn around it with a
/// fixed seed. `residuals(z, out)` fills out with `count` numbers, at least as many as z has.
Minimum leastSquares(size_t dimensions, size_t count,
                     const std::function<void(const std::vector<double> &z, std::vector<double> &out)> &residuals,
                     int starts);

} // namespace braid::cost

#endif
