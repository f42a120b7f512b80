//===- Skeleton.h - what a step of a job does, read back --------------------------------------------------------===//
#ifndef BRAID_SKELETON_SKELETON_H
#define BRAID_SKELETON_SKELETON_H

#include "braid/runtime/algorithms/StepProgram.h"
#include <cstdint>
#include <string>
#include <vector>

namespace braid::skeleton {

/// One launch: a bucket of tensors, by one algorithm.
struct SkeletonCollective {
  algorithms::Collective kind;
  int64_t bytes = 0; ///< operand of each rank, all tensors
  bool crossesHosts = false;
  std::vector<std::vector<int>> groups;   ///< ranks; empty for permute
  std::vector<std::pair<int, int>> pairs; ///< of permute
  const algorithms::Algorithm *algorithm = nullptr;
  int segments = 1, channels = 1;
};

struct SkeletonEvent {
  enum Kind { Compute, Start, Wait, Run } kind;
  double seconds = 0; ///< Compute
  int index = 0;      ///< Start, Wait: collective; Run: block
  int64_t trips = 1;  ///< Run
};

struct SkeletonSchedule {
  std::string policy;
  std::vector<SkeletonCollective> collectives;
  std::vector<std::vector<SkeletonEvent>> blocks; ///< callees first; the last one is the step
};

struct Skeleton {
  std::string program, cluster;
  int ranks = 0;
  std::vector<SkeletonSchedule> schedules;

  /// Returns an error, or an empty string and the skeleton.
  static std::string read(const std::string &path, Skeleton &skeleton);
};

} // namespace braid::skeleton

#endif
