//===- Registry.cpp - the list of algorithms --------------------------------------------------------------------===//
#include "Algorithms.h"

namespace braid::algorithms {

const char *name(Collective collective) {
  switch (collective) {
  case Collective::AllReduce:
    return "all_reduce";
  case Collective::ReduceScatter:
    return "reduce_scatter";
  case Collective::AllGather:
    return "all_gather";
  case Collective::AllToAll:
    return "all_to_all";
  case Collective::Permute:
    return "permute";
  case Collective::Broadcast:
    return "broadcast";
  case Collective::Reduce:
    return "reduce";
  case Collective::Gather:
    return "gather";
  case Collective::Scatter:
    return "scatter";
  case Collective::Barrier:
    return "barrier";
  }
  return "unknown";
}

/// With room, so that pointers to algorithms stay.
static std::vector<Algorithm> &all() {
  static std::vector<Algorithm> *algorithms = [] {
    auto *list = new std::vector<Algorithm>{ring(),
                                            doubleBinaryTree(),
                                            pairwiseExchange(),
                                            direct(),
                                            naiveExchange(),
                                            twoShot(),
                                            binomialTree(),
                                            dissemination(),
                                            hierarchicalRing(),
                                            recursiveDoubling(),
                                            halvingDoubling(),
                                            binaryBlocks(),
                                            threeTwoElimination(),
                                            unevenHalving(),
                                            bruck(),
                                            pat(),
                                            scatterAllGather(),
                                            pipelinedChain(),
                                            masterWorker(),
                                            parameterServer(),
                                            hierarchical(),
                                            inNetwork(),
                                            packedTrees()};
    list->reserve(list->size() + 32);
    return list;
  }();
  return *algorithms;
}

const std::vector<Algorithm> &registry() { return all(); }

void add(const Algorithm &algorithm) {
  if (all().size() < all().capacity())
    all().push_back(algorithm);
}

void remove(const std::string &name) {
  if (all().back().name == name)
    all().pop_back();
}

bool granted(const Algorithm &algorithm, const StepOptions &options) {
  return algorithm.needs == Needs::Nothing || (algorithm.needs == Needs::Switches && !options.switches.empty()) ||
         (algorithm.needs == Needs::Topology && (options.packed || options.packing));
}

bool servesRagged(const Algorithm &algorithm, int ranks) {
  return algorithm.hops && algorithm.serves(Collective::AllToAll, ranks) &&
         (!algorithm.forwards || ranks <= mostForwarding);
}

const Algorithm *find(const std::string &name) {
  for (const Algorithm &algorithm : registry())
    if (algorithm.name == name)
      return &algorithm;
  return nullptr;
}

std::vector<StepProgram> programs(const Algorithm &algorithm, Collective collective, int ranks,
                                  const StepOptions &options) {
  std::vector<StepProgram> all;
  all.reserve(ranks);
  for (int rank = 0; rank < ranks + (all.empty() ? 0 : all[0].helpers); ++rank)
    all.push_back(algorithm.program(collective, ranks, rank, options));
  return all;
}

} // namespace braid::algorithms
