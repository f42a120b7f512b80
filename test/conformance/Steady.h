//===- Steady.h - many small collectives: nothing grows -----------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_STEADY_H
#define BRAID_TEST_CONFORMANCE_STEADY_H

#include <string>

namespace braid::test {

/// Runs `count` small collectives on 2 processes, in part planned anew each time, and compares memory, descriptors and time
/// of the last tenth with those of the second. Prints the figure; false: something grew. `leak`: plant a leak.
bool steady(long count, const std::string &transport, bool leak);

} // namespace braid::test

#endif
