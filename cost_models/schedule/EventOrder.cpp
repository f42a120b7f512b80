//===- EventOrder.cpp - one block's schedule as an order that can be changed and undone ----------------------------===//
#include "schedule/EventOrder.h"
#include "schedule/Contraction.h"
#include <algorithm>
#include <utility>

using namespace braid::cost;

EventOrder::EventOrder(const Block &block, const BlockSchedule &start, const Pricer &pricer, int inFlight,
                       const std::vector<Seconds> &times)
    : block(block), pricer(pricer), slowdown(pricer.cluster().compute), inFlight(std::max(1, inFlight)),
      segments(segmentsOf(block)) {
  size_t count = block.tasks.size();
  std::vector<int> chained = chainOf(block);
  for (auto *lists : {&reads, &before, &after, &members})
    lists->resize(count);
  for (auto *numbers : {&leader, &fabrics, &candidates, &places})
    numbers->resize(count);
  kinds.resize(count);
  durations.resize(count);
  played.resize(count);
  kept.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const Task &task = block.tasks[i];
    kinds[i] = task.kind == Task::Compute      ? Kernel
               : task.kind != Task::Collective ? Alone
               : task.asynchronous             ? Start
                                               : Blocking;
    before[i] = task.operands;
    if (chained[i] >= 0)
      before[i].push_back(chained[i]);
    for (int other : before[i])
      after[other].push_back(int(i));
    for (int operand : task.operands)
      if (block.tasks[operand].kind == Task::Collective)
        reads[i].push_back(operand);
    leader[i] = int(i);
    members[i] = {int(i)};
    durations[i] = task.kind == Task::Nested ? task.trips * times[task.block].value : task.duration.value;
  }
  takeBuckets(start);
  for (const Event &event : start.order)
    if (event.kind != Event::Wait)
      order.push_back(event.kind == Event::Run ? event.index : start.buckets[event.index].tasks.front());
  renumber();
  play(1e300);
  accept();
}

void EventOrder::takeBuckets(const BlockSchedule &start) {
  for (const Bucket &bucket : start.buckets) {
    int first = bucket.tasks.front();
    CollectiveSpec spec = mergedSpec(block, bucket);
    for (int task : bucket.tasks) {
      members[task].clear();
      leader[task] = first;
      fabrics[task] = int(pricer.fabric(spec));
      if (block.tasks[task].key >= 0 && kinds[task] == Start && !block.tasks[task].spec.counts)
        keys[{segments[task], block.tasks[task].key}].push_back(task);
    }
    members[first] = bucket.tasks;
    candidates[first] = bucket.candidate;
    durations[first] = pricer.candidates(spec)[bucket.candidate].time.value;
  }
  for (auto &[key, tasks] : keys)
    if (tasks.size() > 1)
      shareable.insert(shareable.end(), tasks.begin(), tasks.end());
}

double EventOrder::meanDuration() const {
  double sum = 0;
  for (int node : order)
    sum += durations[node];
  return sum / std::max(1.0, double(order.size()));
}

/// After a change of buckets, or back from one: everything is played again. What is known of later places stays: after a rejected
/// change it is true again.
void EventOrder::renumber() {
  moments.resize(order.size() + 1);
  trial.resize(order.size() + 1);
  moments[0] = {};
  for (int at = 0; at < size(); ++at) {
    places[order[at]] = at;
    (isBucket(order[at]) ? moments[0].load[fabrics[order[at]]] : moments[0].work) += durations[order[at]];
  }
  changed = 0;
}

//===- playing --------------------------------------------------------------------------------------------------===//

double EventOrder::pass(int until, double end) {
  stopped = until;
  work += stopped - changed;
  return end;
}

double EventOrder::play(double limit) {
  Moment now = moments[changed];
  for (int at = changed; at < size(); ++at) {
    trial[at] = now;
    int node = order[at], why = now.stream;
    auto wait = [&](double end, int other) {
      if (end > now.clock) {
        now.clock = end;
        why = other;
      }
    };
    for (int member : members[node])
      for (int operand : reads[member])
        wait(played[leader[operand]].end, leader[operand]);
    double end;
    if (isBucket(node)) {
      int f = fabrics[node], number = now.started[f]++;
      std::vector<int> &starts = history[f];
      starts.resize(std::max(starts.size(), size_t(number) + 1));
      if (number >= inFlight) // channels are queues: those before it have ended, too
        wait(played[starts[number - inFlight]].end, starts[number - inFlight]);
      double begin = now.clock;
      if (now.channel[f] > begin) {
        begin = now.channel[f];
        why = starts[number - 1];
      }
      starts[number] = node;
      end = now.channel[f] = begin + durations[node];
      now.load[f] -= durations[node];
      if (kinds[node] == Blocking)
        now.clock = end;
      if (end + now.load[f] > limit || now.clock + now.work > limit)
        return pass(at + 1, 1e300);
    } else {
      for (int f : {0, 1})
        if (kinds[node] == Alone && now.started[f])
          wait(now.channel[f], history[f][now.started[f] - 1]);
      end = now.clock += slowdown.elapsed(durations[node], now.clock, now.channel);
      now.work -= durations[node];
      if (end + now.work > limit)
        return pass(at + 1, 1e300);
    }
    played[node] = {end, why};
    if (end > now.last) {
      now.last = end;
      now.longest = node;
    }
    now.stream = node;
  }
  trial[order.size()] = now;
  return pass(size(), now.last);
}

void EventOrder::accept() {
  std::copy(trial.begin() + changed, trial.end(), moments.begin() + changed);
  for (int at = changed; at < size(); ++at) {
    kept[order[at]] = played[order[at]];
    places[order[at]] = at;
  }
  for (int f : {0, 1}) {
    size_t from = size_t(moments[changed].started[f]);
    keptHistory[f].resize(history[f].size());
    std::copy(history[f].begin() + long(from), history[f].end(), keptHistory[f].begin() + long(from));
  }
  chain.clear();
  for (int node = moments.back().longest; node >= 0; node = played[node].from)
    chain.push_back(node);
  rebucketed = false;
}

void EventOrder::reject() {
  if (rebucketed) { // rare
    order = saved.order;
    leader = saved.leader;
    durations = saved.durations;
    candidates = saved.candidates;
    for (auto &[node, tasks] : saved.members)
      members[node] = tasks;
    renumber();
    rebucketed = false;
    played = kept;
    for (int f : {0, 1})
      history[f] = keptHistory[f];
    return;
  }
  for (int at = changed; at < stopped; ++at)
    played[order[at]] = kept[order[at]];
  std::copy(window.begin(), window.end(), order.begin() + changed);
  for (int f : {0, 1}) {
    size_t from = size_t(moments[changed].started[f]);
    history[f].resize(keptHistory[f].size());
    std::copy(keptHistory[f].begin() + long(from), keptHistory[f].end(), history[f].begin() + long(from));
  }
}

/// Before the buckets of these nodes change.
void EventOrder::save(std::initializer_list<int> nodes) {
  saved.order = order;
  saved.leader = leader;
  saved.durations = durations;
  saved.candidates = candidates;
  saved.members.clear();
  for (int node : nodes)
    saved.members.push_back({node, members[node]});
}

void EventOrder::set(const State &state) {
  order = state.order;
  leader = state.leader;
  members = state.members;
  durations = state.durations;
  candidates = state.candidates;
  renumber();
}

double EventOrder::restore(const State &state) {
  set(state);
  renumber();
  double time = play(1e300);
  accept();
  return time;
}

//===- changes --------------------------------------------------------------------------------------------------===//

bool EventOrder::shift(int at, int to) {
  int node = order[at];
  while (segments[order[to]] != segments[node])
    to += to < at ? 1 : -1;
  if (to == at)
    return false;
  bool earlier = to < at;
  changed = std::min(at, to);
  window.assign(order.begin() + changed, order.begin() + std::max(at, to) + 1);
  size_t size = window.size();
  marked.assign(size, 0);
  work += int64_t(size) / 2;
  marked[earlier ? size - 1 : 0] = 1;
  for (size_t k = 0; k < size; ++k) {
    size_t w = earlier ? size - 1 - k : k;
    if (!marked[w])
      continue;
    for (int member : members[window[w]])
      for (int other : (earlier ? before : after)[member]) {
        int place = places[leader[other]] - changed;
        if (place >= 0 && place < int(size))
          marked[place] = 1;
      }
  }
  // What goes along keeps its order, and so does what stays.
  auto next = order.begin() + changed;
  for (char first : {char(earlier), char(!earlier)})
    for (size_t w = 0; w < size; ++w)
      if (marked[w] == first)
        *next++ = window[w];
  return true;
}

bool EventOrder::join(int one, int other) {
  const CollectiveSpec &a = block.tasks[one].spec, &b = block.tasks[other].spec;
  if (one == other || a.kind != b.kind || a.groups != b.groups || a.elementType != b.elementType)
    return false;
  if (places[one] > places[other])
    std::swap(one, other);
  save({one, other});
  int from = places[one], to = places[other];
  shift(from, to);
  auto begin = order.begin() + from, end = order.begin() + to + 1;
  auto first = std::find(begin, end, one), second = std::find(begin, end, other);
  if (second > first) { // it was taken along: it waits for the other
    std::copy(window.begin(), window.end(), order.begin() + changed);
    return false;
  }
  std::vector<int> all;
  std::merge(members[one].begin(), members[one].end(), members[other].begin(), members[other].end(),
             std::back_inserter(all));
  *first = all.front();
  order.erase(second);
  members[one].clear();
  members[other].clear();
  for (int member : all)
    leader[member] = all.front();
  int merged = all.front();
  members[merged] = std::move(all);
  reprice(merged);
  rebucketed = true;
  renumber();
  return true;
}

bool EventOrder::leave(int task, int reach) {
  int old = leader[task], at = places[old];
  if (members[old].size() < 2)
    return false;
  std::vector<int> staying;
  for (int member : members[old])
    if (member != task)
      staying.push_back(member);
  int first = staying.front();
  save({old, task, first});
  rebucketed = true;
  members[old].clear();
  for (int member : staying)
    leader[member] = first;
  members[first] = std::move(staying);
  leader[task] = task;
  members[task] = {task};
  reprice(first);
  reprice(task);
  order[at] = reach < 0 ? task : first;
  order.insert(order.begin() + at + 1, reach < 0 ? first : task);
  renumber();
  int place = places[task];
  shift(place, std::clamp(place + reach, 0, size() - 1));
  renumber();
  return true;
}

/// The cheapest candidate. Sums that nobody asked for before are read off a line.
void EventOrder::reprice(int first) {
  CollectiveSpec spec = mergedSpec(block, {members[first], 0});
  candidates[first] = cheapest;
  if (members[first].size() == 1) {
    durations[first] = pricer.cheapestTime(spec).value;
    return;
  }
  auto line = lines.try_emplace({block.tasks[first].key, int(spec.kind)}, pricer, spec).first;
  durations[first] = line->second(double(spec.bytes.value), true);
}

/// Runs, starts and waits, each with its node: waits stand where something needs them.
template <class Visit> void EventOrder::forEachEvent(Visit visit) const {
  std::vector<int> flight[2];
  std::vector<char> awaited(block.tasks.size());
  auto await = [&](int node) {
    if (std::exchange(awaited[node], 1))
      return;
    visit(Event::Wait, node);
    std::vector<int> &list = flight[fabrics[node]];
    list.erase(std::find(list.begin(), list.end(), node));
  };
  auto awaitAll = [&] {
    for (std::vector<int> &list : flight)
      while (!list.empty())
        await(list.front());
  };
  for (int node : order) {
    if (kinds[node] == Alone)
      awaitAll();
    for (int member : members[node])
      for (int operand : reads[member])
        await(leader[operand]);
    if (!isBucket(node)) {
      visit(Event::Run, node);
      continue;
    }
    std::vector<int> &list = flight[fabrics[node]];
    while (int(list.size()) >= inFlight)
      await(list.front());
    visit(Event::Start, node);
    list.push_back(node);
    if (kinds[node] == Blocking)
      await(node);
  }
  awaitAll();
}

BlockSchedule EventOrder::written() const {
  BlockSchedule schedule;
  std::vector<int> number(block.tasks.size(), -1);
  for (int node : order)
    if (isBucket(node)) {
      number[node] = int(schedule.buckets.size());
      schedule.buckets.push_back({members[node], candidates[node]});
      if (candidates[node] == cheapest)
        schedule.buckets.back().candidate = pricer.cheapest(mergedSpec(block, schedule.buckets.back()));
    }
  forEachEvent(
      [&](Event::Kind kind, int node) { schedule.order.push_back({kind, kind == Event::Run ? node : number[node]}); });
  return schedule;
}

/// As simulate/Memory.cpp counts a schedule.
Bytes EventOrder::peak(const std::vector<Bytes> &peaks) {
  size_t count = block.tasks.size();
  std::vector<int> born(count, -1), last(count, -1);
  std::vector<Bytes> nested;
  forEachEvent([&](Event::Kind kind, int node) {
    int event = int(nested.size());
    nested.push_back(kind == Event::Run && block.tasks[node].kind == Task::Nested ? peaks[block.tasks[node].block]
                                                                                  : Bytes{});
    for (int member : members[node]) {
      if (kind != Event::Wait)
        born[member] = event;
      last[member] = event;
      for (int operand : block.tasks[member].operands)
        last[operand] = event;
    }
  });
  std::vector<Bytes> change(nested.size() + 1);
  for (size_t task = 0; task < count; ++task) {
    if (born[task] < 0)
      continue;
    change[born[task]] += block.tasks[task].result;
    if (!block.tasks[task].escapes)
      change[last[task] + 1] -= block.tasks[task].result;
  }
  work += int64_t(nested.size());
  Bytes now = block.live, most = block.live;
  for (size_t event = 0; event < nested.size(); ++event) {
    now += change[event];
    most = std::max(most, now + nested[event]);
  }
  return most;
}
