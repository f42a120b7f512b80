//===- Counts.cpp - the sizes of a ragged all_to_all's blocks ------------------------------------------------------===//
#include "core/Counts.h"
#include <algorithm>
#include <numeric>

namespace braid::runtime {

static Outcome invalid(const std::string &text) { return {BRAID_INVALID, text}; }

Outcome readCounts(const braid_op_options &options, Request &request) {
  if (!options.send_counts && !options.receive_counts && !options.pair_counts)
    return {};
  size_t n = size_t(request.ranks), me = size_t(request.me);
  if (options.collective != BRAID_ALL_TO_ALL || options.tensors != 1 || options.helpers)
    return invalid("expected counts of blocks for an all_to_all of one tensor without helpers only, got some");
  if (!options.pair_counts && (!options.send_counts || !options.receive_counts))
    return invalid(std::string("expected send_counts and receive_counts, or pair_counts, got ") +
                   (options.send_counts ? "send_counts" : "receive_counts") + " alone");
  std::vector<size_t> &pairs = request.pairs;
  if (options.pair_counts)
    pairs.assign(options.pair_counts, options.pair_counts + n * n);
  for (size_t rank = 0; rank < n; ++rank) {
    request.gives.push_back(options.send_counts ? options.send_counts[rank] : pairs[me * n + rank]);
    request.takes.push_back(options.receive_counts ? options.receive_counts[rank] : pairs[rank * n + me]);
    if (!pairs.empty() && (request.gives[rank] != pairs[me * n + rank] || request.takes[rank] != pairs[rank * n + me]))
      return invalid("expected the send_counts and receive_counts that pair_counts says, got others for rank " +
                     std::to_string(rank));
  }
  for (const std::vector<size_t> *counts : {&request.gives, &request.takes, &pairs})
    for (size_t count : *counts)
      if (count > (size_t(1) << 48) / n / request.elementBytes)
        return invalid("expected fewer elements in a block, got " + std::to_string(count));
  if (request.gives[me] != request.takes[me])
    return invalid("expected as many elements from a rank as for it, got " + std::to_string(request.gives[me]) +
                   " that it sends to itself and " + std::to_string(request.takes[me]) + " that it receives");
  request.options.ragged = true;
  return {};
}

Outcome readRagged(const braid_buffer &buffer, Request &request) {
  auto sum = [](const std::vector<size_t> &counts) { return std::accumulate(counts.begin(), counts.end(), size_t(0)); };
  size_t out = sum(request.gives), in = sum(request.takes);
  if (buffer.send_count != out || buffer.receive_count != in)
    return invalid("expected the sums of the counts, " + std::to_string(out) + " elements to send and " +
                   std::to_string(in) + " to receive, got " + std::to_string(buffer.send_count) + " and " +
                   std::to_string(buffer.receive_count));
  if ((out && !buffer.send) || (in && !buffer.receive))
    return invalid(std::string("expected a buffer to ") + (out && !buffer.send ? "send" : "receive") + ", got none");
  size_t largest = 0;
  for (const std::vector<size_t> *counts : {&request.gives, &request.takes})
    largest = std::max(largest, *std::max_element(counts->begin(), counts->end()));
  request.tensors.push_back({static_cast<const char *>(buffer.send), static_cast<char *>(buffer.receive), largest});
  return {};
}

size_t shareBytes(const Request &request, const algorithms::StepProgram &program, int64_t share) {
  int64_t pair = share / program.channels, channel = share % program.channels;
  size_t count = request.countOf(int(pair / request.ranks), int(pair % request.ranks));
  size_t each = (count + size_t(program.channels) - 1) / size_t(program.channels);
  return (std::min(count, each * size_t(channel + 1)) - std::min(count, each * size_t(channel))) * request.elementBytes;
}

} // namespace braid::runtime
