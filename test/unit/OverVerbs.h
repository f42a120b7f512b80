//===- OverVerbs.h - for tests over the double of RDMA verbs --------------------------------------------------------===//
#ifndef BRAID_TEST_UNIT_OVERVERBS_H
#define BRAID_TEST_UNIT_OVERVERBS_H

#include "test/unit/PlannedOps.h"
#include "transports/verbs/VerbsTransport.h"
#include <cstdlib>

namespace braid::test {

/// The fabric that communicators connect over, for so long.
struct Use {
  explicit Use(std::shared_ptr<runtime::verbs::Fabric> fabric) { runtime::verbs::useFabric(std::move(fabric)); }
  ~Use() { runtime::verbs::useFabric(nullptr); }
};

/// A variable of the environment, for so long.
struct Forced {
  Forced(const char *name, const char *value) : name(name) { setenv(name, value, 1); }
  ~Forced() { unsetenv(name); }
  const char *name;
};

inline runtime::CommunicatorOptions overVerbs() {
  runtime::CommunicatorOptions options = impatient(20);
  options.transport = "verbs-double";
  return options;
}

} // namespace braid::test

#endif
