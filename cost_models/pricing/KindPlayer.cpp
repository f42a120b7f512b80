//===- KindPlayer.cpp - the link rule for one rank of each kind --------------------------------------------------===//
//
// As Player.cpp, but a send is heard by everyone who receives from a rank of the sender's kind. The first half of a way belongs to
// the sender, up to the switch where it is highest; the second half to the receiver.
//
// Events are few: a link that messages take in the order in which they were sent needs none, and the lane of a rank that has no
// other runs ahead, since nobody else uses its link out and its reducer. What is left is a message's turn on a link that it shares.
// They are taken by time, unless those of an earlier play came in an order that holds again (KindTape.h).
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/KindTape.h"
#include "pricing/Pool.h"
#include "pricing/Ticks.h"
#include <algorithm>

namespace braid::cost {

class KindPlayer {
public:
  KindPlayer(KindPlay &play, KindTape *tape)
      : p(play.program), play(play), tape(tape), links(play.links), lanes(p.lanes.size()), there(p.ops.size(), -1),
        reducerFree(p.playing), last(p.playing) {
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane].next = p.lanes[lane].first;
  }

  std::optional<Seconds> run() {
    if (tape)
      tape->events.reserve(p.ops.size());
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      advance(int(lane), 0);
    runAhead();
    while (!events.empty()) {
      std::pop_heap(events.begin(), events.end());
      Event event = events.back();
      events.pop_back();
      happen(event);
    }
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      if (lanes[lane].next < p.lanes[lane].end)
        return std::nullopt;
    return Seconds{finish};
  }

private:
  using Op = KindProgram::Op;
  struct Lane {
    int next = 0; ///< op
    double now = 0;
    bool waits = false;
    KindEvent::How how = KindEvent::Runs; ///< it goes on
  };
  struct Message {
    int op;         ///< the send's, then the receive's
    int lane;       ///< of the sender, then of the receiver
    int heard = -1; ///< the receiving op; -1: on the sender's half of its way
    int hop = 0;    ///< of the half
    double tail = 0, late = 0;
  };
  struct Event {
    double time;
    int turn, number;                      ///< of those at once: the real sender's rank, then the number of the event
    int message, lane;                     ///< message -1: the lane goes on
    bool operator<(const Event &o) const { // std::push_heap puts the largest first
      return time != o.time ? time > o.time : turn != o.turn ? turn > o.turn : number > o.number;
    }
  };

  void push(double time, int turn, int message, int lane) {
    events.push_back({time, turn, number++, message, lane});
    std::push_heap(events.begin(), events.end());
  }
  void wait(const Message &message, double time) { // for its turn on the next link
    int turn = message.heard < 0 ? p.lanes[message.lane].rank : p.ops[message.op].target;
    push(time, turn, messages.add(message), -1);
  }
  /// The lane's turn comes among those of its rank.
  void wait(int lane, KindEvent::How how, double time, int turn) {
    lanes[lane].how = how;
    push(time, turn, -1, lane);
  }

  void happen(const Event event) {
    if (event.message < 0) {
      advance(event.lane, event.time, isLate(last[p.lanes[event.lane].player], event));
    } else {
      Message message = messages[event.message];
      messages.remove(event.message);
      if (tape) {
        bool late = isLate(links[p.ops[message.op].slots[message.hop]].last, event);
        tape->events.push_back({KindEvent::Message, false, late, false, message.lane, message.op, message.op});
      }
      if (message.heard < 0)
        leave(message, event.time);
      else
        arrive(message, event.time);
    }
    runAhead();
  }

  void runAhead() {
    while (!ready.empty()) {
      int lane = ready.back();
      ready.pop_back();
      advance(lane, lanes[lane].now);
    }
  }

  static bool isLate(KindMoment &last, const Event &event) {
    bool late = event.time == last.time && event.turn < last.turn;
    last = {event.time, event.turn};
    return late;
  }

  void advance(int index, double time, bool late = false) {
    Lane &lane = lanes[index];
    KindEvent run{lane.how, lane.how == KindEvent::Heard && lane.now == time, late, false, index, lane.next, 0};
    lane.waits = false;
    lane.how = KindEvent::Runs;
    run.reduced = runOf(lane, index, time);
    run.end = lane.next;
    lane.now = time;
    if (tape)
      tape->events.push_back(run);
    if (lane.next == p.lanes[index].end)
      finish = std::max(finish, time);
  }

  /// From `time` on, until it waits for a message or for its turn. Whether it has an addition to wait for.
  bool runOf(Lane &lane, int index, double &time) {
    const KindProgram::Lane &of = p.lanes[index];
    bool alone = of.alone || play.weightless;
    while (lane.next < of.end) {
      const Op &op = p.ops[lane.next];
      if (op.type == Op::Send) {
        leave({lane.next++, index}, time);
        if (!alone && lane.next < of.end && p.ops[lane.next].type == Op::Send) { // other lanes have their turn
          wait(index, KindEvent::Turn, time, of.rank);
          return false;
        }
        continue;
      }
      if (op.type == Op::Receive) {
        if (there[lane.next] < 0) {
          lane.waits = true;
          return false;
        }
        if (there[lane.next] > time) {
          if (!alone) {
            wait(index, KindEvent::Heard, there[lane.next], op.target);
            return false;
          }
          time = there[lane.next];
        }
      }
      ++lane.next;
      if (double bytes = play.chunk * op.count; op.reduces && bytes > 0 && play.reduction > 0) {
        double &free = reducerFree[of.player];
        free = std::max(free, time) + inTicks(bytes / play.reduction);
        if (!alone) {
          wait(index, KindEvent::Turn, free, of.rank);
          return true;
        }
        time = free;
      }
    }
    return false;
  }

  /// The head takes the message's next link.
  double take(Message &message, const Op &op, double time) {
    double bytes = play.chunk * op.count, load = message.hop == op.crowded ? bytes * op.crowd : bytes;
    KindLink &link = links[op.slots[message.hop++]];
    double start = std::max(time, link.free), over = start + inTicks(load / link.bandwidth);
    if (!play.weightless)
      link.free = over;
    message.tail = std::max(message.tail, over) + link.latency;
    return start + link.latency;
  }

  void leave(Message message, double time) {
    const Op &op = p.ops[message.op];
    while (message.hop < op.hops) {
      time = take(message, op, time);
      if (message.hop < op.hops && !links[op.slots[message.hop]].inOrder) {
        wait(message, time);
        return;
      }
    }
    // A receiver may be further from its sender, or nearer, than the one that plays it is from its own target.
    for (int i = p.heard[op.send]; i < p.heard[op.send + 1]; ++i) {
      auto [lane, heard, detour] = p.listeners[i];
      double further = detour < 0 ? 0 : play.detours[detour];
      Message copy{heard, lane, heard, 0, message.tail + further, play.late ? inTicks((*play.late)[op.send]) : 0};
      if (links[p.ops[heard].slots[0]].inOrder)
        arrive(copy, time + further);
      else
        wait(copy, time + further);
    }
  }

  void arrive(Message message, double time) {
    const Op &op = p.ops[message.op];
    while (message.hop < op.hops) {
      time = take(message, op, time);
      if (message.hop < op.hops && !links[op.slots[message.hop]].inOrder) {
        wait(message, time);
        return;
      }
    }
    time = there[message.heard] = std::max(time, message.tail + message.late);
    Lane &lane = lanes[message.lane];
    if (!lane.waits || lane.next != message.heard)
      return;
    lane.waits = false;
    if (p.lanes[message.lane].alone || play.weightless)
      ready.push_back(message.lane);
    else
      wait(message.lane, KindEvent::Heard, time, op.target);
  }

  const KindProgram &p;
  const KindPlay &play;
  KindTape *tape;
  std::vector<KindLink> &links;
  std::vector<Lane> lanes;
  std::vector<double> there; ///< of each op that receives: when its message is; -1: not yet known
  std::vector<double> reducerFree;
  std::vector<KindMoment> last; ///< events of those who play
  Pool<Message> messages;
  std::vector<int> ready;
  std::vector<Event> events; ///< a heap
  int number = 0;
  double finish = 0;
};

std::optional<Seconds> playByTime(KindPlay &play, KindTape *tape) { return KindPlayer(play, tape).run(); }

} // namespace braid::cost
