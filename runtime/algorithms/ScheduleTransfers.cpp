//===- ScheduleTransfers.cpp - when each transfer goes -----------------------------------------------------------===//
#include "PackTrees.h"
#include <algorithm>
#include <queue>

namespace braid::algorithms {

namespace {

class Scheduler {
public:
  Scheduler(const FabricGraph &graph, const Routes &routes, double bytes, std::vector<Transfer> &transfers)
      : graph(graph), routes(routes), bytes(bytes), transfers(transfers), way(transfers.size()),
        following(transfers.size()), ready(graph.links.size()), free(graph.links.size()), left(graph.links.size()) {}

  double run() {
    for (int t = int(transfers.size()); t-- > 0;) { // bringers come before what they bring
      way[t] += alone(t);
      if (int before = transfers[t].after; before >= 0) {
        way[before] = std::max(way[before], way[t]);
        following[before].push_back(t);
      }
    }
    for (int t = 0; t < int(transfers.size()); ++t)
      for (int link : route(t))
        left[link] += bytes / graph.links[link].bandwidth;
    for (int t = 0; t < int(transfers.size()); ++t)
      if (transfers[t].after < 0)
        arrive(t, 0);
    double last = 0;
    while (!events.empty()) {
      Event event = events.top();
      events.pop();
      if (event.transfer >= 0) { // it has arrived: what it brings is ready
        last = std::max(last, event.time);
        for (int t : following[event.transfer])
          arrive(t, event.time);
      } else {
        start(event.link, event.time);
      }
    }
    return last;
  }

private:
  struct Event {
    double time;
    int transfer, link;                    ///< an arrival, or -1: the link may be free
    bool operator<(const Event &o) const { // the earliest first; arrivals before starts
      if (time != o.time)
        return time > o.time;
      return transfer != o.transfer ? transfer < o.transfer : link > o.link;
    }
  };

  const std::vector<int> &route(int t) const { return routes.of(transfers[t].from, transfers[t].to); }

  double alone(int t) const {
    double latency = 0, slowest = 0;
    for (int link : route(t)) {
      latency += graph.links[link].latency;
      slowest = std::max(slowest, bytes / graph.links[link].bandwidth);
    }
    return latency + slowest;
  }

  void arrive(int t, double time) {
    int link = route(t)[0];
    ready[link].push_back(t);
    events.push({std::max(time, free[link]), -1, link});
  }

  void start(int link, double time) {
    if (time < free[link] || ready[link].empty())
      return; // taken meanwhile: there is an event for when it is free again
    std::vector<int> &list = ready[link];
    size_t best = 0;
    double bestWait = 0, bestUrgency = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      double wait = waitOf(list[i], time);
      double urgency = urgencyOf(list[i]);
      if (i == 0 || wait < bestWait || (wait == bestWait && urgency > bestUrgency)) {
        best = i;
        bestWait = wait;
        bestUrgency = urgency;
      }
    }
    int t = list[best];
    list.erase(list.begin() + long(best));
    transfers[t].begin = time;
    double head = time, tail = 0;
    for (int next : route(t)) {
      double begin = std::max(head, free[next]);
      left[next] -= bytes / graph.links[next].bandwidth;
      free[next] = begin + bytes / graph.links[next].bandwidth;
      tail = std::max(tail, free[next]) + graph.links[next].latency;
      head = begin + graph.links[next].latency;
    }
    transfers[t].end = std::max(head, tail);
    events.push({transfers[t].end, t, -1});
    events.push({free[link], -1, link});
  }

  /// What has to be done after its first link: the longest of what its links have left, and its own way to go.
  double urgencyOf(int t) const {
    double most = 0;
    const std::vector<int> &links = route(t);
    for (size_t i = 1; i < links.size(); ++i)
      most = std::max(most, left[links[i]]);
    return most + way[t];
  }

  /// How long its head would wait further on.
  double waitOf(int t, double time) const {
    double wait = 0, head = time;
    for (int link : route(t)) {
      wait += std::max(0.0, free[link] - head);
      head = std::max(head, free[link]) + graph.links[link].latency;
    }
    return wait;
  }

  const FabricGraph &graph;
  const Routes &routes;
  double bytes;
  std::vector<Transfer> &transfers;
  std::vector<double> way; ///< seconds from a transfer's begin to the end of what it brings, if nothing waits
  std::vector<std::vector<int>> following;
  std::vector<std::vector<int>> ready; ///< by first link
  std::vector<double> free, left;      ///< of a link: when it is free, and how long it has to work still
  std::priority_queue<Event> events;
};

} // namespace

double scheduleTransfers(const FabricGraph &graph, const Routes &routes, double pieceBytes,
                         std::vector<Transfer> &transfers) {
  return Scheduler(graph, routes, pieceBytes, transfers).run();
}

} // namespace braid::algorithms
