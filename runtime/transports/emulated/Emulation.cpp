//===- Emulation.cpp - the state of the links, and who may run --------------------------------------------------===//
#include "transports/emulated/Emulation.h"
#include "transports/emulated/Fibers.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

namespace braid::runtime {

static int64_t monotonic() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

class Emulation::Locked {
public:
  explicit Locked(Emulation &emulation) : header(*emulation.header) { lock(); }
  ~Locked() { unlock(); }
  void lock() {
    if (pthread_mutex_lock(&header.lock) == EOWNERDEAD) { // what it left may be half done
      pthread_mutex_consistent(&header.lock);
      header.stuck = 1;
    }
  }
  void unlock() { pthread_mutex_unlock(&header.lock); }

private:
  Header &header;
};

//===- making one -----------------------------------------------------------------------------------------------===//

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

Emulation::Emulation(EmulatedProfile profile, const EmulationOptions &options, Parker &parker)
    : profile(std::move(profile)), options(options), parker(parker) {
  double shortest = this->profile.shortestLatency();
  if (options.time == EmulatedTime::Wall && shortest > 0)
    stretch = std::max(1.0, options.shortestDelay / shortest);
  capacity = options.messages * 2;
  for (const EmulatedLink &link : this->profile.links)
    spines = std::max(spines, link.spine + 1);
}

void Emulation::layOut(void *region) {
  char *at = static_cast<char *>(region);
  auto take = [&](size_t bytes) {
    char *here = at;
    at += aligned(bytes);
    return here;
  };
  size_t n = size_t(profile.ranks);
  header = reinterpret_cast<Header *>(take(sizeof(Header)));
  ranks = reinterpret_cast<RankState *>(take(n * sizeof(RankState)));
  lanes = reinterpret_cast<LaneState *>(take(size_t(options.lanes) * sizeof(LaneState)));
  linkFree = reinterpret_cast<double *>(take(profile.links.size() * sizeof(double)));
  events = reinterpret_cast<Event *>(take(size_t(capacity) * sizeof(Event)));
  flights = reinterpret_cast<Flight *>(take(size_t(options.messages) * sizeof(Flight)));
}

size_t Emulation::regionBytes(const EmulatedProfile &profile, const EmulationOptions &options) {
  size_t n = size_t(profile.ranks);
  return aligned(sizeof(Header)) + aligned(n * sizeof(RankState)) + aligned(size_t(options.lanes) * sizeof(LaneState)) +
         aligned(profile.links.size() * sizeof(double)) + aligned(size_t(options.messages) * 2 * sizeof(Event)) +
         aligned(size_t(options.messages) * sizeof(Flight));
}

/// Zeroes are valid lanes, links, events and messages; large parts of the region are never touched.
void Emulation::initialise() {
  new (header) Header();
  for (int rank = 0; rank < profile.ranks; ++rank)
    new (&ranks[rank]) RankState();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&header->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  header->running = profile.ranks; // ranks that have not come yet hold time up too
  header->origin = monotonic();
  header->ready.store(1, std::memory_order_release);
}

std::shared_ptr<Emulation> Emulation::inProcess(EmulatedProfile profile, const EmulationOptions &options,
                                                Parker &parker) {
  std::shared_ptr<Emulation> made(new Emulation(std::move(profile), options, parker));
  size_t bytes = regionBytes(made->profile, options);
  made->owned.reset(new char[bytes + 64]);
  char *start = made->owned.get() + (64 - reinterpret_cast<uintptr_t>(made->owned.get()) % 64) % 64;
  made->layOut(start);
  std::memset(start, 0, size_t(reinterpret_cast<char *>(made->events) - start));
  made->initialise();
  made->startPacer();
  return made;
}

std::shared_ptr<Emulation> Emulation::attach(EmulatedProfile profile, const EmulationOptions &options, void *region,
                                             bool first) {
  Fibers *fibers = Fibers::running();
  std::shared_ptr<Emulation> made(
      new Emulation(std::move(profile), options, fibers ? static_cast<Parker &>(*fibers) : futexParker()));
  made->layOut(region);
  if (first) {
    made->initialise();
    made->startPacer();
  }
  timespec pause = {0, 100000};
  while (made->header->ready.load(std::memory_order_acquire) == 0)
    if (fibers)
      fibers->yield();
    else
      nanosleep(&pause, nullptr);
  return made;
}

void Emulation::startPacer() {
  if (!isVirtual())
    pacer = std::thread([this] { pace(); });
}

Emulation::~Emulation() { stopPacer(); }

void Emulation::stopPacer() {
  over = true;
  if (pacer.joinable()) {
    ++header->pacer;
    futexParker().unpark(-1, header->pacer);
    pacer.join();
  }
}

//===- events ---------------------------------------------------------------------------------------------------===//

double Emulation::now() {
  if (isVirtual())
    return header->now;
  return double(monotonic() - header->origin) * 1e-9 / stretch;
}

void Emulation::push(double time, int rank, Event::Kind kind, int64_t index) {
  if (header->queued == capacity) {
    header->stuck = 1;
    return;
  }
  bool earliest = header->queued == 0 || time < events[0].time;
  events[header->queued++] = {time, rank, kind, header->events++, index};
  std::push_heap(events, events + header->queued);
  if (earliest && !isVirtual()) {
    ++header->pacer;
    futexParker().unpark(-1, header->pacer);
  }
}

LaneState *Emulation::lane(int source, int target, int communicator, int number, bool make) {
  uint64_t key = uint64_t(source * profile.ranks + target + 1) << 44 |
                 uint64_t(communicator & mostCommunicators) << 32 | uint32_t(number);
  uint64_t mask = uint64_t(options.lanes) - 1, at = draws::mix(0, key) & mask;
  auto find = [&] {
    for (int64_t probes = 0; probes < options.lanes; ++probes, at = (at + 1) & mask) {
      uint64_t here = lanes[at].key.load(std::memory_order_acquire);
      if (here == key || here == 0)
        return here == key;
    }
    at = ~0ull; // the table is full
    return false;
  };
  if (find())
    return &lanes[at];
  if (!make || at == ~0ull)
    return nullptr;
  Locked lock(*this);
  if (find())
    return &lanes[at]; // made meanwhile
  if (at == ~0ull)
    return nullptr;
  lanes[at].source = source;
  lanes[at].target = target;
  lanes[at].key.store(key, std::memory_order_release);
  return &lanes[at];
}

bool Emulation::send(const Departure &d) {
  Locked lock(*this);
  int source = d.lane->source, target = d.lane->target;
  const std::vector<std::vector<int>> &ways = profile.waysOf(source, target);
  int parts = int(ways.size()), uplinks = 0;
  for (int link : ways[0])
    if (profile.links[link].spine >= 0) { // flows are hashed over the uplinks, as the job's draw says
      uplinks = profile.noise[int(LinkClass::Inter)].collisionUplinks;
      if (uplinks > 0)
        parts = std::max(1, profile.noise[int(LinkClass::Inter)].collisionFlowsPerNic);
      break;
    }
  if (header->queued + parts > capacity / 2)
    return false;
  double time = now();
  int32_t first = -1;
  for (int part = 0; part < parts; ++part) {
    int32_t index = header->unused;
    if (index >= 0)
      header->unused = flights[index].nextUnused;
    else if (header->made < options.messages)
      index = int32_t(header->made++);
    else
      return false;
    Flight &f = flights[index];
    f = Flight();
    const std::vector<int> &path = ways[size_t(part) % ways.size()];
    f.hops = int32_t(path.size());
    std::copy(path.begin(), path.end(), f.links);
    if (uplinks > 0) {
      uint64_t flow = uint64_t(profile.device[source]) << 16 ^ uint64_t(profile.device[target]);
      int spine =
          draws::uplink(uplinks, flow, uint64_t(d.number) * uint64_t(parts) + uint64_t(part), options.seed, d.job);
      for (int32_t &link : f.links)
        if (&link < f.links + f.hops && profile.links[link].spine >= 0)
          link += 2 * (spine % spines - profile.links[link].spine); // links to consecutive spines are two apart
    }
    first = part == 0 ? index : first;
    f.whole = first;
    f.partsLeft = parts;
    f.pieces = d.pieces;
    f.source = source;
    f.target = target;
    f.lane = int32_t(d.lane - lanes);
    f.bytes = d.bytes / parts;
    f.factor[0] = d.factor[0];
    f.factor[1] = d.factor[1];
    f.excess = d.excess;
    push(time, source, Event::Arrival, index);
  }
  return true;
}

void Emulation::enterLink(int64_t index, double time) {
  Flight &f = flights[index];
  if (f.hop == f.hops) { // the head is at the target; the tail may still be on the way
    Flight &whole = flights[f.whole];
    whole.latest = std::max({whole.latest, time, f.tail + f.excess});
    int32_t wholeIndex = f.whole;
    bool complete = --whole.partsLeft == 0;
    if (index != wholeIndex) {
      f.nextUnused = header->unused;
      header->unused = int32_t(index);
    }
    if (!complete)
      return;
    LaneState &lane = lanes[whole.lane];
    lane.last = std::max(whole.latest, lane.last); // messages of a lane do not overtake
    push(lane.last, whole.source, Event::Delivery, wholeIndex);
    return;
  }
  int link = f.links[f.hop++];
  const EmulatedLink &l = profile.links[link];
  double start = std::max(time, linkFree[link]), latency = l.latency * f.factor[int(l.of)];
  linkFree[link] = start + f.bytes / l.bandwidth;
  f.tail = std::max(f.tail, linkFree[link]) + latency;
  push(start + latency, f.source, Event::Arrival, index);
}

void Emulation::handle(const Event &event) {
  if (event.kind == Event::Arrival)
    return enterLink(event.index, event.time);
  if (event.kind == Event::Delivery) {
    Flight &f = flights[event.index];
    lanes[f.lane].delivered.fetch_add(uint64_t(f.pieces), std::memory_order_release);
    int target = f.target;
    f.nextUnused = header->unused;
    header->unused = int32_t(event.index);
    return wake(target);
  }
  RankState &rank = ranks[event.rank];
  for (int i = 0; i < rank.armed; ++i)
    if (rank.timer[i] == event.time) {
      rank.timer[i] = rank.timer[--rank.armed];
      break;
    }
  wake(event.rank);
}

//===- who may run ----------------------------------------------------------------------------------------------===//

void Emulation::wake(int number) {
  RankState &rank = ranks[number];
  rank.signalled = true;
  bool blocked = rank.state == RankState::Blocked;
  if (!blocked && !rank.watched)
    return;
  rank.watched = false;
  if (blocked) {
    rank.state = RankState::Running;
    ++header->running;
  }
  rank.word.fetch_add(1, std::memory_order_release);
  parker.unpark(number, rank.word);
}

/// Lets the first sender see what its receivers have accepted; true if that woke it.
bool Emulation::showAccepted() {
  for (int rank = 0; rank < profile.ranks && header->newly > 0; ++rank) {
    if (ranks[rank].newly == 0)
      continue;
    for (int32_t next = ranks[rank].newly; next != 0;) {
      LaneState &lane = lanes[next - 1];
      lane.accepted.store(lane.acceptedSoFar, std::memory_order_release);
      lane.newly = false;
      next = lane.nextNewly;
    }
    ranks[rank].newly = 0;
    --header->newly;
    if (ranks[rank].wantsAccepted) {
      ranks[rank].wantsAccepted = false;
      wake(rank);
      if (header->running > 0) // not one that is gone
        return true;
    }
  }
  return false;
}

/// Virtual time, every rank blocked: moves on until one may run.
void Emulation::advance() {
  while (header->running == 0) {
    if (showAccepted())
      return;
    if (header->queued == 0) {
      if (header->outside > 0 || header->gone > 0 || header->stuck)
        return; // they may come back and send something; who waits for one that is gone hears that from its transport
      header->stuck = 1;
      for (int rank = 0; rank < profile.ranks; ++rank)
        wake(rank);
      return;
    }
    std::pop_heap(events, events + header->queued);
    Event event = events[--header->queued];
    header->now = event.time;
    handle(event);
  }
}

void Emulation::block(int number, const Pump &pump) {
  RankState &rank = ranks[number];
  Locked lock(*this);
  if (rank.signalled || header->stuck || rank.state == RankState::Gone) {
    rank.signalled = false;
    return;
  }
  rank.state = RankState::Blocked;
  --header->running;
  if (isVirtual() && header->running == 0)
    advance();
  double most = longestSleep;
  double slept = 0;
  for (double sleep = 0.0002; rank.state == RankState::Blocked && most >= 0 && slept < longestBlock;
       sleep = std::min(2 * sleep, most)) {
    slept += sleep;
    uint32_t seen = rank.word.load(std::memory_order_acquire);
    lock.unlock();
    parker.park(number, rank.word, seen, sleep);
    most = pump();
    lock.lock();
    if (!isVirtual() && slept > longestBlock / 2)
      handleDue(); // should the process with the pacer be gone
  }
  if (rank.state == RankState::Blocked) {
    rank.state = RankState::Running;
    ++header->running;
  }
  rank.signalled = false;
}

uint32_t Emulation::watch(int number) {
  Locked lock(*this);
  ranks[number].watched = true;
  return ranks[number].word.load(std::memory_order_acquire);
}

void Emulation::sleepWatching(int number, uint32_t seen, double atMost) {
  parker.park(number, ranks[number].word, seen, atMost);
}

void Emulation::accept(LaneState &lane) {
  Locked lock(*this);
  RankState &sender = ranks[lane.source];
  ++lane.acceptedSoFar;
  if (isVirtual()) {
    if (!lane.newly) {
      lane.newly = true;
      lane.nextNewly = sender.newly;
      header->newly += sender.newly == 0;
      sender.newly = int32_t(&lane - lanes) + 1;
    }
    return;
  }
  lane.accepted.store(lane.acceptedSoFar, std::memory_order_release);
  if (sender.wantsAccepted) {
    sender.wantsAccepted = false;
    wake(lane.source);
  }
}

uint64_t Emulation::accepted(LaneState &lane, bool wait) {
  RankState &sender = ranks[lane.source];
  if (wait && !sender.wantsAccepted) {
    Locked lock(*this);
    sender.wantsAccepted = true;
  }
  return lane.accepted.load(std::memory_order_acquire);
}

void Emulation::wakeAt(int number, double time) {
  Locked lock(*this);
  RankState &rank = ranks[number];
  if (time <= now()) {
    rank.signalled = true;
    return;
  }
  for (int i = 0; i < rank.armed; ++i)
    if (rank.timer[i] == time)
      return;
  if (rank.armed < RankState::timers)
    rank.timer[rank.armed++] = time;
  push(time, number, Event::Timer, -1);
}

double Emulation::reduced(int number, double bytes) {
  double time = now();
  double rate = profile.reduction[size_t(number)];
  if (rate <= 0)
    return time;
  double &free = ranks[number].reducerFree; // only this rank's own thread asks
  free = std::max(free, time) + bytes / rate;
  return free;
}

void Emulation::align(int number, const Pump &pump) {
  uint32_t mine;
  {
    Locked lock(*this);
    mine = header->alignments;
    ++header->aligned;
    ranks[number].aligning = true;
    if (alignAll(number))
      return;
  }
  while (true) {
    {
      Locked lock(*this);
      if (header->alignments != mine || header->stuck)
        return;
    }
    bool given = false;
    block(number, [&] {
      double most = pump();
      given = most < 0;
      return most;
    });
    if (given) {
      Locked lock(*this);
      header->aligned -= ranks[number].aligning;
      ranks[number].aligning = false;
      return;
    }
  }
}

/// If all ranks that are still there wait in align(), lets them go on.
bool Emulation::alignAll(int caller) {
  if (header->aligned == 0 || header->aligned < profile.ranks - header->gone)
    return false;
  header->aligned = 0;
  ++header->alignments;
  for (int rank = 0; rank < profile.ranks; ++rank)
    if (std::exchange(ranks[rank].aligning, false) && rank != caller)
      wake(rank);
  return true;
}

void Emulation::leave(int number) {
  Locked lock(*this);
  if (ranks[number].state == RankState::Gone)
    return;
  ranks[number].state = RankState::Outside;
  ++header->outside;
  --header->running;
  if (isVirtual() && header->running == 0)
    advance();
}

void Emulation::gone(int number) {
  Locked lock(*this);
  RankState &rank = ranks[number];
  if (rank.state == RankState::Gone)
    return;
  header->outside -= rank.state == RankState::Outside;
  header->running -= rank.state == RankState::Running;
  header->aligned -= rank.aligning;
  rank.aligning = false;
  rank.state = RankState::Gone;
  ++header->gone;
  alignAll(number);
  if (isVirtual() && header->running == 0)
    advance();
}

void Emulation::enter(int number) {
  Locked lock(*this);
  if (ranks[number].state == RankState::Gone)
    return;
  ranks[number].state = RankState::Running;
  --header->outside;
  ++header->running;
}

//===- wall time ------------------------------------------------------------------------------------------------===//

/// Handles the events whose time has come; the machine's seconds until the next one. The lock is held.
double Emulation::handleDue() {
  while (header->queued > 0) {
    double left = (events[0].time - now()) * stretch;
    if (left > 0)
      return left;
    std::pop_heap(events, events + header->queued);
    Event event = events[--header->queued];
    handle(event);
  }
  return 0.1;
}

void Emulation::pace() {
  while (!over) {
    uint32_t seen = header->pacer.load(std::memory_order_acquire);
    double wait;
    {
      Locked lock(*this);
      wait = std::min(0.1, handleDue());
    }
    futexParker().park(-1, header->pacer, seen, wait);
  }
}

} // namespace braid::runtime
