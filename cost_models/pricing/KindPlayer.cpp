//===- KindPlayer.cpp - the link rule for one rank of each kind --------------------------------------------------===//
//
// As Player.cpp, but a send is heard by everyone who receives from a rank of the sender's kind. The first half of a way belongs to
// the sender, up to the switch where it is highest; the second half to the receiver.
//
// Events are few: a link that messages take in the order in which they were sent needs none, and the lane of a rank that has no
// other runs ahead, since nobody else uses its link out and its reducer. What is left is a message's turn on a link that it shares.
//
// At another size events mostly come in the same order. So they are first taken in the order of the last play, without a queue:
// a recurrence in sums and maxima, message by message. It holds if each shared link and each rank had its own events in order,
// which is seen on the way. If not, they are sorted by time.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Kinds.h"
#include "pricing/Pool.h"
#include "pricing/Ticks.h"
#include <algorithm>

namespace braid::cost {

class KindPlayer {
public:
  KindPlayer(const KindProgram &program, double buffer, const std::vector<Topology::Link> &topologyLinks,
             BytesPerSecond reduction, const std::vector<double> *late)
      : p(program), reduction(reduction.value), late(late), lanes(program.lanes.size()), there(program.ops.size(), -1),
        links(program.slots.size()), reducerFree(program.playing), last(program.slots.size() + program.playing) {
    for (size_t slot = 0; slot < links.size(); ++slot) {
      const Topology::Link &link = topologyLinks[p.slots[slot].link];
      links[slot] = {0, inTicks(link.latency.value), link.bandwidth.value, p.slots[slot].inOrder};
    }
    for (const KindProgram::Detour &detour : p.detours) {
      double further = 0;
      for (int link : detour.heard)
        further += inTicks(topologyLinks[link].latency.value);
      for (int link : detour.sent)
        further -= inTicks(topologyLinks[link].latency.value);
      detours.push_back(further);
    }
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane].next = p.lanes[lane].first;
    bytes.reserve(p.ops.size());
    for (const Op &op : p.ops)
      bytes.push_back(buffer / p.chunks * op.count);
  }

  /// `order`: of the events, if they are known, else they are put there. Nothing if ranks wait for each other, or if the order is
  /// not that of time.
  std::optional<Seconds> run(std::vector<int> &order) {
    replays = !order.empty();
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      advance(int(lane), 0);
    runAhead();
    if (replays) {
      for (int event : order) {
        if (size_t(event) >= events.size() || !inTurn(events[event]))
          return std::nullopt;
        happen(events[event]);
      }
    } else {
      while (!events.empty()) {
        std::pop_heap(events.begin(), events.end());
        Event event = events.back();
        events.pop_back();
        order.push_back(event.number);
        happen(event);
      }
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
  };
  struct Link {
    double free, latency, bandwidth;
    bool inOrder;
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
    if (!replays)
      std::push_heap(events.begin(), events.end());
  }
  void wait(const Message &message, double time) { // for its turn on the next link
    int turn = message.heard < 0 ? p.lanes[message.lane].rank : p.ops[message.op].target;
    push(time, turn, messages.add(message), -1);
  }

  /// Whether the event comes after those that its link, or its rank, had so far.
  bool inTurn(const Event &event) {
    size_t where = links.size();
    if (event.message < 0)
      where += p.lanes[event.lane].player;
    else
      where = p.ops[messages[event.message].op].slots[messages[event.message].hop];
    Moment &before = last[where];
    if (event.time < before.time || (event.time == before.time && event.turn < before.turn))
      return false;
    before = {event.time, event.turn};
    return true;
  }

  void happen(const Event event) {
    if (event.message < 0) {
      advance(event.lane, event.time);
    } else {
      Message message = messages[event.message];
      messages.remove(event.message);
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

  void advance(int index, double time) {
    Lane &lane = lanes[index];
    const KindProgram::Lane &of = p.lanes[index];
    lane.waits = false;
    while (lane.next < of.end) {
      const Op &op = p.ops[lane.next];
      if (op.type == Op::Send) {
        leave({lane.next++, index}, time);
        if (!of.alone && lane.next < of.end && p.ops[lane.next].type == Op::Send) { // other lanes have their turn
          push(time, of.rank, -1, index);
          return;
        }
        continue;
      }
      if (op.type == Op::Receive) {
        if (there[lane.next] < 0) {
          lane.waits = true;
          lane.now = time;
          return;
        }
        if (there[lane.next] > time) {
          if (!of.alone) {
            push(there[lane.next], op.target, -1, index);
            return;
          }
          time = there[lane.next];
        }
      }
      ++lane.next;
      if (op.reduces && bytes[lane.next - 1] > 0 && reduction > 0) {
        double &free = reducerFree[of.player];
        free = std::max(free, time) + inTicks(bytes[lane.next - 1] / reduction);
        if (!of.alone) {
          push(free, of.rank, -1, index);
          return;
        }
        time = free;
      }
    }
    finish = std::max(finish, time);
  }

  /// The head takes the message's next link.
  double take(Message &message, const Op &op, double time) {
    double load = message.hop == op.crowded ? bytes[message.op] * op.crowd : bytes[message.op];
    Link &link = links[op.slots[message.hop++]];
    double start = std::max(time, link.free);
    link.free = start + inTicks(load / link.bandwidth);
    message.tail = std::max(message.tail, link.free) + link.latency;
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
      double further = detour < 0 ? 0 : detours[detour];
      Message copy{heard, lane, heard, 0, message.tail + further, late ? inTicks((*late)[op.send]) : 0};
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
    if (p.lanes[message.lane].alone)
      ready.push_back(message.lane);
    else
      push(time, op.target, -1, message.lane);
  }

  const KindProgram &p;
  const double reduction;
  const std::vector<double> *late;
  std::vector<Lane> lanes;
  std::vector<double> there; ///< of each op that receives: when its message is; -1: not yet known
  std::vector<Link> links;   ///< by slot
  std::vector<double> reducerFree, bytes, detours;
  struct Moment {
    double time = 0;
    int turn = 0;
  };
  std::vector<Moment> last; ///< events of slots, and of players
  Pool<Message> messages;
  std::vector<int> ready;
  bool replays = false;
  std::vector<Event> events; ///< a heap; in a known order: by number
  int number = 0;
  double finish = 0;
};

std::optional<Seconds> KindProgram::play(Bytes operand, const std::vector<Topology::Link> &links,
                                         BytesPerSecond reduction, const std::vector<double> *late) const {
  double buffer = double(algorithms::bufferBytes(collective, groupRanks, operand.value));
  if (late) { // in another order each time
    std::vector<int> own;
    return KindPlayer(*this, buffer, links, reduction, late).run(own);
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (!order.empty())
    if (std::optional<Seconds> time = KindPlayer(*this, buffer, links, reduction, nullptr).run(order))
      return time;
  order.clear();
  return KindPlayer(*this, buffer, links, reduction, nullptr).run(order);
}

} // namespace braid::cost
