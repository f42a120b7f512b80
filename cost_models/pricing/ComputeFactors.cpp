//===- ComputeFactors.cpp - how ranks' computation differs --------------------------------------------------------===//
//
// The largest of many factors is looked for among their uniform numbers: a factor grows with both of its own, so that a table of what
// a normal number is at most, by where its uniform one lies, tells of most ranks that another one is slower.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/ComputeFactors.h"
#include "pricing/Noise.h"
#include <algorithm>
#include <array>
#include <cmath>

namespace braid::cost {

namespace {

class MostNormal {
public:
  MostNormal() {
    for (int bin = 0; bin + 1 < bins; ++bin)
      most[size_t(bin)] = normalQuantile(double(bin + 1) / bins);
    most[bins - 1] = 9; // setting: above the normal number of the largest uniform one, 1 - 2^-54
  }
  double of(const draws::Place &place) const { return most[size_t(uniform(place) * bins)]; }

private:
  static constexpr int bins = 4096; // setting: the ranks that are looked at closely are a few of so many
  std::array<double, bins> most;
};

} // namespace

double ComputeFactors::of(int rank, uint64_t seed, uint64_t job, uint64_t step) const {
  draws::Place place;
  place.seed = seed;
  place.job = job;
  place.step = step;
  place.where = uint64_t(placement.deviceOf[size_t(rank)]);
  return draws::computeFactor(noise.skewPerJob, noise.skewPerStep, place);
}

double ComputeFactors::draw(uint64_t seed, uint64_t job, uint64_t step) const {
  static const MostNormal table;
  size_t ranks = placement.deviceOf.size();
  std::vector<double> most(ranks, 0);
  draws::Place place;
  place.seed = seed;
  place.job = job;
  auto add = [&](double sigma, uint64_t purpose, uint64_t ofStep) {
    place.step = ofStep;
    place.purpose = purpose;
    for (size_t rank = 0; rank < ranks && sigma > 0; ++rank) {
      place.where = uint64_t(placement.deviceOf[rank]);
      most[rank] += sigma * table.of(place) - sigma * sigma / 2;
    }
  };
  add(noise.skewPerJob, draws::purpose::computeJob, 0);
  add(noise.skewPerStep, draws::purpose::computeStep, step);
  double slowest = 0, logarithm = -1e300;
  for (size_t rank = 0; rank < ranks; ++rank)
    if (most[rank] > logarithm) {
      slowest = std::max(slowest, of(int(rank), seed, job, step));
      logarithm = std::log(slowest) - 1e-9; // setting: more than rounding
    }
  return slowest;
}

double ComputeFactors::slowest(uint64_t seed, uint64_t job, uint64_t step) {
  if (!noise.skewed())
    return 1;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = kept.find({seed, job, step}); found != kept.end())
      return found->second;
  }
  double factor = draw(seed, job, step);
  std::lock_guard<std::mutex> lock(mutex);
  return kept.try_emplace({seed, job, step}, factor).first->second;
}

} // namespace braid::cost
