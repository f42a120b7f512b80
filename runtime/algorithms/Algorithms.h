//===- Algorithms.h - one function per algorithm file, for the registry -----------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_ALGORITHMS_H
#define BRAID_RUNTIME_ALGORITHMS_ALGORITHMS_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::algorithms {

Algorithm ring();                ///< Ring.cpp
Algorithm doubleBinaryTree();    ///< DoubleBinaryTree.cpp
Algorithm pairwiseExchange();    ///< PairwiseExchange.cpp
Algorithm direct();              ///< Permute.cpp
Algorithm naiveExchange();       ///< NaiveExchange.cpp
Algorithm twoShot();             ///< TwoShot.cpp
Algorithm binomialTree();        ///< BinomialTree.cpp
Algorithm dissemination();       ///< Dissemination.cpp
Algorithm hierarchicalRing();    ///< HierarchicalRing.cpp
Algorithm recursiveDoubling();   ///< RecursiveDoubling.cpp
Algorithm halvingDoubling();     ///< HalvingDoubling.cpp
Algorithm binaryBlocks();        ///< BinaryBlocks.cpp
Algorithm threeTwoElimination(); ///< ThreeTwoElimination.cpp
Algorithm unevenHalving();       ///< UnevenHalving.cpp
Algorithm bruck();               ///< Bruck.cpp
Algorithm pat();                 ///< Pat.cpp
Algorithm scatterAllGather();    ///< ScatterAllGather.cpp
Algorithm pipelinedChain();      ///< PipelinedChain.cpp
Algorithm masterWorker();        ///< MasterWorker.cpp
Algorithm parameterServer();     ///< ParameterServer.cpp
Algorithm hierarchical();        ///< Hierarchical.cpp
Algorithm packedTrees();         ///< PackedTrees.cpp
Algorithm inNetwork();           ///< InNetwork.cpp

} // namespace braid::algorithms

#endif
