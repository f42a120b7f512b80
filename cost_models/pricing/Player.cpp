//===- Player.cpp - step programs as events on links ------------------------------------------------------------===//
//
// Events are handled in the order of (time, turn of the rank, number of the event), so a run is a function of its input. A message
// is one event per link and one for its delivery. A rank reduces one chunk at a time: its lanes share its reducer.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Player.h"
#include "braid/cost_models/Aggregators.h"
#include "pricing/Pool.h"
#include "pricing/Ticks.h"
#include <algorithm>
#include <queue>
#include <unordered_map>

namespace braid::cost {

Topology::Path PlayedNetwork::path(int from, int to) const {
  if (route)
    return route(from, to);
  int ranks = int(deviceOf.size());
  if (from < ranks && to < ranks)
    return topology.path(deviceOf[from], deviceOf[to]);
  auto [found, isNew] = ways.try_emplace({from, to});
  auto vertex = [&](int rank) { return rank < ranks ? topology.device(deviceOf[rank]) : helpers[rank - ranks]; };
  if (isNew)
    found->second = wayBetween(topology, vertex(from), vertex(to));
  return found->second;
}

std::vector<Topology::Path> PlayedNetwork::paths(int from, int to) const {
  int ranks = int(deviceOf.size());
  if (chosen)
    if (auto found = chosen->find({from, to}); found != chosen->end())
      return found->second;
  if (deals() && from < ranks && to < ranks)
    return topology.ways(deviceOf[from], deviceOf[to]);
  return {path(from, to)};
}

using algorithms::Action;
using algorithms::Step;

namespace {

/// The steps of one channel of one rank, in order.
struct Lane {
  int rank = 0;
  int channel = 0;
  std::vector<const Step *> steps;
  size_t next = 0;
  uint64_t sent = 0;
  int waitsFor = -1; ///< rank
};

/// A message, or one part of one that is dealt over several paths; `whole` is the first part.
struct Message {
  Topology::Path path;
  int whole = 0, partsLeft = 1;
  int hop = 0;
  int source = 0;
  int targetLane = 0;
  double bytes = 0;
  double excess = 0;
  double tail = 0;   ///< earliest time the tail can be at the end of the links so far
  double latest = 0; ///< of the parts
};

struct Event {
  enum Kind : int { Arrival, Delivery, Resume };
  double time;
  int turn;
  uint64_t number;
  Kind kind;
  int index;                             ///< message, or lane
  bool operator<(const Event &o) const { // std::priority_queue puts the largest first
    if (time != o.time)
      return time > o.time;
    return turn != o.turn ? turn > o.turn : number > o.number;
  }
};

class Player {
public:
  Player(const std::vector<PlayedRank> &ranks, const PlayedNetwork &network, const PlayOptions &options)
      : ranks(ranks), network(network), options(options), contention(network.topology.cluster().contention),
        linkFree(network.links.size()), reducerFree(ranks.size()), ends(ranks.size()) {
    for (const Topology::Link &link : network.links)
      latencies.push_back(inTicks(link.latency.value));
    for (const PlayedRank &rank : ranks)
      channels = std::max(channels, rank.program.channels);
    lanes.resize(ranks.size() * channels);
    waiting.resize(lanes.size());
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      for (int channel = 0; channel < channels; ++channel) {
        lanes[rank * channels + channel].rank = int(rank);
        lanes[rank * channels + channel].channel = channel;
      }
      for (const Step &step : ranks[rank].program.steps)
        lanes[rank * channels + step.channel].steps.push_back(&step);
    }
  }

  Result<Seconds> run() {
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      size_t rank = size_t(lanes[lane].rank);
      advance(int(lane), options.begins && rank < options.begins->size() ? inTicks((*options.begins)[rank]) : 0);
    }
    while (!events.empty()) {
      Event event = events.top();
      events.pop();
      if (event.kind == Event::Arrival)
        enterLink(event.index, event.time);
      else if (event.kind == Event::Delivery)
        deliver(event.index, event.time);
      else
        advance(event.index, event.time);
    }
    for (const Lane &lane : lanes)
      if (lane.next < lane.steps.size())
        return Error{"step program of rank " + std::to_string(lane.rank) + ": expected a message from rank " +
                         std::to_string(lane.waitsFor) + " on channel " + std::to_string(lane.channel) + ", got none",
                     ""};
    double finish = 0;
    for (double end : ends)
      finish = std::max(finish, end);
    if (options.ends)
      *options.ends = ends;
    return Seconds{finish};
  }

private:
  void push(double time, int rank, Event::Kind kind, int index) {
    events.push({time, ranks[rank].turn, number++, kind, index});
  }

  double bytesOf(const Lane &lane, const Step &step) const {
    const algorithms::StepProgram &program = ranks[lane.rank].program;
    if (program.ragged) {
      int64_t sum = 0;
      for (int chunk = step.chunk; chunk < step.chunk + step.count; ++chunk)
        sum += (*options.counts)[size_t(program.shareOf(chunk, ranks[lane.rank].place) / program.channels)];
      return double(sum) / program.channels;
    }
    return double(algorithms::bufferBytes(program.collective, program.ranks, options.operand.value)) / program.chunks *
           step.count;
  }

  /// Messages from one rank to one lane that were delivered and not yet received, and the last delivery's time.
  struct Inbox {
    int source;
    int count = 0;
    double last = 0;
  };
  /// A lane hears from few others, which are looked through, or from all of them, which are found by a table.
  Inbox &inbox(int lane, int source) {
    constexpr size_t few = 16; // setting: how many are looked through
    std::vector<Inbox> &boxes = waiting[lane];
    auto key = [lane](int from) { return uint64_t(lane) << 32 | uint64_t(from); };
    if (boxes.size() <= few) {
      for (Inbox &box : boxes)
        if (box.source == source)
          return box;
      boxes.push_back({source});
      for (size_t i = 0; boxes.size() > few && i < boxes.size(); ++i)
        placeOf[key(boxes[i].source)] = i;
      return boxes.back();
    }
    auto [place, isNew] = placeOf.try_emplace(key(source), boxes.size());
    if (isNew)
      boxes.push_back({source});
    return boxes[place->second];
  }

  static bool sendsNext(const Lane &lane) {
    return lane.next < lane.steps.size() && lane.steps[lane.next]->action == Action::Send;
  }

  /// Steps of the message that the lane's next step begins.
  static size_t messageLength(const Lane &lane) {
    size_t length = 1;
    while (lane.steps[lane.next + length - 1]->more)
      ++length;
    return length;
  }

  double bytesOf(const Lane &lane, size_t length) const {
    double bytes = 0;
    for (size_t i = 0; i < length; ++i)
      bytes += bytesOf(lane, *lane.steps[lane.next + i]);
    return bytes;
  }

  /// Executes steps of a lane from `time` on, until it waits or is busy.
  void advance(int index, double time) {
    Lane &lane = lanes[index];
    ends[lane.rank] = std::max(ends[lane.rank], time);
    while (lane.next < lane.steps.size()) {
      const Step &step = *lane.steps[lane.next];
      int peer = (*ranks[lane.rank].group)[step.peer];
      size_t length = messageLength(lane);
      if (ranks[lane.rank].program.ragged && bytesOf(lane, length) == 0) { // on either side: there is no such message
        lane.next += length;
        continue;
      }
      if (step.action == Action::Send) {
        send(lane, length, peer, time);
        lane.next += length;
        if (ranks[lane.rank].program.channels > 1 && sendsNext(lane)) { // the rank's other lanes have their turn
          push(time, lane.rank, Event::Resume, index);
          return;
        }
        continue;
      }
      if (step.action != Action::Combine) {
        Inbox &box = inbox(index, peer);
        if (box.count == 0) {
          lane.waitsFor = peer;
          return;
        }
        --box.count;
      }
      lane.waitsFor = -1;
      double reduced = 0;
      for (size_t i = 0; i < length; ++i)
        if (lane.steps[lane.next + i]->action != Action::Receive)
          reduced += bytesOf(lane, *lane.steps[lane.next + i]);
      lane.next += length;
      double rate = ranks[lane.rank].reduction.value > 0 ? ranks[lane.rank].reduction.value : options.reduction.value;
      if (reduced > 0 && rate > 0 && !ranks[lane.rank].isSwitch) {
        double &free = reducerFree[lane.rank];
        free = std::max(free, time) + inTicks(reduced / rate);
        push(free, lane.rank, Event::Resume, index);
        return;
      }
    }
  }

  void send(Lane &lane, size_t length, int peer, double time) {
    Message message;
    message.source = lane.rank;
    message.targetLane = peer * channels + lane.channel;
    message.bytes = bytesOf(lane, length);
    if (options.transfer)
      message.bytes *= options.transfer(lane.rank, peer);
    if (options.excess)
      message.excess = inTicks(options.excess(lane.rank, peer, uint64_t(lane.channel) << 32 | lane.sent).value);
    ++lane.sent;
    if (!network.deals()) {
      message.path = network.path(lane.rank, peer);
      depart(message, time, -1);
      return;
    }
    std::vector<Topology::Path> paths = network.paths(lane.rank, peer);
    message.partsLeft = int(paths.size());
    message.bytes /= double(paths.size());
    int whole = -1;
    for (const Topology::Path &path : paths) {
      message.path = path;
      int part = depart(message, time, whole);
      whole = whole < 0 ? part : whole;
    }
  }

  /// `whole`: the first part of its message, or -1 for this one.
  int depart(const Message &message, double time, int whole) {
    int index = messages.add(message);
    messages[index].whole = whole < 0 ? index : whole;
    push(time, message.source, Event::Arrival, index);
    return index;
  }

  void enterLink(int index, double time) {
    Message &message = messages[index];
    if (message.hop == message.path.count) { // the head is at the target; the tail may still be on the way
      Message &whole = messages[message.whole];
      whole.latest = std::max({whole.latest, time, message.tail + message.excess});
      int first = message.whole;
      bool complete = --whole.partsLeft == 0;
      if (index != first)
        messages.remove(index);
      if (!complete)
        return;
      Inbox &box = inbox(whole.targetLane, whole.source);
      box.last = std::max(whole.latest, box.last); // messages of a pair do not overtake
      push(box.last, whole.source, Event::Delivery, first);
      return;
    }
    int link = message.path.links[message.hop++];
    double &free = contention ? linkFree[link] : ownFree[uint64_t(message.source) * linkFree.size() + uint64_t(link)];
    double start = std::max(time, free), latency = latencies[link];
    free = start + inTicks(message.bytes / network.links[link].bandwidth.value);
    message.tail = std::max(message.tail, free) + latency;
    push(start + latency, message.source, Event::Arrival, index);
  }

  void deliver(int index, double time) {
    const Message &message = messages[index];
    int lane = message.targetLane, source = message.source;
    ++inbox(lane, source).count;
    messages.remove(index);
    if (lanes[lane].waitsFor == source)
      advance(lane, time);
  }

  const std::vector<PlayedRank> &ranks;
  const PlayedNetwork &network;
  const PlayOptions &options;
  const bool contention;
  int channels = 1;
  std::vector<Lane> lanes; ///< rank * channels + channel
  std::vector<std::vector<Inbox>> waiting;
  std::unordered_map<uint64_t, size_t> placeOf; ///< in `waiting`, of lanes that hear from many
  Pool<Message> messages;
  std::priority_queue<Event> events;
  std::vector<double> latencies, linkFree, reducerFree;
  std::vector<double> ends;                     ///< of each rank's last step so far
  std::unordered_map<uint64_t, double> ownFree; ///< without contention: of each rank and link
  uint64_t number = 0;
};

} // namespace

Result<Seconds> playPrograms(const std::vector<PlayedRank> &ranks, const PlayedNetwork &network,
                             const PlayOptions &options) {
  return Player(ranks, network, options).run();
}

} // namespace braid::cost
