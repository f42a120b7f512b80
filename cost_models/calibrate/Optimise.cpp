//===- Optimise.cpp - least squares by Eigen's Levenberg-Marquardt ------------------------------------------------===//
//
// Derivatives by differences: a price is the cheapest of several cells, so it has kinks, and formulas would save little
// at 16 constants and some hundred rows. A kink can hold an iteration up, hence several starts.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/Optimise.h"
#include "braid/cost_models/Fabric.h"
#include <Eigen/Dense>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

namespace braid::cost {

namespace {

using Residuals = std::function<void(const std::vector<double> &, std::vector<double> &)>;

struct Functor {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const Residuals &residuals;
  int dimensions, count;
  int inputs() const { return dimensions; }
  int values() const { return count; }
  int operator()(const Eigen::VectorXd &z, Eigen::VectorXd &out) const {
    std::vector<double> place(z.data(), z.data() + z.size()), found(count);
    residuals(place, found);
    out = Eigen::Map<Eigen::VectorXd>(found.data(), count);
    return 0;
  }
};

} // namespace

Minimum leastSquares(size_t dimensions, size_t count, const Residuals &residuals, int starts) {
  Functor functor{residuals, int(dimensions), int(count)};
  // setting: steps of 1e-4, wide enough that the kinks between cells do not decide the slope.
  Eigen::NumericalDiff<Functor> differences(functor, 1e-8);
  Minimum best;
  for (int start = 0; start < starts; ++start) {
    Eigen::VectorXd z = Eigen::VectorXd::Zero(dimensions);
    DrawPlace place;
    place.seed = start;
    for (size_t i = 0; start > 0 && i < dimensions; ++i) {
      place.message = i;
      z[i] = best.place[i] + 0.5 * normal(place);
    }
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Functor>> search(differences);
    // setting: effort and tolerance
    search.parameters.maxfev = 60 * int(dimensions + 1);
    search.parameters.ftol = search.parameters.xtol = 1e-8; // setting: tolerance
    search.minimize(z);
    Eigen::VectorXd values(count);
    functor(z, values);
    double cost = values.squaredNorm();
    if (start > 0 && cost >= best.cost)
      continue;
    best.cost = cost;
    best.place.assign(z.data(), z.data() + z.size());
    Eigen::MatrixXd slopes(count, dimensions);
    differences.df(z, slopes);
    Eigen::MatrixXd covariance = (slopes.transpose() * slopes).completeOrthogonalDecomposition().pseudoInverse();
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> principal(covariance);
    best.axes.clear();
    for (size_t i = 0; i < dimensions; ++i) {
      Eigen::VectorXd axis = principal.eigenvectors().col(i) * std::sqrt(std::max(0.0, principal.eigenvalues()[i]));
      best.axes.emplace_back(axis.data(), axis.data() + axis.size());
    }
    best.deviation.resize(dimensions);
    for (size_t i = 0; i < dimensions; ++i)
      best.deviation[i] = std::sqrt(std::max(0.0, covariance(i, i)));
  }
  return best;
}

} // namespace braid::cost
