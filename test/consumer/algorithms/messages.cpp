// How many chunks a ring sends, of a step program that is proven right.
#include "braid/runtime/algorithms/StepProgram.h"
#include <cstdio>

using namespace braid::algorithms;

int main() {
  const Algorithm *ring = find("ring");
  StepOptions options;
  std::vector<StepProgram> all = programs(*ring, Collective::AllReduce, 4, options);
  std::string wrong = check(Collective::AllReduce, 4, all, options);
  std::printf("%s\n", wrong.empty() ? "proven" : wrong.c_str());
  std::printf("%lld chunks\n", static_cast<long long>(ring->wireChunks(Collective::AllReduce, 4, options)));
  return wrong.empty() ? 0 : 1;
}
