//===- Check.h - runs one case on one rank and checks this rank's part ------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_CHECK_H
#define BRAID_TEST_CONFORMANCE_CHECK_H

#include "test/conformance/Case.h"
#include "test/conformance/Data.h"

namespace braid::test {

/// What one rank did. `result` is a hash of the result's bytes, for the comparison between ranks.
struct Verdict {
  std::string problem;
  uint64_t result = 0;
};

/// Plans, starts and awaits the case `rounds` times with other data each time. `data`: one for each round.
Verdict runCase(const Case &one, const std::vector<Data> &data, braid_comm *comm);

/// Whether all ranks must hold the same bytes.
inline bool sameOnAll(const Case &one) {
  return one.collective == BRAID_ALL_REDUCE || one.collective == BRAID_ALL_GATHER || one.collective == BRAID_BROADCAST;
}

} // namespace braid::test

#endif
