//===- Plan.cpp - gives a step program its addresses --------------------------------------------------------------===//
//
// A *part* is one tensor, or all small tensors of a bucket packed into staging buffers. All parts run the same step
// program on the same lanes, step by step in turn, so that the messages of all parts are in one order on both sides.
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
#include "core/Plan.h"
#include "core/ZeroCopy.h"
#include <algorithm>
#include <map>

namespace braid::runtime {

namespace {

using algorithms::Action;
using algorithms::Collective;
using algorithms::Step;
using algorithms::StepProgram;

/// Where chunk 0 of the abstract buffer would be; only some of it may exist.
struct Base {
  char *at = nullptr;
  bool exists = false;
};

class PartPlanner {
public:
  PartPlanner(const Request &request, Transport &transport, Plan &plan, const StepProgram &program,
              bool zeroCopyInPlace, bool copySends)
      : request(request), transport(transport), plan(plan), program(program), zeroCopyInPlace(zeroCopyInPlace),
        copySends(copySends) {}

  /// Decides where everything is; fills the plan's copies.
  Outcome place(const Tensor &given) {
    tensor = given;
    chunksPerBlock = std::max(1, program.chunks / request.blocks);
    size_t es = request.elementBytes;
    perChunk = (tensor.count + size_t(chunksPerBlock) - 1) / size_t(chunksPerBlock);
    if (perChunk * es >= 512 && !program.ragged()) // whole cache lines, so that no two ranks write one
      perChunk = (perChunk + 64 / es - 1) / (64 / es) * (64 / es);
    written.assign(size_t(program.own(0)), true); // scratch: is where it is
    std::fill(written.begin(), written.begin() + program.chunks, false);
    scattered.assign(size_t(program.chunks), false);
    pending.assign(size_t(program.own(0)), {});
    if (tensor.send)
      operand = {const_cast<char *>(tensor.send) - blockBytes() * size_t(request.in.first), true};
    if (tensor.receive)
      result = {tensor.receive - blockBytes() * size_t(request.out.first), true};
    chooseTargets();
    Outcome done = chooseOperand();
    if (done && usesScratch)
      done = take(blockBytes() * size_t(request.blocks), scratch.at);
    scratch.exists = usesScratch;
    size_t room = 0;
    for (int like : program.scratch) {
      passing.push_back(room);
      room += offset(like + 1) - offset(like);
    }
    passing.push_back(room);
    if (done && room)
      done = take(room, passingAt);
    if (done)
      finish();
    return done ? lost() : done;
  }

  /// Adds the message that ends with step `index` of the program, or its combination, to its lane.
  Outcome add(size_t index) {
    if (program.steps[index].more)
      return {}; // with its last step
    size_t first = index, whole = 0;
    while (first > 0 && program.steps[first - 1].more)
      --first;
    for (size_t i = first; i <= index; ++i)
      whole += bytesOf(program.steps[i]);
    if (whole == 0 && request.collective != BRAID_BARRIER)
      return {}; // padding: no message, on either side
    if (program.steps[index].action == Action::Send)
      return addSend(first, index, whole);
    size_t at = 0;
    PlannedLane &lane = plan.lanes[size_t(program.steps[index].channel)];
    for (size_t i = first; i <= index; ++i)
      if (size_t bytes = bytesOf(program.steps[i]); bytes || first == index) {
        lane.steps.push_back(taking(i));
        lane.steps.back().more = true;
        lane.steps.back().at = at;
        lane.steps.back().whole = whole;
        at += bytes;
      }
    lane.steps.back().more = false;
    return {};
  }

private:
  Outcome addSend(size_t first, size_t last, size_t whole) {
    const Step &step = program.steps[last];
    PlannedLane &lane = plan.lanes[size_t(step.channel)];
    PlannedStep planned;
    planned.kind = PlannedStep::Send;
    planned.bytes = whole;
    planned.count = whole / request.elementBytes;
    planned.number = int(last);
    planned.peer = step.peer;
    planned.outbox = outboxOf(lane, step.peer);
    const char *now = placeOf(step.chunk);
    std::vector<OutMessage> &messages = lane.outboxes[size_t(planned.outbox)].messages;
    if (first < last) {
      char *gathered = nullptr;
      Outcome done = take(whole, gathered);
      if (!done)
        return done;
      size_t at = 0;
      for (size_t i = first; i <= last; ++i)
        if (size_t bytes = bytesOf(program.steps[i])) {
          PlannedStep copy;
          copy.kind = PlannedStep::Copy;
          copy.to = gathered + at;
          copy.mine = placeOf(program.steps[i].chunk);
          copy.bytes = bytes;
          copy.number = int(i);
          lane.steps.push_back(copy);
          at += bytes;
        }
      messages.push_back({gathered, whole});
      lane.steps.push_back(planned);
      return {};
    }
    if (copySends && whole && rewritten(last)) {
      Outcome done = take(whole, planned.to);
      if (!done)
        return done;
      planned.mine = now;
      now = planned.to;
    }
    messages.push_back({now, whole});
    for (int c = step.chunk; c < step.chunk + step.count && !program.isOwn(c); ++c)
      if ((written[size_t(c)] || inPlace) && !planned.to && whole)
        pending[size_t(c)][planned.outbox] = messages.size();
    lane.steps.push_back(planned);
    return {};
  }

  /// What step `index` writes: a message or a piece of one, or a combination with the rank's own.
  PlannedStep taking(size_t index) {
    const Step &step = program.steps[index];
    PlannedStep planned;
    planned.bytes = bytesOf(step);
    planned.count = planned.bytes / request.elementBytes;
    planned.number = int(index);
    planned.peer = step.peer;
    planned.kind = step.action == Action::Receive         ? PlannedStep::Receive
                   : step.action == Action::ReceiveReduce ? PlannedStep::Reduce
                                                          : PlannedStep::Combine;
    planned.mine = placeOf(step.chunk);
    if (step.action == Action::Combine)
      planned.other = at(operand, offset(step.chunk));
    planned.firstHazard = int(plan.hazards.size());
    std::map<int, uint64_t> waits;
    for (int c = step.chunk; c < step.chunk + step.count; ++c) {
      for (auto [outbox, messages] : pending[size_t(c)])
        waits[outbox] = std::max(waits[outbox], messages);
      pending[size_t(c)].clear();
      written[size_t(c)] = true;
    }
    planned.to = placeOf(step.chunk); // now that it is written
    for (auto [outbox, messages] : waits)
      plan.hazards.push_back({outbox, messages});
    planned.hazards = int(plan.hazards.size()) - planned.firstHazard;
    return planned;
  }

  /// Where a chunk is at this moment, as far as steps have been added.
  char *placeOf(int chunk) const {
    if (program.isOwn(chunk))
      return at(operand, offset(chunk - program.own(0)));
    if (chunk >= program.chunks)
      return passingAt ? passingAt + passing[size_t(chunk - program.chunks)] : nullptr;
    return at(home(chunk), offset(chunk));
  }

  size_t bytesOf(const Step &step) const {
    if (step.chunk >= program.chunks && !program.isOwn(step.chunk))
      return passing[size_t(step.chunk + step.count - program.chunks)] - passing[size_t(step.chunk - program.chunks)];
    int chunk = program.isOwn(step.chunk) ? step.chunk - program.own(0) : step.chunk;
    return offset(chunk + step.count) - offset(chunk);
  }
  /// Whether the chunk is one of the buffer, neither scratch nor operand.
  bool inBuffer(int chunk) const { return chunk < program.chunks; }
  bool inGathered(size_t index) const {
    return program.steps[index].more || (index > 0 && program.steps[index - 1].more);
  }

  size_t blockBytes() const { return tensor.count * request.elementBytes; }

  /// Bytes before `chunk`.
  size_t offset(int chunk) const {
    if (program.ragged())
      return size_t(chunk) * request.elementBytes;
    size_t block = size_t(chunk / chunksPerBlock), within = size_t(chunk % chunksPerBlock);
    return block * blockBytes() + std::min(within * perChunk, tensor.count) * request.elementBytes;
  }

  bool inBlocks(int chunk, BlockRange range) const {
    int block = chunk / chunksPerBlock;
    return block >= range.first && block < range.first + range.count;
  }

  static char *at(const Base &base, size_t bytes) { return base.exists ? base.at + bytes : nullptr; }
  /// A program that uses a chunk which holds nothing is wrong; the registry's are proven, others may come.
  Outcome lost() const {
    std::vector<bool> holds(size_t(program.own(0)), false);
    if (request.collective == BRAID_BARRIER || program.ragged())
      return {};
    for (int c = 0; c < program.chunks; ++c)
      holds[size_t(c)] = inBlocks(c, request.in);
    auto wrong = [&](int chunk) {
      return Outcome(BRAID_INVALID, "the step program of '" + request.algorithm->name + "' expects a value in chunk " +
                                        std::to_string(chunk) + ", which has none");
    };
    for (const Step &step : program.steps)
      for (int c = step.chunk; c < step.chunk + step.count; ++c) {
        if (program.isOwn(c) ? !inBlocks(c - program.own(0), request.in)
                             : step.action != Action::Receive && !holds[size_t(c)])
          return wrong(c);
        if (!program.isOwn(c))
          holds[size_t(c)] = true;
      }
    for (int c = 0; c < program.chunks; ++c)
      if (inBlocks(c, request.out) && !holds[size_t(c)])
        return wrong(c);
    return {};
  }

  const Base &target(int chunk) const { return scattered[size_t(chunk)] ? scratch : result; }
  const Base &home(int chunk) const { return written[size_t(chunk)] ? target(chunk) : operand; }

  /// Whether a later step writes where this one sends from.
  bool rewritten(size_t index) const {
    const Step &send = program.steps[index];
    if (program.isOwn(send.chunk))
      return false; // in place, the operand is a snapshot
    if (!written[size_t(send.chunk)] && !inPlace)
      return false;
    for (size_t i = index + 1; i < program.steps.size(); ++i) {
      const Step &step = program.steps[i];
      if (step.action != Action::Send && step.chunk < send.chunk + send.count && send.chunk < step.chunk + step.count)
        return true;
    }
    return false;
  }

  static int outboxOf(PlannedLane &lane, int peer) {
    for (size_t i = 0; i < lane.outboxes.size(); ++i)
      if (lane.outboxes[i].peer == peer)
        return int(i);
    lane.outboxes.push_back({peer, {}});
    return int(lane.outboxes.size()) - 1;
  }

  Outcome take(size_t bytes, char *&memory) {
    memory = static_cast<char *>(transport.allocate(std::max<size_t>(bytes, 1)));
    if (!memory)
      return {BRAID_OUT_OF_MEMORY, "no memory for a buffer of " + std::to_string(bytes) + " bytes"};
    plan.memory.push_back(memory);
    return {};
  }

  /// Chunks that steps write, and that are not in the result, go to scratch. A step's chunks must be together: if one
  /// touches both, or sends operand and written chunks together, all go to scratch, and operands are put there first.
  void chooseTargets() {
    std::vector<bool> writes(size_t(program.chunks), false);
    bool together = true;
    for (const Step &step : program.steps) {
      if (!inBuffer(step.chunk))
        continue;
      bool first = step.action == Action::Send ? writes[size_t(step.chunk)] : inBlocks(step.chunk, request.out);
      for (int c = step.chunk; c < step.chunk + step.count; ++c) {
        if (step.action != Action::Receive && writes[size_t(c)] != writes[size_t(step.chunk)])
          together = false;
        if (step.action == Action::Send
                ? writes[size_t(c)] != first || (first && inBlocks(c, request.out) != inBlocks(step.chunk, request.out))
                : inBlocks(c, request.out) != first)
          together = false;
        if (step.action != Action::Send)
          writes[size_t(c)] = true;
      }
    }
    for (int c = 0; c < program.chunks; ++c) {
      scattered[size_t(c)] = !together || !inBlocks(c, request.out);
      usesScratch |= scattered[size_t(c)] && (writes[size_t(c)] || !together);
    }
    operandToScratch = !together && operand.exists;
  }

  Outcome chooseOperand() {
    if (!operand.exists || blockBytes() == 0)
      return {};
    bool direct = false; // some chunks are written where results lie
    for (int c = 0; c < program.chunks; ++c)
      direct |= !scattered[size_t(c)];
    const char *in = tensor.send, *inEnd = in + blockBytes() * size_t(request.in.count);
    const char *out = tensor.receive, *outEnd = out + blockBytes() * size_t(request.out.count);
    bool overlap = result.exists && in < outEnd && out < inEnd;
    bool snapshot = false;
    if (overlap && operand.at != result.at) {
      snapshot = true;
    } else if (overlap && direct) {
      bool combines = std::any_of(program.steps.begin(), program.steps.end(), [&](const Step &step) {
        return step.action == Action::Combine || program.isOwn(step.chunk);
      });
      snapshot = combines || !zeroCopyInPlace;
      inPlace = !snapshot;
    }
    if (!snapshot && !transport.reachable(in, size_t(inEnd - in))) {
      std::vector<bool> wrote(size_t(program.own(0)), false);
      std::vector<int> sent(size_t(program.end() - program.own(0)), 0);
      for (size_t i = 0; i < program.steps.size(); ++i)
        for (int c = program.steps[i].chunk; c < program.steps[i].chunk + program.steps[i].count; ++c) {
          if (program.steps[i].action != Action::Send)
            wrote[size_t(c)] = true;
          else if (program.isOwn(c) ? !inGathered(i) : inBuffer(c) && !wrote[size_t(c)] && !inGathered(i))
            snapshot |= ++sent[size_t(program.isOwn(c) ? c - program.own(0) : c)] > 1;
        }
      inPlace &= !snapshot;
    }
    if (!snapshot)
      return {};
    char *memory = nullptr;
    Outcome done = take(size_t(inEnd - in), memory);
    if (done) {
      plan.before.push_back({memory, in, size_t(inEnd - in)});
      operand.at = memory - blockBytes() * size_t(request.in.first);
    }
    return done;
  }

  /// Copies of chunks that no step moves to where they are wanted.
  void finish() {
    std::vector<bool> writes(size_t(program.own(0)), false);
    for (const Step &step : program.steps)
      if (step.action != Action::Send)
        for (int c = step.chunk; c < step.chunk + step.count; ++c)
          writes[size_t(c)] = true;
    if (operandToScratch)
      for (int c = 0; c < program.chunks; ++c)
        if (inBlocks(c, request.in)) {
          copy(plan.before, scratch, operand, c);
          written[size_t(c)] = true;
        }
    bool zeros = request.collective == BRAID_PERMUTE && !hasSource();
    for (int c = 0; c < program.chunks; ++c) {
      if (!inBlocks(c, request.out))
        continue;
      if (zeros)
        copy(plan.settle, result, {nullptr, false}, c);
      else if (operandToScratch || (writes[size_t(c)] && scattered[size_t(c)]))
        copy(plan.settle, result, scratch, c);
      else if (!writes[size_t(c)] && inBlocks(c, request.in))
        copy(plan.during, result, operand, c);
    }
    if (request.reduces() && request.reduction == BRAID_AVERAGE && result.exists && tensor.count)
      plan.averages.push_back({tensor.receive, tensor.count * size_t(request.out.count)});
  }

  bool hasSource() const {
    for (auto [from, to] : request.options.pairs)
      if (to == request.me)
        return true;
    return false;
  }

  /// Copies one chunk, or lets the last copy grow by it.
  void copy(std::vector<Copy> &list, const Base &to, const Base &from, int chunk) const {
    size_t begin = offset(chunk), bytes = offset(chunk + 1) - begin;
    char *target = to.at + begin;
    const char *source = from.exists ? from.at + begin : nullptr;
    if (bytes == 0 || target == source)
      return;
    if (!list.empty()) {
      Copy &last = list.back();
      bool follows = source ? last.from && last.from + last.bytes == source : !last.from;
      if (last.to + last.bytes == target && follows) {
        last.bytes += bytes;
        return;
      }
    }
    list.push_back({target, source, bytes});
  }

  const Request &request;
  Transport &transport;
  Plan &plan;
  const StepProgram &program;
  bool zeroCopyInPlace, copySends;

  Tensor tensor;
  int chunksPerBlock = 1;
  size_t perChunk = 0;
  Base operand, result, scratch;
  char *passingAt = nullptr;   ///< the program's own scratch
  std::vector<size_t> passing; ///< where its chunks are, and its end
  bool usesScratch = false, operandToScratch = false, inPlace = false;
  std::vector<bool> written;                    ///< by the steps added so far
  std::vector<bool> scattered;                  ///< the target is scratch
  std::vector<std::map<int, uint64_t>> pending; ///< outbox -> messages that read the chunk's target
};

/// Small tensors of a bucket as one tensor in staging buffers, block by block.
Outcome pack(const Request &request, Transport &transport, Plan &plan, const std::vector<Tensor> &small, Tensor &packed,
             std::vector<Copy> &unpack) {
  size_t es = request.elementBytes;
  for (const Tensor &tensor : small)
    packed.count += tensor.count;
  auto stage = [&](BlockRange range, char *&memory) -> Outcome {
    size_t bytes = packed.count * es * size_t(range.count);
    if (bytes == 0)
      return {};
    memory = static_cast<char *>(transport.allocate(bytes));
    if (!memory)
      return {BRAID_OUT_OF_MEMORY, "no memory to pack " + std::to_string(bytes) + " bytes"};
    plan.memory.push_back(memory);
    return {};
  };
  char *in = nullptr, *out = nullptr;
  Outcome done = stage(request.in, in);
  if (done)
    done = stage(request.out, out);
  if (!done)
    return done;
  packed.send = in;
  packed.receive = out;
  size_t at = 0;
  for (const Tensor &tensor : small) {
    size_t bytes = tensor.count * es;
    for (int block = 0; bytes && block < request.in.count; ++block)
      plan.before.push_back({in + packed.count * es * size_t(block) + at, tensor.send + bytes * size_t(block), bytes});
    for (int block = 0; bytes && block < request.out.count; ++block)
      unpack.push_back({tensor.receive + bytes * size_t(block), out + packed.count * es * size_t(block) + at, bytes});
    at += bytes;
  }
  return {};
}

/// Staging buffers in the type that values are combined in, and the plan of the same collective on them.
Outcome makeWidePlan(const Request &request, Transport &transport, Plan &plan) {
  Request wide = request;
  wide.type = request.accumulation;
  wide.elementBytes = sizeOf(wide.type);
  auto stage = [&](size_t count, char *&memory) {
    memory = static_cast<char *>(transport.allocate(std::max<size_t>(count * wide.elementBytes, 1)));
    if (memory)
      plan.memory.push_back(memory);
    return memory != nullptr;
  };
  for (Tensor &tensor : wide.tensors) {
    size_t in = tensor.count * size_t(request.in.count), out = tensor.count * size_t(request.out.count);
    char *send = nullptr, *receive = nullptr;
    if ((in && !stage(in, send)) || (out && !stage(out, receive)))
      return {BRAID_OUT_OF_MEMORY,
              "no memory to combine " + std::to_string(tensor.count) + " elements in " + runtime::name(wide.type)};
    if (in)
      plan.widen.push_back({send, tensor.send, in});
    if (out)
      plan.narrow.push_back({tensor.receive, receive, out});
    tensor.send = send;
    tensor.receive = receive;
  }
  return makePlan(wide, transport, plan);
}

} // namespace

Outcome makePlan(const Request &request, Transport &transport, Plan &plan) {
  if (request.pointToPoint()) {
    const Tensor &tensor = request.tensors[0];
    plan.lanes.resize(1);
    PlannedStep step;
    step.bytes = step.whole = tensor.count * request.elementBytes;
    step.count = tensor.count;
    step.peer = request.peer;
    step.to = tensor.receive;
    step.kind = request.collective == BRAID_SEND ? PlannedStep::Send : PlannedStep::Receive;
    if (request.collective == BRAID_SEND) {
      step.outbox = 0;
      plan.lanes[0].outboxes.push_back({request.peer, {{tensor.send, step.bytes}}});
    }
    plan.lanes[0].steps.push_back(step);
    return {};
  }

  if (request.accumulation != request.type)
    return makeWidePlan(request, transport, plan);

  Collective kind = kindOf(request.collective);
  StepProgram program;
  if (kind == Collective::Permute && request.options.pairs.empty()) { // for a step program, no pairs means all ranks
    program.collective = kind;
    program.ranks = request.ranks;
    program.chunks = program.channels = 1;
  } else {
    program = request.algorithm->program(kind, request.ranks, request.me, request.options);
  }
  plan.combine = request.reduces() ? combiner(request.type, request.reduction) : nullptr;
  plan.lanes.resize(size_t(program.channels));

  // May messages stay where they are, and also those of tensors that are in place? Beyond some ranks, a copy is cheaper
  // than finding out.
  constexpr int mostSimulated = 64;
  bool zeroCopy = program.steps.empty(), zeroCopyInPlace = zeroCopy;
  if (!zeroCopy && request.ranks <= mostSimulated) {
    auto all = algorithms::programs(*request.algorithm, kind, request.ranks, request.options);
    zeroCopy = runsWithoutCopies(all, false);
    for (const Tensor &tensor : request.tensors)
      if (tensor.count && tensor.send && tensor.receive) {
        zeroCopyInPlace = zeroCopy && runsWithoutCopies(all, true);
        break;
      }
  }

  std::vector<Tensor> parts, small;
  for (const Tensor &tensor : request.tensors)
    (tensor.count * size_t(request.blocks) * request.elementBytes < packedBelow ? small : parts).push_back(tensor);
  std::vector<Copy> unpack;
  if (small.size() > 1) {
    Tensor packed;
    Outcome done = pack(request, transport, plan, small, packed, unpack);
    if (!done)
      return done;
    parts.push_back(packed);
  } else {
    parts.insert(parts.end(), small.begin(), small.end());
  }

  std::vector<PartPlanner> planners;
  for (const Tensor &part : parts) {
    planners.emplace_back(request, transport, plan, program, zeroCopyInPlace, !zeroCopy);
    Outcome done = planners.back().place(part);
    if (!done)
      return done;
  }
  for (size_t step = 0; step < program.steps.size(); ++step)
    for (PartPlanner &planner : planners) {
      Outcome done = planner.add(step);
      if (!done)
        return done;
    }
  plan.after = std::move(unpack);
  return {};
}

} // namespace braid::runtime
