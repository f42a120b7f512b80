//===- KindPlayer.cpp - the link rule for one rank of each kind --------------------------------------------------===//
//
// As Player.cpp, but a send is seen by everyone who receives from a rank of the sender's kind. The first half of a way belongs to
// the sender, up to the switch where it is highest; the second half to the receiver.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Kinds.h"
#include <algorithm>
#include <queue>

namespace braid::cost {

namespace {

struct Event {
  enum Kind : int { Leaves, Arrives, Delivered, Resume };
  double time;
  int turn; ///< of those at once: the real sender's rank
  uint64_t number;
  Kind kind;
  int index; ///< message, or lane
  bool operator<(const Event &o) const {
    if (time != o.time)
      return time > o.time;
    return turn != o.turn ? turn > o.turn : number > o.number;
  }
};

class KindPlayer {
public:
  KindPlayer(const std::vector<KindRank> &ranks, double buffer, const std::vector<Topology::Link> &links,
             BytesPerSecond reduction)
      : buffer(buffer), links(links), reduction(reduction.value), reducerFree(ranks.size()) {
    for (size_t player = 0; player < ranks.size(); ++player) {
      firstLane.push_back(int(lanes.size()));
      for (const std::vector<KindOp> &ops : ranks[player].lanes)
        lanes.emplace_back(int(player), ranks[player].rank, &ops,
                           &ranks[player].listeners[&ops - ranks[player].lanes.data()]);
    }
    // A link has a slot only if someone who plays uses it.
    size_t most = 0;
    for (const Lane &lane : lanes)
      for (const KindOp &op : *lane.ops)
        for (int link : op.path)
          most = std::max(most, size_t(link) + 1);
    linkFree.resize(most);
    users.resize(most, nobody);
    for (const Lane &lane : lanes)
      for (const KindOp &op : *lane.ops) {
        bool out = op.type == KindOp::Send;
        for (int i = out ? 0 : op.path.count / 2; i < (out ? op.path.count / 2 : op.path.count); ++i) {
          int &user = users[op.path.links[i]];
          user = user == nobody || user == lane.player ? lane.player : several;
        }
      }
  }

  std::optional<Seconds> run() {
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      advance(int(lane), 0);
    while (!events.empty()) {
      Event event = events.top();
      events.pop();
      switch (event.kind) {
      case Event::Leaves:
        unused.push_back(event.index);
        leave(messages[event.index], event.time);
        break;
      case Event::Arrives:
        arrive(event.index, event.time);
        break;
      case Event::Delivered:
        deliver(event.index, event.time);
        break;
      case Event::Resume:
        advance(event.index, event.time);
        break;
      }
    }
    for (const Lane &lane : lanes)
      if (lane.next < lane.ops->size())
        return std::nullopt;
    return Seconds{finish};
  }

private:
  struct Lane {
    using Listeners = std::vector<std::vector<KindRank::Listener>>;
    Lane(int player, int rank, const std::vector<KindOp> *ops, const Listeners *listeners)
        : player(player), rank(rank), ops(ops), listeners(listeners), here(ops->size()) {}
    int player, rank;
    const std::vector<KindOp> *ops;
    size_t next = 0;
    int sent = 0;
    bool waits = false;
    const Listeners *listeners;
    std::vector<char> here; ///< of each op that receives: its message is there
  };
  struct Message {
    const KindOp *op; ///< a send's, then the receive's
    int lane;         ///< of the sender, then of the receiver
    int number;       ///< of the send, then of the receiving op
    int hop = 0;
    double tail = 0;
    bool queued = false; ///< it has waited for its turn on the next link
  };

  void push(double time, int turn, Event::Kind kind, int index) { events.push({time, turn, number++, kind, index}); }

  void advance(int index, double time) {
    Lane &lane = lanes[index];
    finish = std::max(finish, time);
    lane.waits = false;
    while (lane.next < lane.ops->size()) {
      const KindOp &op = (*lane.ops)[lane.next];
      if (op.type == KindOp::Send) {
        ++lane.next;
        leave({&op, index, lane.sent++}, time);
        continue;
      }
      if (op.type == KindOp::Receive && !lane.here[lane.next]) {
        lane.waits = true;
        return;
      }
      ++lane.next;
      if (op.reduces && op.part > 0 && reduction > 0) {
        double &free = reducerFree[lane.player];
        free = std::max(free, time) + op.part * buffer / reduction;
        push(free, lane.rank, Event::Resume, index);
        return;
      }
    }
  }

  int newMessage(Message message) {
    if (unused.empty()) {
      messages.push_back(message);
      return int(messages.size()) - 1;
    }
    int index = unused.back();
    unused.pop_back();
    messages[index] = message;
    return index;
  }

  /// The head takes the message's next link.
  double take(Message &message, double time) {
    int link = message.op->path.links[message.hop++];
    double start = std::max(time, linkFree[link]), latency = links[link].latency.value;
    linkFree[link] = start + message.op->part * buffer / links[link].bandwidth.value;
    message.tail = std::max(message.tail, linkFree[link]) + latency;
    return start + latency;
  }

  /// Whether the message's next link, between a rank's device and its NIC or behind them, is that rank's alone, so that it is
  /// taken in the order of the link before.
  bool owned(const Message &message) const {
    bool end = message.hop == 1 || message.hop == message.op->path.count - 1;
    return end && users[message.op->path.links[message.hop]] != several;
  }

  void leave(Message message, double time) {
    int half = message.op->path.count / 2;
    while (message.hop < half) {
      if (message.hop > 0 && !owned(message) && !message.queued) {
        message.queued = true;
        push(time, lanes[message.lane].rank, Event::Leaves, newMessage(message));
        return;
      }
      message.queued = false;
      time = take(message, time);
    }
    // A receiver may be further from its sender, or nearer, than the one that plays it is from its own target.
    double mine = latencyOf(message.op->path);
    for (const KindRank::Listener &listener : (*lanes[message.lane].listeners)[message.number]) {
      int lane = firstLane[listener.player] + listener.lane;
      const KindOp &op = (*lanes[lane].ops)[listener.op];
      double further = latencyOf(op.path) - mine;
      Message copy{&op, lane, listener.op, op.path.count / 2, message.tail + further};
      push(time + further, op.target, Event::Arrives, newMessage(copy));
    }
  }

  /// Of the first half of a way.
  double latencyOf(const Topology::Path &path) const {
    double sum = 0;
    for (int i = 0; i < path.count / 2; ++i)
      sum += links[path.links[i]].latency.value;
    return sum;
  }

  void arrive(int index, double time) {
    Message &message = messages[index];
    do
      time = take(message, time);
    while (message.hop < message.op->path.count && owned(message));
    if (message.hop < message.op->path.count)
      push(time, message.op->target, Event::Arrives, index);
    else
      push(std::max(time, message.tail), message.op->target, Event::Delivered, index);
  }

  void deliver(int index, double time) {
    Lane &lane = lanes[messages[index].lane];
    size_t op = messages[index].number;
    lane.here[op] = 1;
    unused.push_back(index);
    if (lane.waits && lane.next == op)
      advance(messages[index].lane, time);
  }

  double buffer;
  const std::vector<Topology::Link> &links;
  double reduction;
  std::vector<Lane> lanes;
  std::vector<int> firstLane; ///< of a player
  std::vector<Message> messages;
  std::vector<int> unused;
  std::priority_queue<Event> events;
  std::vector<double> linkFree, reducerFree;
  static constexpr int nobody = -1, several = -2;
  std::vector<int> users; ///< of a link: the player, nobody, or several
  uint64_t number = 0;
  double finish = 0;
};

} // namespace

std::optional<Seconds> KindProgram::play(Bytes operand, const std::vector<Topology::Link> &links,
                                         BytesPerSecond reduction) const {
  return playSized(double(algorithms::bufferBytes(collective, groupRanks, operand.value)), links, reduction);
}

std::optional<Seconds> KindProgram::playSized(double buffer, const std::vector<Topology::Link> &links,
                                              BytesPerSecond reduction) const {
  return KindPlayer(ranks, buffer, links, reduction).run();
}

} // namespace braid::cost
