//===- Defaults.cpp - the algorithm of an operation that comes without a plan -------------------------------------===//
//
// Tuned for ranks that share memory, where a message is read from where it lies: the fewest messages in a chain win while
// messages are small, and the fewest bytes read and written by one core where they are large. Plans override this.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Defaults.h"
#include <algorithm>

namespace braid::runtime {

using algorithms::Collective;

const algorithms::Algorithm *defaultAlgorithm(Collective collective, int ranks, size_t bytes) {
  constexpr size_t small = 16 << 10;
  auto first = [&](std::initializer_list<const char *> names) -> const algorithms::Algorithm * {
    for (const char *name : names) {
      const algorithms::Algorithm *algorithm = algorithms::find(name);
      if (algorithm && algorithm->serves(collective, ranks))
        return algorithm;
    }
    return nullptr;
  };
  switch (collective) {
  case Collective::AllReduce:
    return bytes <= small ? first({"naive_exchange", "double_binary_tree"}) : first({"two_shot", "ring"});
  case Collective::ReduceScatter:
  case Collective::AllGather:
    return first({"naive_exchange", "ring"});
  case Collective::AllToAll:
    return first({"naive_exchange", "pairwise_exchange"});
  case Collective::Permute:
    return first({"direct"});
  case Collective::Reduce: // the root alone would add everything
    return ranks <= 3 || bytes <= small ? first({"naive_exchange", "binomial_tree"}) : first({"binomial_tree"});
  case Collective::Broadcast:
  case Collective::Gather:
  case Collective::Scatter:
    return first({"naive_exchange", "binomial_tree"});
  case Collective::Barrier:
    return ranks <= 8 ? first({"naive_exchange"}) : first({"dissemination"});
  }
  return nullptr;
}

int defaultSegments(const algorithms::Algorithm &algorithm, Collective collective, size_t bytes) {
  bool pipelined = algorithm.name.find("tree") != std::string::npos ||
                   (algorithm.name == "ring" && collective == Collective::Broadcast);
  constexpr size_t segment = 128 << 10;
  return pipelined ? int(std::clamp<size_t>(bytes / segment, 1, 64)) : 1;
}

} // namespace braid::runtime
