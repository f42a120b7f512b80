//===- Plant.h - mistakes that a sanitizer must see ----------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_PLANT_H
#define BRAID_TEST_CONFORMANCE_PLANT_H

#include <string>

namespace braid::test {

/// Runs one of them and returns when nobody has stopped the process: "race", a rank writes to its operand while the operation
/// is in flight; "bounds", an algorithm whose messages land behind the buffer. Empty, or what is wrong with the
/// name.
std::string plant(const std::string &what);

} // namespace braid::test

#endif
