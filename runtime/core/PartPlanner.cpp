//===- PartPlanner.cpp - gives one part of an operation its addresses ---------------------------------------------===//
#include "core/PartPlanner.h"
#include "core/Counts.h"
#include <algorithm>

namespace braid::runtime {

using algorithms::Action;
using algorithms::Step;

static int outboxOf(PlannedLane &lane, int peer) {
  for (size_t i = 0; i < lane.outboxes.size(); ++i)
    if (lane.outboxes[i].peer == peer)
      return int(i);
  lane.outboxes.push_back({peer, {}});
  return int(lane.outboxes.size()) - 1;
}

PartPlanner::PartPlanner(Planning &planning, const Part &part, int lanes, int lane)
    : planning(planning), request(planning.request), plan(planning.plan), program(planning.program), part(part),
      lanes(lanes), lane(lane), duringAt(plan.during.size()), settleAt(plan.settle.size()) {}

Outcome PartPlanner::place() {
  chunksPerBlock = std::max(1, program.chunks / request.blocks);
  size_t es = request.elementBytes;
  perChunk = (part.count + size_t(chunksPerBlock) - 1) / size_t(chunksPerBlock);
  if (perChunk * es >= 512) // whole cache lines, so that no two ranks write one
    perChunk = (perChunk + 64 / es - 1) / (64 / es) * (64 / es);
  written.assign(size_t(program.own(0)), true); // scratch: is where it is
  std::fill(written.begin(), written.begin() + program.chunks, false);
  scattered.assign(size_t(program.chunks), false);
  pending.assign(size_t(program.own(0)), {});
  size_t stride = part.tensor.count * es, first = part.from * es;
  if (part.tensor.send)
    operand = {const_cast<char *>(part.tensor.send) + first - stride * size_t(request.in.first), true, stride};
  if (part.tensor.receive)
    result = {part.tensor.receive + first - stride * size_t(request.out.first), true, stride};
  if (program.ragged)
    layRagged();
  chooseTargets();
  Outcome done = chooseOperand();
  if (done && usesScratch)
    done = take(blockBytes() * size_t(request.blocks), scratch.at);
  scratch.exists = usesScratch;
  scratch.stride = blockBytes();
  size_t room = 0;
  for (int like : program.scratch) {
    passing.push_back(room);
    room += program.ragged ? shareBytes(request, program, like) : offset(like + 1) - offset(like);
  }
  passing.push_back(room);
  if (done && room)
    done = take(room, passingAt);
  if (done)
    finish();
  return done ? lost() : done;
}

/// Operand and result of a ragged all_to_all: blocks of any sizes, one after another, each in shares for the channels.
void PartPlanner::layRagged() {
  inAt.assign(1, 0);
  outAt.assign(1, 0);
  for (int chunk = 0; chunk < program.chunks; ++chunk) {
    inAt.push_back(inAt.back() + shareBytes(request, program, program.shareOf(program.own(chunk), request.me)));
    outAt.push_back(outAt.back() + shareBytes(request, program, program.shareOf(chunk, request.me)));
  }
}

Outcome PartPlanner::add(size_t index) {
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
  PlannedLane &planned = laneOf(program.steps[index]);
  for (size_t i = first; i <= index; ++i)
    if (size_t bytes = bytesOf(program.steps[i]); bytes || first == index) {
      planned.steps.push_back(taking(i));
      planned.steps.back().more = true;
      planned.steps.back().at = at;
      planned.steps.back().whole = whole;
      at += bytes;
    }
  planned.steps.back().more = false;
  return {};
}

Outcome PartPlanner::addSend(size_t first, size_t last, size_t whole) {
  const Step &step = program.steps[last];
  PlannedLane &planned = laneOf(step);
  PlannedStep next;
  next.kind = PlannedStep::Send;
  next.bytes = whole;
  next.count = whole / request.elementBytes;
  next.number = int(last);
  next.peer = step.peer;
  next.outbox = outboxOf(planned, step.peer);
  const char *now = placeOf(step.chunk);
  std::vector<OutMessage> &messages = planned.outboxes[size_t(next.outbox)].messages;
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
        planned.steps.push_back(copy);
        at += bytes;
      }
    messages.push_back({gathered, whole, next.number});
    planned.steps.push_back(next);
    return {};
  }
  bool own = program.isOwn(step.chunk); // in place, the operand is a snapshot
  bool changes = !own && (written[size_t(step.chunk)] || inPlace);
  if (planning.copySends && whole && changes && usedAfter(last, true)) {
    Outcome done = take(whole, next.to);
    if (!done)
      return done;
    next.mine = now;
    now = next.to;
  }
  messages.push_back({now, whole, next.number});
  for (int c = step.chunk; c < step.chunk + step.count && !own; ++c)
    if ((written[size_t(c)] || inPlace) && !next.to && whole)
      pending[size_t(c)][next.outbox] = messages.size();
  planned.steps.push_back(next);
  return {};
}

/// What step `index` writes: a message or a piece of one, or a combination with the rank's own.
PlannedStep PartPlanner::taking(size_t index) {
  const Step &step = program.steps[index];
  PlannedStep next;
  next.bytes = bytesOf(step);
  next.count = next.bytes / request.elementBytes;
  next.number = int(index);
  next.peer = step.peer;
  next.kind = step.action == Action::Receive         ? PlannedStep::Receive
              : step.action == Action::ReceiveReduce ? PlannedStep::Reduce
                                                     : PlannedStep::Combine;
  next.mine = placeOf(step.chunk);
  if (step.action == Action::Combine)
    next.other = at(operand, step.chunk);
  next.average = !planning.completes.empty() && planning.completes[index];
  next.stream = planning.stream && inBuffer(step.chunk) && !scattered[size_t(step.chunk)] && !usedAfter(index, false);
  next.firstHazard = int(plan.hazards.size());
  std::map<int, uint64_t> waits;
  for (int c = step.chunk; c < step.chunk + step.count; ++c) {
    for (auto [outbox, messages] : pending[size_t(c)])
      waits[outbox] = std::max(waits[outbox], messages);
    pending[size_t(c)].clear();
    written[size_t(c)] = true;
  }
  next.to = placeOf(step.chunk); // now that it is written
  for (auto [outbox, messages] : waits)
    plan.hazards.push_back({outbox, messages});
  next.hazards = int(plan.hazards.size()) - next.firstHazard;
  return next;
}

/// Where a chunk is at this moment, as far as steps have been added.
char *PartPlanner::placeOf(int chunk) const {
  if (program.isOwn(chunk))
    return at(operand, chunk - program.own(0));
  if (chunk >= program.chunks)
    return passingAt ? passingAt + passing[size_t(chunk - program.chunks)] : nullptr;
  return at(home(chunk), chunk);
}

size_t PartPlanner::bytesOf(const Step &step) const {
  if (step.chunk >= program.chunks && !program.isOwn(step.chunk))
    return passing[size_t(step.chunk + step.count - program.chunks)] - passing[size_t(step.chunk - program.chunks)];
  int chunk = program.isOwn(step.chunk) ? step.chunk - program.own(0) : step.chunk;
  if (program.ragged && program.isOwn(step.chunk))
    return inAt[size_t(chunk + step.count)] - inAt[size_t(chunk)];
  return offset(chunk + step.count) - offset(chunk);
}

bool PartPlanner::inGathered(size_t index) const {
  return program.steps[index].more || (index > 0 && program.steps[index - 1].more);
}

/// Bytes of this part before `chunk`, block after block.
size_t PartPlanner::offset(int chunk) const {
  if (program.ragged)
    return outAt[size_t(chunk)];
  size_t block = size_t(chunk / chunksPerBlock), within = size_t(chunk % chunksPerBlock);
  return block * blockBytes() + std::min(within * perChunk, part.count) * request.elementBytes;
}

char *PartPlanner::at(const Base &base, int chunk) const {
  if (program.ragged)
    return base.exists ? base.at + (&base == &operand ? inAt : outAt)[size_t(chunk)] : nullptr;
  size_t block = size_t(chunk / chunksPerBlock);
  return base.exists ? base.at + block * base.stride + (offset(chunk) - block * blockBytes()) : nullptr;
}

bool PartPlanner::inBlocks(int chunk, BlockRange range) const {
  int block = chunk / chunksPerBlock;
  return block >= range.first && block < range.first + range.count;
}

/// A program that uses a chunk which holds nothing is wrong; the registry's are proven, others may come.
Outcome PartPlanner::lost() const {
  std::vector<bool> holds(size_t(program.own(0)), false);
  if (request.collective == BRAID_BARRIER)
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

/// Whether a later step writes, or else reads, the chunks of this one.
bool PartPlanner::usedAfter(size_t index, bool written) const {
  const Step &now = program.steps[index];
  for (size_t i = index + 1; i < program.steps.size(); ++i) {
    const Step &step = program.steps[i];
    bool uses = written ? step.action != Action::Send : step.action != Action::Receive;
    if (uses && step.chunk < now.chunk + now.count && now.chunk < step.chunk + step.count)
      return true;
  }
  return false;
}

bool PartPlanner::hasSource() const {
  for (auto [from, to] : request.options.pairs)
    if (to == request.me)
      return true;
  return false;
}

Outcome PartPlanner::take(size_t bytes, char *&memory) {
  memory = static_cast<char *>(planning.transport.allocate(std::max<size_t>(bytes, 1)));
  if (!memory)
    return {BRAID_OUT_OF_MEMORY, "no memory for a buffer of " + std::to_string(bytes) + " bytes"};
  plan.memory.push_back(memory);
  return {};
}

/// Chunks that steps write, and that are not in the result, go to scratch. A step's chunks must be together: if one
/// touches both, or sends operand and written chunks together, all go to scratch, and operands are put there first.
void PartPlanner::chooseTargets() {
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

Outcome PartPlanner::chooseOperand() {
  if (!operand.exists || blockBytes() == 0)
    return {};
  bool direct = false; // some chunks are written where results lie
  for (int c = 0; c < program.chunks; ++c)
    direct |= !scattered[size_t(c)];
  // Of the whole tensor: another part's result may be this one's operand.
  size_t inBytes = program.ragged ? inAt.back() : operand.stride * size_t(request.in.count);
  size_t outBytes = program.ragged ? outAt.back() : operand.stride * size_t(request.out.count);
  const char *in = part.tensor.send, *inEnd = in + inBytes;
  const char *out = part.tensor.receive, *outEnd = out + outBytes;
  bool overlap = result.exists && in < outEnd && out < inEnd;
  bool snapshot = false;
  if (overlap && operand.at != result.at) {
    snapshot = true;
  } else if (overlap && direct) {
    bool combines = std::any_of(program.steps.begin(), program.steps.end(), [&](const Step &step) {
      return step.action == Action::Combine || program.isOwn(step.chunk);
    });
    snapshot = combines || !planning.zeroCopyInPlace;
    inPlace = !snapshot;
  }
  if (!snapshot && !planning.transport.reachable(in, size_t(inEnd - in))) {
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
  Outcome done = take(program.ragged ? inBytes : blockBytes() * size_t(request.in.count), memory);
  if (!done)
    return done;
  Base original = operand;
  if (program.ragged) {
    operand.at = memory;
    plan.before.push_back({memory, original.at, inBytes});
    return {};
  }
  operand = {memory - blockBytes() * size_t(request.in.first), true, blockBytes()};
  size_t mine = plan.before.size();
  for (int block = request.in.first; block < request.in.first + request.in.count; ++block) {
    char *to = operand.at + operand.stride * size_t(block), *from = original.at + original.stride * size_t(block);
    if (plan.before.size() > mine && original.stride == operand.stride)
      plan.before.back().bytes += blockBytes();
    else
      plan.before.push_back({to, from, blockBytes()});
  }
  return {};
}

/// Copies of chunks that no step moves to where they are wanted.
void PartPlanner::finish() {
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
      copy(plan.settle, result, {}, c);
    else if (operandToScratch || (writes[size_t(c)] && scattered[size_t(c)]))
      copy(plan.settle, result, scratch, c);
    else if (!writes[size_t(c)] && inBlocks(c, request.in))
      copy(plan.during, result, operand, c);
  }
  if (request.reduces() && request.reduction == BRAID_AVERAGE && planning.completes.empty() && result.exists &&
      part.count)
    plan.averages.push_back({result.at + result.stride * size_t(request.out.first), part.count});
}

/// Copies one chunk, or lets the last copy of this part grow by it.
void PartPlanner::copy(std::vector<Copy> &list, const Base &to, const Base &from, int chunk) const {
  size_t bytes = offset(chunk + 1) - offset(chunk);
  char *target = at(to, chunk);
  const char *source = at(from, chunk);
  if (bytes == 0 || target == source)
    return;
  size_t first = &list == &plan.during ? duringAt : &list == &plan.settle ? settleAt : 0;
  if (list.size() > first) {
    Copy &last = list.back();
    bool follows = source ? last.from && last.from + last.bytes == source : !last.from;
    if (last.to + last.bytes == target && follows) {
      last.bytes += bytes;
      return;
    }
  }
  list.push_back({target, source, bytes, planning.stream && &list != &plan.before});
}

} // namespace braid::runtime
