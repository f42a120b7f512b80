//===- KindPlayer.cpp - the link rule for one rank of each kind --------------------------------------------------===//
//
// As Player.cpp, but a send is heard by everyone who receives from a rank of the sender's kind. The first half of a way belongs to
// the sender, up to the switch where it is highest; the second half to the receiver.
//
// Events are few: a link that messages take in the order in which they were sent needs none, and the lane of a rank that has no
// other runs ahead, since nobody else uses its link out and its reducer. What is left is a message's turn on a link that it shares.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Kinds.h"
#include <algorithm>

namespace braid::cost {

class KindPlayer {
public:
  KindPlayer(const KindProgram &program, double buffer, const std::vector<Topology::Link> &links,
             BytesPerSecond reduction)
      : p(program), links(links), reduction(reduction.value), lanes(program.lanes.size()),
        there(program.ops.size(), -1), linkFree(program.slots.size()), reducerFree(program.playing) {
    for (const KindProgram::Slot &slot : p.slots) {
      latency.push_back(links[slot.link].latency.value);
      bandwidth.push_back(links[slot.link].bandwidth.value);
    }
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane].next = p.lanes[lane].first;
    bytes.reserve(p.ops.size());
    for (const Op &op : p.ops)
      bytes.push_back(buffer / p.chunks * op.count);
  }

  std::optional<Seconds> run() {
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      advance(int(lane), 0);
    runAhead();
    while (!events.empty()) {
      std::pop_heap(events.begin(), events.end());
      Event event = events.back();
      events.pop_back();
      if (event.message < 0) {
        advance(event.lane, event.time);
      } else {
        Message message = messages[event.message];
        unused.push_back(event.message);
        if (message.heard < 0)
          leave(message, event.time);
        else
          arrive(message, event.time);
      }
      runAhead();
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
  struct Message {
    int op;         ///< the send's, then the receive's
    int lane;       ///< of the sender, then of the receiver
    int heard = -1; ///< the receiving op; -1: on the sender's half of its way
    int hop = 0;    ///< of the half
    double tail = 0;
  };
  struct Event {
    double time;
    uint64_t order;                        ///< of those at once: the real sender's rank, then the number of the event
    int message, lane;                     ///< message -1: the lane goes on
    bool operator<(const Event &o) const { // std::push_heap puts the largest first
      return time != o.time ? time > o.time : order > o.order;
    }
  };

  void push(double time, int turn, int message, int lane) {
    events.push_back({time, uint64_t(turn) << 40 | number++, message, lane});
    std::push_heap(events.begin(), events.end());
  }
  void wait(const Message &message, double time) { // for its turn on the next link
    int index = int(messages.size());
    if (unused.empty()) {
      messages.push_back(message);
    } else {
      index = unused.back();
      unused.pop_back();
      messages[index] = message;
    }
    push(time, message.heard < 0 ? p.lanes[message.lane].rank : p.ops[message.op].target, index, -1);
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
        free = std::max(free, time) + bytes[lane.next - 1] / reduction;
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
  double take(Message &message, double time) {
    const Op &op = p.ops[message.op];
    double load = message.hop == op.crowded ? bytes[message.op] * op.crowd : bytes[message.op];
    int slot = op.slots[message.hop++];
    double start = std::max(time, linkFree[slot]);
    linkFree[slot] = start + load / bandwidth[slot];
    message.tail = std::max(message.tail, linkFree[slot]) + latency[slot];
    return start + latency[slot];
  }

  void leave(Message message, double time) {
    const Op &op = p.ops[message.op];
    while (message.hop < op.hops) {
      time = take(message, time);
      if (message.hop < op.hops && !p.slots[op.slots[message.hop]].inOrder) {
        wait(message, time);
        return;
      }
    }
    // A receiver may be further from its sender, or nearer, than the one that plays it is from its own target.
    double mine = latencyOf(op.way);
    for (int i = p.heard[op.send]; i < p.heard[op.send + 1]; ++i) {
      auto [lane, heard] = p.listeners[i];
      double further = latencyOf(p.ops[heard].way) - mine;
      Message copy{heard, lane, heard, 0, message.tail + further};
      if (p.slots[p.ops[heard].slots[0]].inOrder)
        arrive(copy, time + further);
      else
        wait(copy, time + further);
    }
  }

  /// Of the first half of a way.
  double latencyOf(const Topology::Path &way) const {
    double sum = 0;
    for (int i = 0; i < way.count / 2; ++i)
      sum += links[way.links[i]].latency.value;
    return sum;
  }

  void arrive(Message message, double time) {
    const Op &op = p.ops[message.op];
    while (message.hop < op.hops) {
      time = take(message, time);
      if (message.hop < op.hops && !p.slots[op.slots[message.hop]].inOrder) {
        wait(message, time);
        return;
      }
    }
    time = there[message.heard] = std::max(time, message.tail);
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
  const std::vector<Topology::Link> &links;
  const double reduction;
  std::vector<Lane> lanes;
  std::vector<double> there; ///< of each op that receives: when its message is; -1: not yet known
  std::vector<double> linkFree, reducerFree, latency, bandwidth, bytes;
  std::vector<Message> messages;
  std::vector<int> unused, ready;
  std::vector<Event> events;
  uint64_t number = 0;
  double finish = 0;
};

std::optional<Seconds> KindProgram::play(Bytes operand, const std::vector<Topology::Link> &links,
                                         BytesPerSecond reduction) const {
  double buffer = double(algorithms::bufferBytes(collective, groupRanks, operand.value));
  return KindPlayer(*this, buffer, links, reduction).run();
}

} // namespace braid::cost
