//===- Case.h - one combination that the conformance suite runs, and which combinations there are ------------------===//
//
// Everything is enumerated from the registries: collectives of the header, algorithms that serve them, transports of the
// build, element types and reductions. What is registered later is covered by being registered.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_CASE_H
#define BRAID_TEST_CONFORMANCE_CASE_H

#include "braid/runtime/algorithms/StepProgram.h"
#include "test/conformance/Scalar.h"
#include <string>
#include <vector>

namespace braid::test {

struct Case {
  enum Place { Apart, InPlace, Shifted }; ///< operand and result; shifted: they overlap at different offsets
  braid_collective collective = BRAID_BARRIER;
  std::string algorithm; ///< empty: the default
  std::string transport;
  int ranks = 1;
  size_t count = 0; ///< elements of the larger of operand and result of one rank, about; see blockCount
  braid_type type = BRAID_F32;
  braid_reduction reduction = BRAID_SUM;
  bool shared = true; ///< memory of braid_alloc; else the program's own
  Place place = Apart;
  int tensors = 1; ///< 3: a bucket of large and small ones
  int channels = 1;
  int chunks = 0;
  bool exact = true; ///< operands whose result does not depend on the order of additions; else only equality is checked
  int root = 0;
  bool ragged = false;                     ///< all_to_all: blocks differ in size, some are empty
  int helpers = 0;                         ///< ranks beside these, which serve them
  braid_memory memory = BRAID_MEMORY_HOST; ///< of operands and results
  bool tags = true;                        ///< sends and receives of two tags; else all have tag 0

  /// Elements of the block from one rank to another; of a ragged one: a draw of the two and of `count`.
  size_t blockCount(int source, int target) const;
  /// The algorithm as the runtime gets it; "scattered" and "mesh" stand for an order and a graph of so many
  /// ranks.
  std::string spelling() const;
  bool reduces() const;
  bool rooted() const;
  std::string text() const;
};

/// The dimensions of the suite. A dimension's values are indices.
class Space {
public:
  /// `transports`: names to use; `largest`: bytes of the largest size.
  /// `byEngine`: of an engine, which has no algorithms by name, nor channels and chunks.
  Space(std::vector<std::string> transports, int fewestRanks, int mostRanks, bool byEngine = false);

  static constexpr int dimensions = 12;
  int values(int dimension) const;
  /// The case of one choice of values; false: they do not go together.
  bool make(const std::vector<int> &choice, Case &out) const;

  /// Choices such that each pair of values of two dimensions that can occur together does so.
  std::vector<Case> allPairs(uint64_t seed) const;
  /// Every collective by every algorithm on every transport, number of ranks and size; the other dimensions are drawn, for
  /// each combination others, the same for one seed. In the order of transports and ranks.
  std::vector<Case> product(uint64_t seed) const;
  /// Every combination of all dimensions, one call each.
  template <typename Body> void each(Body body) const {
    std::vector<int> choice(dimensions, 0);
    for (;;) {
      Case one;
      if (make(choice, one))
        body(one);
      int d = 0;
      while (d < dimensions && ++choice[size_t(d)] == values(d))
        choice[size_t(d++)] = 0;
      if (d == dimensions)
        return;
    }
  }

private:
  struct Route {
    braid_collective collective;
    std::string algorithm;
    bool ragged = false;
    int helpers = 0;
  };
  void addRoutes(braid_collective collective, const algorithms::Algorithm &algorithm);

  std::vector<Route> routes;
  std::vector<std::string> transports;
  int fewest, most;
  bool byEngine;
};

} // namespace braid::test

#endif
