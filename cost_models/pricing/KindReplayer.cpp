//===- KindReplayer.cpp - a play along the tape of an earlier one -----------------------------------------------------===//
//
// The rule is that of KindPlayer.cpp; what that decides by looking at times is on the tape here, and only checked.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/KindTape.h"
#include "pricing/Ticks.h"
#include <algorithm>

namespace braid::cost {

class KindReplayer {
public:
  explicit KindReplayer(KindPlay &play)
      : p(play.program), play(play), links(play.links.data()), messages(new Message[p.ops.size()]),
        there(new double[p.ops.size()]), lanes(p.lanes.size()), ranks(p.playing) {}

  std::optional<Seconds> run(const KindTape &tape) {
    for (const KindEvent &event : tape.events)
      if (!(event.how == KindEvent::Message ? goesOn(event) : runs(event)))
        return std::nullopt;
    return Seconds{lanes.empty() ? 0 : *std::max_element(lanes.begin(), lanes.end())};
  }

private:
  using Op = KindProgram::Op;
  /// By op: its send's on the sender's half of the way, its receive's on the other.
  struct Message {
    double time, tail, late;
    int turn, hop;
  };
  struct Rank {
    double reducerFree = 0;
    KindMoment last;
  };

  /// Whether the event comes after the last one at its place.
  static bool inTurn(const KindEvent &event, KindMoment &last, double time, int turn) {
    if (time < last.time || (time == last.time && turn < last.turn && !event.late))
      return false;
    last = {time, turn};
    return true;
  }

  bool goesOn(const KindEvent &event) {
    Message &message = messages[event.op];
    const Op &op = p.ops[event.op];
    if (!inTurn(event, links[op.slots[message.hop]].last, message.time, message.turn))
      return false;
    op.type == Op::Send ? leave(message, op) : arrive(message, op, event.op);
    return true;
  }

  bool runs(const KindEvent &event) {
    const KindProgram::Lane &of = p.lanes[event.lane];
    double time = lanes[event.lane];
    if (event.how == KindEvent::Heard) {
      double heard = there[event.op];
      if (heard < time || (heard == time && !event.tied) ||
          !inTurn(event, ranks[of.player].last, heard, p.ops[event.op].target))
        return false;
      time = heard;
    } else if (event.how == KindEvent::Turn && !inTurn(event, ranks[of.player].last, time, of.rank)) {
      return false;
    }
    for (int index = event.op; index < event.end; ++index) {
      const Op &op = p.ops[index];
      if (op.type == Op::Send) {
        Message &message = messages[index];
        message = {time, 0, 0, of.rank, 0};
        leave(message, op);
        continue;
      }
      if (op.type == Op::Receive && there[index] > time) {
        if (!of.alone)
          return false;
        time = there[index];
      }
      if (!op.reduces)
        continue;
      double bytes = play.chunk * op.count;
      bool adds = bytes > 0 && play.reduction > 0;
      if (!of.alone && adds != (event.reduced && index + 1 == event.end))
        return false;
      if (adds) {
        double &free = ranks[of.player].reducerFree;
        time = free = std::max(free, time) + inTicks(bytes / play.reduction);
      }
    }
    lanes[event.lane] = time;
    return true;
  }

  /// All further links of the half, up to one on which the message waits for its turn. Whether it is through.
  bool take(Message &message, const Op &op) {
    double bytes = play.chunk * op.count;
    while (message.hop < op.hops) {
      KindLink &link = links[op.slots[message.hop]];
      double start = std::max(message.time, link.free);
      link.free = start + inTicks((message.hop == op.crowded ? bytes * op.crowd : bytes) / link.bandwidth);
      message.tail = std::max(message.tail, link.free) + link.latency;
      message.time = start + link.latency;
      if (++message.hop < op.hops && !links[op.slots[message.hop]].inOrder)
        return false;
    }
    return true;
  }

  void leave(Message &message, const Op &op) {
    if (!take(message, op))
      return;
    double late = play.late ? inTicks((*play.late)[op.send]) : 0;
    for (int i = p.heard[op.send]; i < p.heard[op.send + 1]; ++i) {
      const KindProgram::Listener &listener = p.listeners[i];
      const Op &receive = p.ops[listener.op];
      double further = listener.detour < 0 ? 0 : play.detours[listener.detour];
      Message &copy = messages[listener.op];
      copy = {message.time + further, message.tail + further, late, receive.target, 0};
      if (links[receive.slots[0]].inOrder)
        arrive(copy, receive, listener.op);
    }
  }

  void arrive(Message &message, const Op &op, int index) {
    if (take(message, op))
      there[index] = std::max(message.time, message.tail + message.late);
  }

  const KindProgram &p;
  const KindPlay &play;
  KindLink *links;
  std::unique_ptr<Message[]> messages; ///< each is written before it is read
  std::unique_ptr<double[]> there;     ///< so, too: of each op that receives, when its message is
  std::vector<double> lanes;           ///< how far in time
  std::vector<Rank> ranks;             ///< those who play
};

std::optional<Seconds> playAgain(KindPlay &play, const KindTape &tape) { return KindReplayer(play).run(tape); }

} // namespace braid::cost
