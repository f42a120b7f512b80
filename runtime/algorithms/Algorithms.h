//===- Algorithms.h - one function per algorithm file, for the registry -----------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_ALGORITHMS_H
#define BRAID_RUNTIME_ALGORITHMS_ALGORITHMS_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::algorithms {

Algorithm ring();             ///< Ring.cpp
Algorithm doubleBinaryTree(); ///< DoubleBinaryTree.cpp
Algorithm pairwiseExchange(); ///< PairwiseExchange.cpp
Algorithm direct();           ///< Permute.cpp
Algorithm naiveExchange();    ///< NaiveExchange.cpp
Algorithm twoShot();          ///< TwoShot.cpp
Algorithm binomialTree();     ///< BinomialTree.cpp
Algorithm dissemination();    ///< Dissemination.cpp
Algorithm hierarchicalRing(); ///< HierarchicalRing.cpp

} // namespace braid::algorithms

#endif
