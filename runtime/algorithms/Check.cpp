//===- Check.cpp - proves a step program by symbolic execution --------------------------------------------------===//
//
// Executes the programs of all ranks at once, with message queues, on symbolic values:
//
//   value     nothing | contribution (rank, chunk) | sum of two values
//
// A sum is one node per pair of summands, so two values are the same expression iff they are the same node. The
// summands are ordered: x + y and y + x are the same node (floating-point addition commutes), (x + y) + z and x + (y +
// z) are not (it does not associate). That is what "all ranks hold the same bytes" needs.
//
//   1. shape    peers, chunks and channels in range, programs agree with each other, no chunk used by two channels
//   2. run      each (rank, channel) until it waits for an empty queue; a queue is one (source, target, channel). The
//   order in
//               which they run does not matter, since queues are first in, first out and channels share no chunk.
//   3. judge    nothing waits any more, no queue holds a message, each final value is the one that the collective asks
//   for; for
//               sums: the same node on all ranks, and each contribution in it exactly once
//
// Cost: one map look-up for each reduced chunk, one queue operation for each message.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/StepProgram.h"
#include <algorithm>
#include <deque>
#include <unordered_map>

namespace braid::algorithms {
namespace {

using Value = int64_t; ///< index of a node; -1: nothing
constexpr Value nothing = -1;

/// All expressions. Nodes below `leaves` are contributions: rank * chunks + chunk.
class Expressions {
public:
  Expressions(int64_t ranks, int64_t chunks) : chunks(chunks), leaves(ranks * chunks) {}

  Value leaf(int64_t rank, int64_t chunk) const { return rank * chunks + chunk; }

  Value sum(Value x, Value y) {
    std::pair<Value, Value> key = std::minmax(x, y);
    auto [found, inserted] = known.try_emplace(key, leaves + Value(sums.size()));
    if (inserted)
      sums.push_back(key);
    return found->second;
  }

  /// Whether the value depends on every rank; each may have contributed any number of times (barrier).
  bool dependsOnAll(Value value, int64_t ranks) const {
    std::vector<char> seen(ranks), visited(sums.size());
    int64_t found = 0;
    std::vector<Value> open = {value};
    while (!open.empty()) {
      Value node = open.back();
      open.pop_back();
      if (node == nothing)
        continue;
      if (node < leaves) {
        found += !seen[node / chunks]++;
      } else if (!visited[node - leaves]++) {
        open.push_back(sums[node - leaves].first);
        open.push_back(sums[node - leaves].second);
      }
    }
    return found == ranks;
  }

  std::string text(Value value) const {
    std::string out;
    print(value, out);
    return out;
  }

  /// Empty if `value` adds `chunk` of each rank exactly once; else what is wrong.
  std::string isFullSum(Value value, int64_t ranks, int64_t chunk) const {
    std::vector<char> seen(ranks);
    int64_t found = 0;
    std::vector<Value> open = {value};
    while (!open.empty()) { // ends: each round takes a leaf not seen before, or opens one of at most ranks - 1 sums
      Value node = open.back();
      open.pop_back();
      if (node == nothing)
        return "it holds nothing";
      if (node >= leaves) {
        open.push_back(sums[node - leaves].first);
        open.push_back(sums[node - leaves].second);
        if (int64_t(open.size()) > 2 * ranks)
          return "contributions are combined more than once";
        continue;
      }
      if (node % chunks != chunk)
        return "it holds a contribution to chunk " + std::to_string(node % chunks);
      if (seen[node / chunks]++)
        return "rank " + std::to_string(node / chunks) + "'s contribution is combined twice";
      ++found;
    }
    if (found == ranks)
      return {};
    for (int64_t rank = 0; rank < ranks; ++rank)
      if (!seen[rank])
        return "rank " + std::to_string(rank) + "'s contribution is missing";
    return {};
  }

private:
  struct Hash {
    size_t operator()(const std::pair<Value, Value> &pair) const {
      uint64_t h = uint64_t(pair.first) * 0x9e3779b97f4a7c15ull ^ uint64_t(pair.second);
      h ^= h >> 32;
      return size_t(h * 0xd6e8feb86659fd93ull);
    }
  };

  void print(Value value, std::string &out) const {
    if (out.size() > 200) {
      if (out.compare(out.size() - 3, 3, "...") != 0)
        out += "...";
    } else if (value == nothing) {
      out += "nothing";
    } else if (value < leaves) {
      out += "r" + std::to_string(value / chunks) + ".c" + std::to_string(value % chunks);
    } else {
      out += "(";
      print(sums[value - leaves].first, out);
      out += " + ";
      print(sums[value - leaves].second, out);
      out += ")";
    }
  }

  int64_t chunks, leaves;
  std::vector<std::pair<Value, Value>> sums;
  std::unordered_map<std::pair<Value, Value>, Value, Hash> known;
};

struct Message {
  std::vector<Value> values;
  int step; ///< of the sender, for error texts
};

/// What one (rank, channel) has left to do.
struct Lane {
  int rank, channel;
  std::vector<int> steps;
  size_t next = 0;
};

class Checker {
public:
  Checker(Collective collective, int ranks, const std::vector<StepProgram> &programs, const StepOptions &options)
      : collective(collective), ranks(ranks), programs(programs), options(options) {}

  std::string run() {
    std::string problem = checkShape();
    if (!problem.empty())
      return problem;
    chunks = programs[0].chunks;
    channels = programs[0].channels;
    Expressions all(ranks, chunks);
    expressions = &all;
    start();
    problem = execute();
    if (problem.empty())
      problem = checkQueues();
    return problem.empty() ? judge() : problem;
  }

private:
  static std::string at(int rank, int step) {
    return "rank " + std::to_string(rank) + ", step " + std::to_string(step);
  }
  static std::string atChunk(int rank, int64_t chunk) {
    return "rank " + std::to_string(rank) + ", chunk " + std::to_string(chunk);
  }

  std::string checkShape() const {
    int helpers = programs.empty() ? 0 : programs[0].helpers;
    if (ranks < 1 || helpers < 0 || int(programs.size()) != ranks + helpers)
      return "expected " + std::to_string(ranks + helpers) + " programs, got " + std::to_string(programs.size());
    const StepProgram &first = programs[0];
    if (first.chunks < 1 || first.channels < 1)
      return "rank 0: expected at least one chunk and one channel";
    bool blocks = collective == Collective::ReduceScatter || collective == Collective::AllGather ||
                  collective == Collective::AllToAll || collective == Collective::Gather ||
                  collective == Collective::Scatter;
    if (blocks && first.chunks % ranks != 0)
      return "rank 0: expected a multiple of " + std::to_string(ranks) + " chunks, got " + std::to_string(first.chunks);
    for (int rank = 0; rank < int(programs.size()); ++rank) {
      std::string problem = checkProgram(rank);
      if (!problem.empty())
        return problem;
    }
    return {};
  }

  /// The shape of one rank's program.
  std::string checkProgram(int rank) const {
    const StepProgram &program = programs[rank], &first = programs[0];
    if (program.collective != collective || program.ranks != ranks || program.helpers != first.helpers ||
        program.chunks != first.chunks || program.channels != first.channels)
      return "rank " + std::to_string(rank) +
             ": the program is of another collective, size, or number of chunks or channels";
    if (program.ragged != options.ragged || (program.ragged && collective != Collective::AllToAll))
      return "rank " + std::to_string(rank) +
             ": expected a ragged program for a ragged all_to_all, and for nothing else";
    for (int like : program.scratch)
      if (like < 0 || like >= (program.ragged ? int64_t(ranks) * program.chunks : program.chunks))
        return "rank " + std::to_string(rank) + ": expected scratch as large as a chunk of the buffer, got chunk " +
               std::to_string(like);
    std::vector<int> owner(program.own(0), -1); // channel that uses the chunk
    for (size_t i = 0; i < program.steps.size(); ++i) {
      const Step &step = program.steps[i];
      if (step.action == Action::Combine && step.peer != rank)
        return at(rank, int(i)) + ": expected the rank itself as peer of a combination of its own operand, got " +
               std::to_string(step.peer);
      if (step.action != Action::Combine && (step.peer < 0 || step.peer >= int(programs.size()) || step.peer == rank))
        return at(rank, int(i)) + ": expected another rank below " + std::to_string(programs.size()) +
               " as peer, got " + std::to_string(step.peer);
      if (step.channel < 0 || step.channel >= program.channels)
        return at(rank, int(i)) + ": expected a channel below " + std::to_string(program.channels) + ", got " +
               std::to_string(step.channel);
      // Sends may read the operand, combinations are with it.
      int end = step.action == Action::Send      ? program.end()
                : step.action == Action::Combine ? program.chunks
                                                 : program.own(0);
      if (step.count < 1 || step.chunk < 0 || step.chunk > end - step.count)
        return at(rank, int(i)) + ": expected chunks below " + std::to_string(end) + ", got " +
               std::to_string(step.count) + " from " + std::to_string(step.chunk) + " on";
      int last = step.chunk + step.count - 1;
      if ((step.chunk < program.chunks) != (last < program.chunks) || program.isOwn(step.chunk) != program.isOwn(last))
        return at(rank, int(i)) + ": expected chunks of the buffer, of scratch or of the operand, got some of each";
      if (step.more) {
        const Step *next = i + 1 < program.steps.size() ? &program.steps[i + 1] : nullptr;
        if (step.action == Action::Combine || !next || next->peer != step.peer || next->channel != step.channel ||
            (next->action == Action::Send) != (step.action == Action::Send) || next->action == Action::Combine)
          return at(rank, int(i)) + ": expected the rest of the message in the next step";
      }
      for (int c = step.chunk; c < step.chunk + step.count && c < program.own(0); ++c) {
        if (owner[c] >= 0 && owner[c] != step.channel)
          return at(rank, int(i)) + ": chunk " + std::to_string(c) + " is used by channels " +
                 std::to_string(owner[c]) + " and " + std::to_string(step.channel) + ", which are not ordered";
        owner[c] = step.channel;
      }
    }
    return {};
  }

  /// What each rank holds before the first step.
  void start() {
    int64_t perBlock = std::max<int64_t>(1, chunks / ranks);
    buffers.resize(programs.size());
    operands.resize(programs.size());
    for (int rank = 0; rank < int(programs.size()); ++rank) {
      const StepProgram &program = programs[rank];
      std::vector<Value> &operand = operands[rank];
      operand.assign(program.end() - program.own(0), nothing);
      for (int64_t chunk = 0; chunk < int64_t(operand.size()); ++chunk) {
        bool fromRoot = collective == Collective::Broadcast || collective == Collective::Scatter;
        bool ownBlock = collective == Collective::AllGather || collective == Collective::Gather;
        bool has = rank < ranks && (ownBlock ? chunk / perBlock == rank : fromRoot ? rank == options.root : true);
        if (has)
          operand[chunk] = expressions->leaf(rank, chunk);
      }
      buffers[rank].assign(program.own(0), nothing);
      if (!program.ragged) // else the buffer is another place
        std::copy(operand.begin(), operand.end(), buffers[rank].begin());
    }
    lanes.clear();
    for (int rank = 0; rank < int(programs.size()); ++rank)
      for (int channel = 0; channel < channels; ++channel)
        lanes.push_back({rank, channel, {}, 0});
    for (int rank = 0; rank < int(programs.size()); ++rank)
      for (size_t i = 0; i < programs[rank].steps.size(); ++i)
        lanes[int64_t(rank) * channels + programs[rank].steps[i].channel].steps.push_back(int(i));
  }

  /// Of the messages from `source` to `target` on `channel`.
  int64_t queueKey(int source, int target, int channel) const {
    return (int64_t(source) * int64_t(programs.size()) + target) * channels + channel;
  }

  std::string execute() {
    std::vector<int64_t> ready(lanes.size());
    for (size_t i = 0; i < lanes.size(); ++i)
      ready[i] = int64_t(lanes.size() - 1 - i);
    while (!ready.empty()) {
      Lane &lane = lanes[ready.back()];
      ready.pop_back();
      while (lane.next < lane.steps.size()) {
        const Step &step = programs[lane.rank].steps[lane.steps[lane.next]];
        size_t length = messageLength(lane);
        if (step.action == Action::Send) {
          Message message{{}, lane.steps[lane.next]};
          for (size_t i = 0; i < length; ++i)
            read(lane.rank, programs[lane.rank].steps[lane.steps[lane.next + i]], message.values);
          queues[queueKey(lane.rank, step.peer, lane.channel)].push_back(std::move(message));
          ready.push_back(int64_t(step.peer) * channels + lane.channel); // it may be what the peer waits for
        } else if (step.action == Action::Combine) {
          std::string problem = combineOwn(lane, step);
          if (!problem.empty())
            return problem;
        } else {
          auto queue = queues.find(queueKey(step.peer, lane.rank, lane.channel));
          if (queue == queues.end() || queue->second.empty())
            break;
          Message message = std::move(queue->second.front());
          queue->second.pop_front();
          std::string problem = take(lane, length, message);
          if (!problem.empty())
            return problem;
        }
        lane.next += length;
      }
    }
    for (const Lane &lane : lanes)
      if (lane.next < lane.steps.size())
        return deadlock(lane);
    return {};
  }

  std::string combineOwn(const Lane &lane, const Step &step) {
    for (int chunk = step.chunk; chunk < step.chunk + step.count; ++chunk) {
      Value &mine = buffers[lane.rank][chunk], own = operands[lane.rank][chunk];
      if (mine == nothing || own == nothing)
        return at(lane.rank, lane.steps[lane.next]) + ": expected two operands to combine in chunk " +
               std::to_string(chunk) + ", got nothing " + (own == nothing ? "as its own operand" : "here");
      mine = expressions->sum(own, mine);
    }
    return {};
  }

  /// Steps of the message that the lane's next step begins.
  size_t messageLength(const Lane &lane) const {
    const std::vector<Step> &steps = programs[lane.rank].steps;
    size_t length = 1;
    while (steps[lane.steps[lane.next + length - 1]].more)
      ++length;
    return length;
  }

  /// Adds the values that a send reads.
  void read(int rank, const Step &step, std::vector<Value> &values) const {
    const StepProgram &program = programs[rank];
    for (int c = step.chunk; c < step.chunk + step.count; ++c)
      values.push_back(program.isOwn(c) ? operands[rank][c - program.own(0)] : buffers[rank][c]);
  }

  std::string take(const Lane &lane, size_t length, const Message &message) {
    const std::vector<Step> &steps = programs[lane.rank].steps;
    size_t expected = 0, next = 0;
    for (size_t i = 0; i < length; ++i)
      expected += size_t(steps[lane.steps[lane.next + i]].count);
    int peer = steps[lane.steps[lane.next]].peer;
    if (message.values.size() != expected)
      return at(lane.rank, lane.steps[lane.next]) + ": expected " + std::to_string(expected) + " chunks from rank " +
             std::to_string(peer) + ", got " + std::to_string(message.values.size()) + " of its step " +
             std::to_string(message.step);
    for (size_t i = 0; i < length; ++i) {
      const Step &step = steps[lane.steps[lane.next + i]];
      for (int c = step.chunk; c < step.chunk + step.count; ++c, ++next) {
        Value &mine = buffers[lane.rank][c], theirs = message.values[next];
        if (theirs == nothing)
          return at(lane.rank, lane.steps[lane.next + i]) + ": expected a value for chunk " + std::to_string(c) +
                 ", got nothing from rank " + std::to_string(peer);
        const StepProgram &program = programs[lane.rank];
        if (program.ragged && theirs != program.shareOf(c, lane.rank)) // a leaf's number is its share's
          return at(lane.rank, lane.steps[lane.next + i]) + ": chunk " + std::to_string(c) + " has room for " +
                 expressions->text(program.shareOf(c, lane.rank)) + ", got " + expressions->text(theirs) +
                 " from rank " + std::to_string(peer) + ", which may be larger";
        if (step.action == Action::ReceiveReduce && mine == nothing)
          return at(lane.rank, lane.steps[lane.next + i]) + ": expected two operands to combine in chunk " +
                 std::to_string(c) + ", got nothing here";
        mine = step.action == Action::ReceiveReduce ? expressions->sum(theirs, mine) : theirs;
      }
    }
    return {};
  }

  /// Follows who waits for whom, from a lane that is stuck.
  std::string deadlock(const Lane &stuck) const {
    std::string text = "deadlock: ";
    std::vector<char> seen(programs.size());
    const Lane *lane = &stuck;
    for (int hops = 0;; ++hops) {
      const Step &step = programs[lane->rank].steps[lane->steps[lane->next]];
      if (hops)
        text += ", which ";
      else
        text += "rank " + std::to_string(lane->rank) + " ";
      text += "waits in step " + std::to_string(lane->steps[lane->next]) + " for rank " + std::to_string(step.peer);
      seen[lane->rank] = 1;
      lane = &lanes[int64_t(step.peer) * channels + step.channel];
      if (lane->next >= lane->steps.size())
        return text + ", which has no step left";
      if (seen[lane->rank])
        return text;
      if (hops == 8)
        return text + ", ...";
    }
  }

  std::string checkQueues() const {
    int64_t least = -1; // the map has no order; the message should
    for (const auto &[key, queue] : queues)
      if (!queue.empty() && (least < 0 || key < least))
        least = key;
    if (least < 0)
      return {};
    int64_t all = int64_t(programs.size()), source = least / channels / all, target = least / channels % all;
    return at(int(source), queues.at(least).front().step) + ": the message to rank " + std::to_string(target) +
           " is never received";
  }

  std::string judge() const {
    switch (collective) {
    case Collective::AllReduce:
    case Collective::ReduceScatter:
    case Collective::Reduce:
      return judgeSums();
    case Collective::Barrier:
      for (int rank = 0; rank < ranks; ++rank)
        if (!expressions->dependsOnAll(buffers[rank][0], ranks))
          return "rank " + std::to_string(rank) + ": expected to end after every rank has begun, got " +
                 expressions->text(buffers[rank][0]);
      return {};
    default:
      return judgeMoves();
    }
  }

  std::string judgeSums() const {
    int64_t perBlock = chunks / ranks;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      bool scattered = collective == Collective::ReduceScatter;
      bool everywhere = collective == Collective::AllReduce;
      int first = scattered ? int(chunk / perBlock) : everywhere ? 0 : options.root;
      Value value = buffers[first][chunk];
      std::string problem = expressions->isFullSum(value, ranks, chunk);
      if (!problem.empty())
        return atChunk(first, chunk) + ": expected the sum of all ranks, got " + expressions->text(value) + ": " +
               problem;
      for (int rank = 1; rank < ranks && everywhere; ++rank) {
        Value other = buffers[rank][chunk];
        if (other == value)
          continue;
        problem = expressions->isFullSum(other, ranks, chunk);
        return atChunk(rank, chunk) + ": expected " + expressions->text(value) + " as on rank 0, got " +
               expressions->text(other) + ": " +
               (problem.empty() ? "the additions are associated differently" : problem);
      }
    }
    return {};
  }

  std::string judgeMoves() const {
    int64_t perBlock = chunks / ranks;
    std::vector<int> source(ranks, -1); // permute
    if (options.pairs.empty())
      for (int rank = 0; rank < ranks; ++rank)
        source[(rank + 1) % ranks] = rank;
    for (auto [from, to] : options.pairs)
      if (from >= 0 && from < ranks && to >= 0 && to < ranks)
        source[to] = from;
    for (int rank = 0; rank < ranks; ++rank)
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        Value expected = nothing;
        if (collective == Collective::Gather && rank != options.root)
          continue; // scratch
        if (collective == Collective::Scatter && chunk / perBlock != rank)
          continue;
        switch (collective) {
        case Collective::Gather:
        case Collective::AllGather:
          expected = expressions->leaf(chunk / perBlock, chunk);
          break;
        case Collective::AllToAll:
          if (programs[rank].ragged && chunk / perBlock == rank)
            break; // what a rank keeps is in no step
          expected = expressions->leaf(chunk / perBlock, rank * perBlock + chunk % perBlock);
          break;
        case Collective::Broadcast:
        case Collective::Scatter:
          expected = expressions->leaf(options.root, chunk);
          break;
        default: // a rank without a source must be left alone
          expected = expressions->leaf(source[rank] < 0 ? rank : source[rank], chunk);
        }
        if (buffers[rank][chunk] != expected)
          return atChunk(rank, chunk) + ": expected " + expressions->text(expected) + ", got " +
                 expressions->text(buffers[rank][chunk]);
      }
    return {};
  }

  Collective collective;
  int ranks;
  const std::vector<StepProgram> &programs;
  const StepOptions &options;
  int64_t chunks = 0, channels = 0;
  Expressions *expressions = nullptr;
  std::vector<std::vector<Value>> buffers, operands; ///< buffer and scratch now, and operands
  std::vector<Lane> lanes;
  std::unordered_map<int64_t, std::deque<Message>> queues;
};

} // namespace

std::string check(Collective collective, int ranks, const std::vector<StepProgram> &programs,
                  const StepOptions &options) {
  bool rooted = collective == Collective::Broadcast || collective == Collective::Reduce ||
                collective == Collective::Gather || collective == Collective::Scatter;
  if (rooted && (options.root < 0 || options.root >= ranks))
    return "expected a root below " + std::to_string(ranks) + ", got " + std::to_string(options.root);
  return Checker(collective, ranks, programs, options).run();
}

std::string check(Collective collective, int ranks, const std::vector<StepProgram> &programs, int root) {
  StepOptions options;
  options.root = root;
  return check(collective, ranks, programs, options);
}

} // namespace braid::algorithms
