//===- Builder.h - a step program as it grows -------------------------------------------------------------------===//
//
// Algorithms think in blocks; each of k channels carries its own share of every block. What one channel's share of several
// blocks looks like depends on the collective:
//
//   by block    block b is chunks b k .. b k + k - 1, as the n blocks of reduce_scatter, all_gather, ... have to lie
//   by channel  channel j has blocks j B .. j B + B - 1 of a buffer that may be cut anywhere, so that neighbouring blocks
//               are neighbouring chunks
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_BUILDER_H
#define BRAID_RUNTIME_ALGORITHMS_BUILDER_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::algorithms {

inline int floorLog2(int64_t n) {
  int log = 0;
  while (n >>= 1)
    ++log;
  return log;
}
inline int ceilLog2(int64_t n) { return n <= 1 ? 0 : floorLog2(n - 1) + 1; }

/// Whether the buffer of a collective is n blocks, one for each rank.
inline bool inBlocks(Collective collective) {
  return collective == Collective::ReduceScatter || collective == Collective::AllGather ||
         collective == Collective::AllToAll || collective == Collective::Gather || collective == Collective::Scatter;
}

/// Neighbouring blocks of one place.
struct Range {
  enum Place { Buffer, Scratch, Own } place = Buffer;
  int first = 0, count = 1;
};
inline Range blocksOf(int first, int count = 1) { return {Range::Buffer, first, count}; }

class Builder {
public:
  StepProgram program;

  Builder(Collective collective, int ranks, int blocks, int channels) : blocks(blocks), channels(channels) {
    program.collective = collective;
    program.ranks = ranks;
    program.chunks = blocks * channels;
    program.channels = channels;
    byChannel = !inBlocks(collective);
  }

  /// Room for `count` blocks as large as those of the buffer; before the first step.
  void scratch(int count) {
    scratchBlocks = count;
    for (int block = 0; block < count; ++block)
      for (int channel = 0; channel < channels; ++channel)
        program.scratch.push_back(byChannel ? 0 : channel);
  }

  /// Room for the blocks of these (source, target) of an all_to_all, in this order; before the first step.
  void scratch(const std::vector<std::pair<int, int>> &pairs) {
    scratchBlocks = int(pairs.size());
    for (auto [source, target] : pairs)
      for (int channel = 0; channel < channels; ++channel)
        program.scratch.push_back(program.ragged ? (source * program.ranks + target) * channels + channel : channel);
  }

  /// One message on each channel, of one or more ranges; ranges that touch become one.
  void message(Action action, int peer, std::vector<Range> ranges) {
    std::vector<Range> joined;
    for (const Range &range : ranges) {
      if (range.count <= 0)
        continue;
      if (!joined.empty() && joined.back().place == range.place &&
          joined.back().first + joined.back().count == range.first)
        joined.back().count += range.count;
      else
        joined.push_back(range);
    }
    for (int channel = 0; channel < channels; ++channel) {
      size_t begin = program.steps.size();
      for (const Range &range : joined)
        add(action, peer, range, channel);
      if (program.steps.size() > begin)
        program.steps.back().more = false;
    }
  }
  void message(Action action, int peer, Range range) { message(action, peer, std::vector<Range>{range}); }

private:
  void add(Action action, int peer, const Range &range, int channel) {
    int base = range.place == Range::Buffer ? 0 : range.place == Range::Scratch ? program.chunks : program.own(0);
    int inPlace = range.place == Range::Scratch ? scratchBlocks : blocks;
    if (byChannel || channels == 1) {
      program.steps.push_back({action, peer, base + channel * inPlace + range.first, range.count, channel, true});
      return;
    }
    for (int block = range.first; block < range.first + range.count; ++block)
      program.steps.push_back({action, peer, base + block * channels + channel, 1, channel, true});
  }

  int blocks, channels, scratchBlocks = 0;
  bool byChannel;
};

} // namespace braid::algorithms

#endif
