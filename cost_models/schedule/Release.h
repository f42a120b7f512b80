//===- Release.h - when a collective that costs memory may start early ------------------------------------------===//
//
// Private part of the list scheduler: the just-in-time rule and the memory limit, see ListSchedule.cpp.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_RELEASE_H
#define BRAID_COST_MODELS_SCHEDULE_RELEASE_H

#include "schedule/Contraction.h"

namespace braid::cost {

class Release {
public:
  /// `base`: the program's order, on which the compute left before a reader, and the memory it needs, are counted.
  Release(const Program &program, int block, const Contraction &graph, Bytes limit,
          const std::vector<Seconds> &durations, const std::vector<int> &base);
  void setFabrics(const std::vector<int> &fabrics);

  /// `kernel`: what the compute stream does next; the bucket can start now or after it.
  bool allows(int bucket, Seconds kernel) const;
  /// Not before so much compute is done, including the next kernel; 0: at any time.
  double heldUntil(int bucket) const { return growth[bucket].value > 0 ? latest[bucket] : 0; }
  double done() const { return workDone; }
  void started(int bucket);
  void ran(int node);

private:
  const Contraction &graph;
  const std::vector<Seconds> &durations;
  Bytes limit;
  std::vector<double> workBefore;          // of each node: compute before it in the base order
  std::vector<double> needed;              // of each bucket: workBefore of its first reader
  std::vector<double> latest;              // of each bucket: the work done at which it must have begun
  std::vector<Bytes> growth;               // of each bucket: memory it needs beyond what it frees
  std::vector<int> place;                  // of each node in the base order, in events
  std::vector<int> lastUse;                // of each bucket: place of its first reader
  std::vector<std::vector<Bytes>> highest; // sparse table: maximum of the base order's memory over 2^k events
  double workDone = 0;
  Bytes ahead;                                // of collectives started before their place and not yet at it
  std::vector<std::pair<int, Bytes>> pending; // the same, by place
  int reached = 0;                            // the furthest place of the base order that has run
};

} // namespace braid::cost

#endif
