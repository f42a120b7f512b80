//===- Request.h - a planned operation as asked for, checked ------------------------------------------------------===//
//
// One view of all collectives. A tensor is an abstract buffer of `blocks` blocks of `count` elements each, as step programs
// see it (StepProgram.h). A rank's operand is the blocks `in`, its result the blocks `out`:
//
//   all_reduce, permute       1 block    in 0         out 0            reduce_scatter   n blocks   in all     out own
//   broadcast                 1 block    root: 0      out 0            all_gather       n blocks   in own     out all
//   reduce                    1 block    in 0         root: 0          all_to_all       n blocks   in all     out all
//   barrier                   1 block    none         none             gather           n blocks   in own     root: all
//   send, recv                1 block    send: 0      recv: 0          scatter          n blocks   root: all  out own
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_REQUEST_H
#define BRAID_RUNTIME_CORE_REQUEST_H

#include "braid/runtime/algorithms/StepProgram.h"
#include "core/Outcome.h"
#include <numeric>

namespace braid::runtime {

struct BlockRange {
  int first = 0, count = 0;
};

struct Tensor {
  const char *send = nullptr; ///< the operand, if this rank has one
  char *receive = nullptr;    ///< the result, if this rank gets one
  size_t count = 0;           ///< elements of one block
};

struct Request {
  braid_collective collective = BRAID_BARRIER;
  braid_type type = BRAID_BOOL;
  braid_type accumulation = BRAID_BOOL; ///< the type that reductions combine in
  braid_reduction reduction = BRAID_SUM;
  size_t elementBytes = 1;
  braid_memory memory = BRAID_MEMORY_HOST; ///< where this rank's buffers are
  int me = 0, ranks = 1, peer = 0, tag = 0;
  int blocks = 1;
  BlockRange in, out;
  std::vector<Tensor> tensors;
  /// Of a ragged all_to_all: elements to each rank, from each, and from each to each if that is known (row by row). A tensor's
  /// count is then that of the largest of its blocks.
  std::vector<size_t> gives, takes, pairs;
  algorithms::StepOptions options;                  ///< root, pairs, channels, segments
  const algorithms::Algorithm *algorithm = nullptr; ///< null: send and recv
  std::string arguments;                            ///< that the algorithm was asked for with: "(order=hosts)"
  std::string engine = "braid";                     ///< who runs it
  std::string spelled;                              ///< another engine's: the algorithm that was asked for
  std::string name;

  /// Another engine's: it has no algorithm of ours, and no steps.
  bool byEngine() const { return engine != "braid"; }
  bool ragged() const { return options.ragged; }
  /// Elements of the block from one rank to another, of which this is one, unless all pairs are known.
  size_t countOf(int source, int target) const {
    return source == me   ? gives[size_t(target)]
           : target == me ? takes[size_t(source)]
                          : pairs[size_t(source) * size_t(ranks) + size_t(target)];
  }
  bool helps() const { return me >= ranks; } ///< this rank serves the others, and has neither operand nor result
  bool pointToPoint() const { return collective == BRAID_SEND || collective == BRAID_RECV; }
  bool reduces() const {
    return collective == BRAID_ALL_REDUCE || collective == BRAID_REDUCE_SCATTER || collective == BRAID_REDUCE;
  }
  /// What is put on its messages: the type of their elements. 0 would be none.
  uint16_t note() const { return uint16_t(accumulation + 1); }
  size_t bytes() const;                            ///< of the abstract buffers of all tensors
  /// Of this rank.
  size_t operandBytes(const Tensor &tensor) const { return tensor.send ? bytesOf(tensor, in, gives) : 0; }
  size_t resultBytes(const Tensor &tensor) const { return tensor.receive ? bytesOf(tensor, out, takes) : 0; }
  /// "all_reduce 'gradients'", for errors.
  std::string title() const;
  /// What all ranks must agree about, in words, and as a hash.
  std::string signature() const;
  uint64_t hash() const;

private:
  size_t bytesOf(const Tensor &tensor, BlockRange range, const std::vector<size_t> &blocks) const {
    return (ragged() ? std::accumulate(blocks.begin(), blocks.end(), size_t(0)) : tensor.count * size_t(range.count)) *
           elementBytes;
  }
};

/// The step program's name for it; send and recv: permute.
algorithms::Collective kindOf(braid_collective collective);
const char *name(braid_collective collective);

/// Checks the options and fills in the defaults (algorithm, channels, segments). `engine`: of requests that name none.
Outcome readRequest(const braid_op_options &options, int me, int ranks, Request &request,
                    const std::string &engine = "braid");

/// The request with other buffers of the same sizes.
Outcome readBuffers(const braid_buffer *buffers, size_t count, Request &request);

/// Tags of send and recv are below this.
constexpr int mostTags = 1024;

} // namespace braid::runtime

#endif
