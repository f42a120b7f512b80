//===- DrawnPrices.h - what messages cost at least under one draw of the fabric ----------------------------------===//
//
// A draw makes of the price of a launch
//
//   fixed + latency x L + bytes / bandwidth x W + (what messages, spikes and pauses add)
//
// L and W are the job's: how far its latency lies from other jobs', how much of the line rate its flows get where they collide; and of
// the launch, where the profile draws for each one. Which launch of a step a collective is, a schedule decides, so the smallest L and W
// of all launches count (Pricer::leastFactors), and what is added counts as nothing: another schedule may be spared it.
//
// Which of the candidates is the cheapest depends on L and W, and a larger message may be the cheaper one: where a tree is cut into
// more segments, it has more latency and less transfer. So a message that may share a bucket costs the least of all sizes up to the
// largest bucket. Between two sizes of a grid (quarters of octaves) a candidate has latency and transfer between those at both ends, and
// takes at least what it does at the lower end; on a straight line between them, where the parts are the same at both ends.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_BOUNDS_DRAWNPRICES_H
#define BRAID_COST_MODELS_BOUNDS_DRAWNPRICES_H

#include "bounds/LeastPrices.h"
#include <map>
#include <tuple>

namespace braid::cost {

class DrawnPrices : public LeastPrices {
public:
  explicit DrawnPrices(const Pricer &pricer) : pricer(pricer) {}

  Seconds of(const CollectiveSpec &spec, Bytes most) override;

  /// Candidates whose draws are the same, and one of them. More become known as prices are asked for.
  struct Kind {
    Fabric fabric;
    Candidate example;
  };
  const std::vector<Kind> &kinds() const { return known; }
  /// Factors of each kind, for all prices asked for from now on. A kind that is not among them has what every kind has at least.
  void draw(std::vector<LeastFactors> factors);

private:
  /// A candidate at one size.
  struct Part {
    int kind;
    double time, latency, wire;
  };
  using Parts = std::map<std::string, Part>; ///< by algorithm and protocol
  /// What is known of messages of one kind, group and element type.
  struct Messages {
    std::map<int, Parts> grid;
    std::map<std::tuple<int64_t, int, std::shared_ptr<const std::vector<int64_t>>>, Parts> single;
    // Under the factors of now:
    std::map<std::pair<int64_t, int64_t>, double> prices; ///< of so many bytes in a bucket of at most so many
    std::map<std::pair<int, int>, double> least;          ///< from one size of the grid to another
  };

  Parts partsOf(const CollectiveSpec &spec);
  const Parts &at(Messages &messages, const CollectiveSpec &spec, int step);
  double exact(const Parts &parts) const;
  double between(Messages &messages, const CollectiveSpec &spec, int step, double share);
  double leastOf(Messages &messages, const CollectiveSpec &spec, int step, int last);
  const LeastFactors &factorsOf(int kind) const;

  const Pricer &pricer;
  std::vector<Kind> known;
  std::map<std::tuple<Fabric, int, int, int, int, double, double, double>, int> numbers;
  std::map<std::tuple<CollectiveKind, const RankGroups *, std::string>, Messages> all;
  std::vector<LeastFactors> factors;
  LeastFactors least[2];
};

} // namespace braid::cost

#endif
