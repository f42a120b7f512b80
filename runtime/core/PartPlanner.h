//===- PartPlanner.h - gives one part of an operation its addresses -----------------------------------------------===//
//
// Each chunk of a part has two homes: the operand (where it lies at first) and the *target* (where steps write it): the
// caller's result, or scratch memory for chunks that are no part of this rank's result. A chunk is sent from, and combined
// with, wherever it is at that moment, so that nothing is copied for being in the wrong buffer. A copy of the operand (a
// *snapshot*, taken at every start) is needed where
//
//   - operand and result overlap, but not chunk by chunk;
//   - they are the same memory, and waiting for readers before writing would deadlock (ZeroCopy.h), or the operand is
//     wanted again after its place was written (Action::Combine);
//   - peers cannot reach the operand, and it goes to more than one of them (the transport would copy it for each).
//
// Where even results that are passed on would make ranks wait for each other (two that exchange what they have summed so
// far), such a message is copied when it is sent. A message of several runs of chunks is gathered in a buffer of its own.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_PARTPLANNER_H
#define BRAID_RUNTIME_CORE_PARTPLANNER_H

#include "core/Plan.h"
#include <map>

namespace braid::runtime {

/// What is the same for all parts of an operation.
struct Planning {
  const Request &request;
  Transport &transport;
  Plan &plan;
  const algorithms::StepProgram &program;
  bool zeroCopyInPlace = false; ///< messages may stay where they are, also if operand and result are the same memory
  bool copySends = false;       ///< they may not: what is written later is copied when it is sent
  std::vector<bool> completes;  ///< by step: it divides (Completion.h); empty: a pass of its own does
  bool stream = false;          ///< results are written past the cache
};

/// Elements [from, from + count) of each block of a tensor.
struct Part {
  Tensor tensor;
  size_t from = 0, count = 0;
};

class PartPlanner {
public:
  /// Channel c of the program is lane `lanes * c + lane` of the plan.
  PartPlanner(Planning &planning, const Part &part, int lanes, int lane);

  /// Decides where everything is; fills the plan's copies.
  Outcome place();
  /// Adds the message that ends with step `index` of the program, or its combination, to its lane.
  Outcome add(size_t index);

private:
  /// Where the first element of block 0 would be; only some blocks may exist.
  struct Base {
    char *at = nullptr;
    bool exists = false;
    size_t stride = 0; ///< bytes from block to block
  };

  PlannedLane &laneOf(const algorithms::Step &step) { return plan.lanes[size_t(step.channel * lanes + lane)]; }
  Outcome addSend(size_t first, size_t last, size_t whole);
  PlannedStep taking(size_t index);
  size_t blockBytes() const { return part.count * request.elementBytes; }
  size_t offset(int chunk) const;
  size_t bytesOf(const algorithms::Step &step) const;
  char *at(const Base &base, int chunk) const;
  char *placeOf(int chunk) const;
  bool inBuffer(int chunk) const { return chunk < program.chunks; } ///< neither scratch nor operand
  bool inGathered(size_t index) const;
  bool inBlocks(int chunk, BlockRange range) const;
  const Base &target(int chunk) const { return scattered[size_t(chunk)] ? scratch : result; }
  const Base &home(int chunk) const { return written[size_t(chunk)] ? target(chunk) : operand; }
  Outcome lost() const;
  bool usedAfter(size_t index, bool written) const;
  bool hasSource() const;
  Outcome take(size_t bytes, char *&memory);
  void chooseTargets();
  Outcome chooseOperand();
  void layRagged();
  void finish();
  void copy(std::vector<Copy> &list, const Base &to, const Base &from, int chunk) const;

  Planning &planning;
  const Request &request;
  Plan &plan;
  const algorithms::StepProgram &program;
  const Part part;
  const int lanes, lane;

  int chunksPerBlock = 1;
  size_t perChunk = 0;             ///< elements
  std::vector<size_t> inAt, outAt; ///< ragged: bytes before each chunk of operand and result, and all
  size_t duringAt, settleAt;       ///< where this part's copies start in the plan's lists
  Base operand, result, scratch;
  char *passingAt = nullptr;   ///< the program's own scratch
  std::vector<size_t> passing; ///< where its chunks are, and its end
  bool usesScratch = false, operandToScratch = false, inPlace = false;
  std::vector<bool> written;                    ///< by the steps added so far
  std::vector<bool> scattered;                  ///< the target is scratch
  std::vector<std::map<int, uint64_t>> pending; ///< outbox -> messages that read the chunk's target
};

} // namespace braid::runtime

#endif
