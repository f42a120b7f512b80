//===- Launched.h - the suite on the processes of a launcher, by an engine ---------------------------------------------===//
//
// Every process is a rank and runs the same cases. A case of fewer ranks runs on a subset, whose ranks are in another order than the
// job's, so that an engine which numbers processes by itself is found out.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_LAUNCHED_H
#define BRAID_TEST_CONFORMANCE_LAUNCHED_H

#include "test/conformance/Check.h"
#include <memory>

namespace braid::test {

class Launched {
public:
  /// All ranks of the environment, with `engine` for the cases.
  explicit Launched(const std::string &engine);
  ~Launched();
  const std::string &failed() const { return problem; }
  int rank() const { return me; }
  int ranks() const { return count; }
  /// What all ranks say about the case; none: this one is not in it. Ends the process if they can't.
  std::vector<Verdict> run(const Case &one);

private:
  braid_comm *all = nullptr;
  std::vector<braid_comm *> few; ///< of the first 1, 2, ... ranks of the job
  int32_t me = 0, count = 1;
  std::string problem;
};

} // namespace braid::test

#endif
