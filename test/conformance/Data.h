//===- Data.h - operands and expected results -----------------------------------------------------------------------===//
//
// Operands repeat with a period that is prime, so no chunk starts where another does; expected results repeat likewise and
// are made from one period, so that checking megabytes is a comparison of memory.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_DATA_H
#define BRAID_TEST_CONFORMANCE_DATA_H

#include "test/conformance/Case.h"

namespace braid::test {

class Data {
public:
  static constexpr size_t period = 1021;
  /// `round`: other values each time.
  Data(const Case &one, int round);

  /// Elements [from, from + count) of a rank's operand.
  void operand(int rank, size_t from, size_t count, unsigned char *to) const {
    copy(ofRank[size_t(rank)], from, count, to);
  }
  /// Empty, or the first element of `got` that is not element from + i of rank's operand, in words.
  std::string expectOperand(int rank, size_t from, size_t count, const unsigned char *got) const {
    return compare(ofRank[size_t(rank)], from, count, got);
  }
  /// Likewise for the reduced value of all ranks. For inexact data: within the bound of floating-point summation.
  std::string expectReduced(size_t from, size_t count, const unsigned char *got) const;

private:
  using Table = std::vector<unsigned char>;
  void copy(const Table &table, size_t from, size_t count, unsigned char *to) const;
  std::string compare(const Table &table, size_t from, size_t count, const unsigned char *got) const;

  const Case &one;
  size_t size; ///< of an element
  std::vector<Table> ofRank;
  Table reduced;                   ///< exact data
  std::vector<long double> middle; ///< inexact data: the value,
  std::vector<double> slack;       ///< and the bound
};

} // namespace braid::test

#endif
