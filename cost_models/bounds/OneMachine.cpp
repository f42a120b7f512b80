//===- OneMachine.cpp - Jackson's preemptive schedule -----------------------------------------------------------===//
#include "bounds/OneMachine.h"
#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

using namespace braid::cost;

OneMachineBound braid::cost::jacksonBound(const std::vector<Job> &jobs) {
  std::vector<int> byHead(jobs.size());
  std::iota(byHead.begin(), byHead.end(), 0);
  std::stable_sort(byHead.begin(), byHead.end(), [&](int a, int b) { return jobs[a].head < jobs[b].head; });
  auto shorter = [&](int a, int b) { return jobs[a].tail != jobs[b].tail ? jobs[a].tail < jobs[b].tail : a > b; };
  std::priority_queue<int, std::vector<int>, decltype(shorter)> ready(shorter);

  // Pieces of the preemptive schedule: which job, and whether the resource stood idle before it.
  struct Piece {
    int job;
    bool afterIdle;
  };
  std::vector<Piece> pieces;
  std::vector<double> left(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i)
    left[i] = jobs[i].duration;
  double now = 0, latest = -1;
  int critical = -1;
  size_t lastPiece = 0;
  for (size_t next = 0; next < byHead.size() || !ready.empty();) {
    bool idle = pieces.empty();
    if (ready.empty() && jobs[byHead[next]].head > now) {
      now = jobs[byHead[next]].head;
      idle = true;
    }
    for (; next < byHead.size() && jobs[byHead[next]].head <= now; ++next)
      ready.push(byHead[next]);
    int job = ready.top();
    pieces.push_back({job, idle});
    double until = next < byHead.size() ? jobs[byHead[next]].head : now + left[job];
    if (now + left[job] <= until) {
      now += left[job];
      left[job] = 0;
      ready.pop();
      if (now + jobs[job].tail > latest) {
        latest = now + jobs[job].tail;
        critical = job;
        lastPiece = pieces.size() - 1;
      }
    } else {
      left[job] -= until - now;
      now = until;
    }
  }

  // Back from the end of the critical job, as long as the resource was busy with jobs of no shorter tail.
  OneMachineBound bound;
  if (critical < 0)
    return bound;
  std::vector<char> taken(jobs.size());
  double sum = 0;
  bound.head = bound.tail = 1e300;
  for (size_t at = lastPiece + 1; at-- > 0;) {
    int job = pieces[at].job;
    if (jobs[job].tail < jobs[critical].tail)
      break;
    if (!std::exchange(taken[job], 1)) {
      bound.jobs.push_back(job);
      sum += jobs[job].duration;
      bound.head = std::min(bound.head, jobs[job].head);
      bound.tail = std::min(bound.tail, jobs[job].tail);
    }
    if (pieces[at].afterIdle)
      break;
  }
  bound.time = bound.head + sum + bound.tail;
  return bound;
}
