//===- Plan.cpp - gives a step program its addresses --------------------------------------------------------------===//
//
// A *tensor* of the plan is one of the caller's, or all small ones of a bucket packed into staging buffers. Where its chunks
// are too large to pass through the cache in one piece it is cut: each *part* is a range of the elements of every block, and
// runs the same step program on its own. Parts take turns on two lanes, so that a rank works on one while it waits for its
// peers with the other:
//
//   all_reduce by two_shot, 2 ranks, 4 parts:   lane 0   part 0: reduce, receive   part 2: reduce, receive
//                                               lane 1       part 1: reduce, receive   part 3: reduce, receive
//
// What a rank has summed is still in the cache when its peer fetches it, and what a transport has to copy needs a few pieces
// of room instead of the whole message. Tensors of a bucket run on the same lanes, step by step in turn, so that the
// messages of all are in one order on both sides.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Plan.h"
#include "core/Completion.h"
#include "core/PartPlanner.h"
#include "core/ZeroCopy.h"
#include "reduce/Stream.h"
#include <algorithm>

namespace braid::runtime {

namespace {

using algorithms::Collective;
using algorithms::Step;
using algorithms::StepProgram;

constexpr size_t mostParts = 1024;

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

size_t roundedUp(size_t number, size_t to) { return (number + to - 1) / to * to; }
size_t lineElements(const Request &request) { return 64 / request.elementBytes; }

/// Chunks of the largest message of any rank; 0: some run of chunks has several blocks, of which parts do not lie side by
/// side.
size_t largestMessage(const Request &request, const std::vector<StepProgram> &programs) {
  size_t largest = 1;
  for (const StepProgram &program : programs) {
    int chunksPerBlock = std::max(1, program.chunks / request.blocks);
    size_t message = 0;
    for (const Step &step : program.steps) {
      int chunk = program.isOwn(step.chunk) ? step.chunk - program.own(0) : step.chunk;
      if (request.blocks > 1 && chunk < program.chunks &&
          chunk / chunksPerBlock != (chunk + step.count - 1) / chunksPerBlock)
        return 0;
      message += size_t(step.count);
      largest = std::max(largest, message);
      if (!step.more)
        message = 0;
    }
  }
  return largest;
}

/// Into how many parts a tensor is cut, of which each message has at most `limit` bytes; the same on all ranks.
size_t partsOf(const Request &request, const StepProgram &program, const Tensor &tensor, size_t largest, size_t limit) {
  if (limit == 0 || largest == 0)
    return 1;
  int chunksPerBlock = std::max(1, program.chunks / request.blocks);
  size_t chunk = (tensor.count + size_t(chunksPerBlock) - 1) / size_t(chunksPerBlock) * request.elementBytes;
  return std::clamp<size_t>((chunk * largest + limit - 1) / limit, 1, mostParts);
}

/// Whether what all ranks read and write is more than the cache holds.
bool isLarge(const Request &request) {
  size_t bytes = 0;
  for (const Tensor &tensor : request.tensors)
    bytes += tensor.count * request.elementBytes * size_t(request.in.count + request.out.count);
  return bytes >= cacheBytes() / size_t(request.ranks);
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
    step.stream = isLarge(request);
    step.kind = request.collective == BRAID_SEND ? PlannedStep::Send : PlannedStep::Receive;
    if (request.collective == BRAID_SEND) {
      step.outbox = 0;
      plan.lanes[0].outboxes.push_back({request.peer, {{tensor.send, step.bytes, 0}}});
    }
    plan.lanes[0].steps.push_back(step);
    return {};
  }

  if (request.accumulation != request.type)
    return makeWidePlan(request, transport, plan);

  Collective kind = kindOf(request.collective);
  StepProgram program;
  bool alone =
      request.ranks + request.options.helpers == 1 || (kind == Collective::Permute && request.options.pairs.empty());
  if (kind == Collective::Permute && request.options.pairs.empty()) { // for a step program, no pairs means all ranks
    program.collective = kind;
    program.ranks = request.ranks;
    program.chunks = program.channels = 1;
  } else {
    program = request.algorithm->program(kind, request.ranks, request.me, request.options);
  }
  plan.reducer = {request.reduces() ? combiner(request.type, request.reduction) : nullptr, request.type, request.ranks,
                  request.reduction};

  // May messages stay where they are, and also those of tensors that are in place? Beyond some ranks, a copy is cheaper
  // than finding out.
  constexpr int mostSimulated = 64;
  bool zeroCopy = program.steps.empty(), zeroCopyInPlace = zeroCopy;
  std::vector<bool> completes;
  size_t largest = 0;
  if (!alone && request.ranks <= mostSimulated) {
    auto all = algorithms::programs(*request.algorithm, kind, request.ranks, request.options);
    largest = request.ragged() ? 0 : largestMessage(request, all);
    zeroCopy = runsWithoutCopies(all, false);
    for (const Tensor &tensor : request.tensors)
      if (tensor.count && tensor.send && tensor.receive) {
        zeroCopyInPlace = zeroCopy && runsWithoutCopies(all, true);
        break;
      }
    if (request.reduces() && request.reduction == BRAID_AVERAGE)
      completes = completingSteps(all, request.me);
  }

  std::vector<Tensor> tensors, small;
  for (const Tensor &tensor : request.tensors)
    (tensor.count * size_t(request.blocks) * request.elementBytes < packedBelow ? small : tensors).push_back(tensor);
  std::vector<Copy> unpack;
  if (small.size() > 1) {
    Tensor packed;
    Outcome done = pack(request, transport, plan, small, packed, unpack);
    if (!done)
      return done;
    tensors.push_back(packed);
  } else {
    tensors.insert(tensors.end(), small.begin(), small.end());
  }

  size_t most = 1;
  std::vector<size_t> pieces;
  for (const Tensor &tensor : tensors) {
    pieces.push_back(partsOf(request, program, tensor, largest, transport.pieceBytes()));
    most = std::max(most, pieces.back());
  }
  int lanes = most > 1 ? partLanes : 1;
  plan.lanes.resize(size_t(program.channels * lanes));
  Planning planning{request, transport, plan, program, zeroCopyInPlace, !zeroCopy, std::move(completes)};
  planning.stream = isLarge(request);
  for (size_t piece = 0; piece < most; ++piece) {
    std::vector<PartPlanner> planners;
    for (size_t t = 0; t < tensors.size(); ++t) {
      if (piece >= pieces[t])
        continue;
      size_t each = roundedUp((tensors[t].count + pieces[t] - 1) / pieces[t], lineElements(request));
      size_t from = std::min(tensors[t].count, piece * each), count = std::min(each, tensors[t].count - from);
      planners.emplace_back(planning, Part{tensors[t], from, count}, lanes, int(piece % size_t(lanes)));
      Outcome done = planners.back().place();
      if (!done)
        return done;
    }
    for (size_t step = 0; step < program.steps.size(); ++step)
      for (PartPlanner &planner : planners) {
        Outcome done = planner.add(step);
        if (!done)
          return done;
      }
  }
  plan.after = std::move(unpack);
  return {};
}

void fuseCopies(Plan &plan) {
  for (PlannedLane &lane : plan.lanes) {
    std::vector<PlannedStep> steps;
    for (PlannedStep &step : lane.steps) {
      if (step.kind == PlannedStep::Send && step.to) {
        PlannedStep *last = steps.empty() ? nullptr : &steps.back();
        bool writes = last && last->kind != PlannedStep::Send && last->kind != PlannedStep::Copy;
        if (writes && last->to == step.mine && last->bytes == step.bytes && !last->also) {
          last->also = step.to;
        } else {
          PlannedStep copy = step;
          copy.kind = PlannedStep::Copy;
          steps.push_back(copy);
        }
        step.to = nullptr;
      }
      steps.push_back(step);
    }
    lane.steps = std::move(steps);
  }
}

} // namespace braid::runtime
