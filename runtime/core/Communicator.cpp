//===- Communicator.cpp - ranks that operate together -------------------------------------------------------------===//
#include "core/Communicator.h"
#include "braid/runtime/algorithms/Levels.h"
#include "core/Log.h"
#include "core/Staging.h"
#include "core/Waiting.h"
#include "engines/Engines.h"
#include "engines/islands/Islands.h"
#include "transports/Clock.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>

namespace braid::runtime {

Outcome Communicator::create(std::shared_ptr<Exchange> exchange, std::vector<int> members, const std::string &key,
                             const CommunicatorOptions &options, std::unique_ptr<Communicator> &comm,
                             Communicator *parent) {
  std::unique_ptr<Communicator> made(new Communicator());
  made->me = int(std::find(members.begin(), members.end(), exchange->rank()) - members.begin());
  made->exchange = std::move(exchange);
  made->members = std::move(members);
  made->key = key;
  made->settings = options;
  TransportContext context{*made->exchange, made->members, made->me,    key,          options.deadline,
                           options.profile, options.seed,  options.job, options.clock};
  if (!parent || options.paths == "off") // those of a subset would have the same ports again
    context.paths = options.paths;
  auto notConnected = [&](const Outcome &why) -> Outcome {
    std::string own =
        "rank " + std::to_string(made->exchange->rank()) + ": "; // of what this rank has told the others, too
    return {why.status, made->named(made->me) + ": " + (made->whole() ? "" : made->group() + ": ") +
                            why.text.substr(why.text.compare(0, own.size(), own) == 0 ? own.size() : 0)};
  };
  Outcome connected = made->greet();
  if (connected)
    connected = makeTransport(options.transport, context, made->carrier);
  if (!connected)
    return notConnected(connected);
  made->findHosts();
  for (int lane = 1; lane < collectiveLanes; ++lane)
    made->freeLanes.insert(made->freeLanes.end(), lane);
  made->told.resize(size_t(made->size()));
  for (int host : made->hosts)
    made->crossesHosts |= host != made->hosts[0];
  made->family = parent ? parent->family : std::make_shared<Family>();
  made->family->join(*made);
  connected = made->connectEngines(parent);
  if (!connected)
    return notConnected(connected);
  comm = std::move(made);
  return {};
}

/// Before anything that ranks could wait for: do they want the same, from libraries of one version?
Outcome Communicator::greet() {
  std::random_device random;
  bool emulated = settings.transport.compare(0, 8, "emulated") == 0;
  std::string wants = "version " + std::to_string(BRAID_RT_VERSION) + ", transport '" + settings.transport + "'" +
                      (emulated ? ", seed " + std::to_string(settings.seed) + ", job " + std::to_string(settings.job) +
                                      ", clock '" + settings.clock + "'"
                                : "");
  if (!settings.paths.empty())
    wants += ", paths " + (settings.paths.size() < 64 ? settings.paths : settings.paths.substr(0, 64) + "...") + " (" +
             std::to_string(std::hash<std::string>()(settings.paths)) + ")";
  if (!settings.engine.empty() && settings.engine != braidEngine)
    wants += ", engine " + settings.engine;
  if (!settings.islands.empty())
    wants += ", islands " + settings.islands;
  std::vector<std::string> all;
  std::string nonce = std::to_string(random()) + "." + std::to_string(random());
  Outcome met = exchange->allgather(key + "/hello", members, nonce + " " + wants, settings.deadline, all);
  if (!met)
    return met;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (std::string theirs = all[rank].substr(all[rank].find(' ') + 1); theirs != wants)
      return {BRAID_MISMATCH,
              "communicator: expected " + wants + " on all ranks, got " + theirs + " on " + named(int(rank))};
    for (char c : all[rank])
      scope = (scope ^ static_cast<unsigned char>(c)) * 1099511628211u; // FNV-1a
  }
  scope += scope == 0;
  return {};
}

bool Communicator::whole() const {
  for (int rank = 0; rank < size(); ++rank)
    if (members[size_t(rank)] != rank)
      return false;
  return true;
}

std::string Communicator::named(int rank) const {
  return "rank " + std::to_string(members[size_t(rank)]) + (whole() ? "" : " of the job");
}

std::string Communicator::group() const {
  std::string text = "communicator of ranks ";
  for (size_t i = 0; i < members.size() && i < 16; ++i)
    text += (i ? ", " : "") + std::to_string(members[i]);
  return text + (members.size() > 16 ? ", ..." : "") + " of the job";
}

void Communicator::findHosts() {
  hosts = carrier->hosts();
  if (hosts.empty())
    for (int rank = 0; rank < size(); ++rank) {
      int first = 0;
      while (first < rank &&
             (hosts[size_t(first)] != first || !exchange->sameHost(members[size_t(first)], members[size_t(rank)])))
        ++first;
      hosts.push_back(first);
    }
  hosts = algorithms::levels(std::move(hosts));
}

/// The engines that its ranks have named, one after another; of islands, those of its ranks.
Outcome Communicator::connectEngines(Communicator *parent) {
  Outcome done = readEngines(settings.engine, engineNames);
  if (done && !settings.islands.empty()) {
    islands::Layout layout;
    done = islands::readLayout(settings.islands, members, me, layout);
    if (done && layout.islands.size() == 1)
      engineNames = {layout.islands[0].engine};
    else if (done && int(layout.islands.size()) < size()) // else there is nothing inside islands
      engineNames = {"islands"};
    if (done && engineNames[0] == "islands" && !carrier->clock() && carrier->carriesData())
      return islands::make(*this, layout, engines["islands"]);
  }
  for (const std::string &name : engineNames) {
    if (!done || name == braidEngine)
      continue;
    if (carrier->clock() || !carrier->carriesData())
      return {BRAID_UNSUPPORTED, "engine '" + name + "': expected a transport of the machine, got '" +
                                     settings.transport + "': an emulated fabric can't delay what an engine sends"};
    EngineContext context{*exchange, members, me, key + "/engine/" + name, settings.deadline, hosts};
    if (auto found = parent ? parent->engines.find(name) : engines.end(); parent && found != parent->engines.end()) {
      context.parent = found->second.get();
      for (int member : members)
        context.inParent.push_back(
            int(std::find(parent->members.begin(), parent->members.end(), member) - parent->members.begin()));
    }
    done = makeEngine(name, context, engines[name]);
  }
  return done;
}

Communicator::~Communicator() {
  thread.reset();
  if (!failure && !parted && carrier) // who hears that this rank has left would take it for the cause
    carrier->giveUp(failure.text);
  if (family)
    family->leave(*this);
  operations.clear(); // before the engines and the transport, which own their memory
  engines.clear();
}

Outcome Communicator::subset(const int32_t *ranks, size_t count, std::unique_ptr<Communicator> &comm) {
  std::vector<int> chosen;
  std::vector<char> seen(members.size());
  for (size_t i = 0; i < count; ++i) {
    if (ranks[i] < 0 || ranks[i] >= size())
      return {BRAID_INVALID, "subset: expected numbers of this communicator's ranks, below " + std::to_string(size()) +
                                 ", got " + std::to_string(ranks[i])};
    if (seen[size_t(ranks[i])]++)
      return {BRAID_INVALID, "subset: expected each rank once, got " + std::to_string(ranks[i]) + " twice"};
    chosen.push_back(ranks[i]);
  }
  if (std::find(chosen.begin(), chosen.end(), me) == chosen.end())
    return {BRAID_INVALID, "subset: expected to be called by its own ranks, got a call of this communicator's rank " +
                               std::to_string(me)};
  return connectSubset(chosen, settings, comm);
}

Outcome Communicator::connectSubset(const std::vector<int> &chosen, const CommunicatorOptions &wanted,
                                    std::unique_ptr<Communicator> &comm) {
  std::vector<int> jobRanks;
  std::string name = key + "/";
  for (int rank : chosen) {
    name += std::to_string(rank) + ".";
    jobRanks.push_back(members[size_t(rank)]);
  }
  name += std::to_string(subsets[chosen]++);
  std::optional<Clock::Outside> outside; // while the ranks meet, they do not hold virtual time up
  if (Clock *clock = carrier->clock())
    outside.emplace(*clock);
  Outcome made = create(exchange, jobRanks, name, wanted, comm, this);
  if (!made) // if the process ends for that, those who wait for it here are told
    family->failed(made.text);
  return made;
}

void *Communicator::allocate(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return carrier->allocate(bytes);
}

/// The first `count` free lanes that follow each other.
Outcome Communicator::takeLanes(const Request &request, int count, int &first) {
  if (request.pointToPoint()) {
    first = tagLanes + request.tag;
    return {};
  }
  int run = 0;
  for (auto lane = freeLanes.begin(); lane != freeLanes.end() && run < count; ++lane) {
    run = run && *lane == first + run ? run + 1 : 1;
    first = run == 1 ? *lane : first;
  }
  if (run < count)
    return {BRAID_UNSUPPORTED,
            "expected at most " + std::to_string(collectiveLanes - 1) + " lanes of planned operations, got more"};
  freeLanes.erase(freeLanes.lower_bound(first), freeLanes.lower_bound(first + count));
  return {};
}

Outcome Communicator::plan(const braid_op_options &options, Operation *&operation) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure)
    return failure;
  Request request;
  Outcome done = readRequest(options, me, size(), request, engineNames[0]);
  if (!done)
    return {done.status, named(me) + ": " + done.text};
  request.options.hosts = hosts;
  if (!hosts.empty() && request.ranks < size()) { // helpers are last, and on no level
    request.options.hosts.resize(size_t(request.ranks));
    request.options.hosts = algorithms::levels(std::move(request.options.hosts));
  }
  if (std::string why = request.options.path ? carrier->whyNoPath() : ""; !why.empty())
    return {BRAID_UNSUPPORTED, named(me) + ": " + request.title() + ": " + why};
  std::unique_ptr<Staging> staging;
  std::unique_ptr<EngineOperation> byEngine;
  Plan plan;
  Attachments attached(*carrier);
  int firstLane = 1;
  auto engine = engines.find(request.engine);
  bool taken = engine != engines.end() && engine->second->takes(request.memory);
  if (request.memory != BRAID_MEMORY_HOST && !taken)
    done = Staging::make(request, *carrier, direct ? direct->context() : nullptr, ownDevice(), staging);
  bool ofDevice = done && staging && request.memory == BRAID_MEMORY_DEVICE && !request.byEngine();
  bool byNics = ofDevice && carrier->reachesDevices() && planGpuDirect(request, *staging, plan, attached);
  Directness directness = Directness::HostBuffers;
  if (ofDevice && !byNics)
    directness = chooseDirect(request, *staging, done);
  Direct *reads = directness == Directness::Can ? direct.get() : nullptr;
  if (done && staging && !reads && !byNics)
    done = staging->stage(request);
  Transport &through = reads ? static_cast<Transport &>(reads->transport()) : *carrier;
  if (done && request.byEngine())
    done = planByEngine(request, byEngine);
  else if (done && !byNics)
    done = makePlan(request, through, plan);
  if (done && reads)
    fuseCopies(plan);
  else if (done && !byEngine && !byNics)
    done = attached.take(request);
  int lanes = int(plan.lanes.size()) * (reads ? partLanes : 1); // were it staged, it would need so many
  if (done && !byEngine)
    done = takeLanes(request, lanes, firstLane);
  if (!done) {
    for (void *memory : plan.memory)
      through.release(memory);
    return {done.status, named(me) + ": " + request.title() + ": " + done.text};
  }
  logOnce(std::string("operations run by engine '") + (byEngine ? request.engine : braidEngine) + "'");
  constexpr size_t withQueue = offsetof(braid_op_options, queue) + sizeof options.queue;
  int queue = options.size >= withQueue && options.queue > 0 ? 2 * options.queue + crossesHosts : 0;
  auto made = std::make_unique<Operation>(*this, std::move(request), std::move(plan), std::move(attached),
                                          std::move(staging), reads, directness, std::move(byEngine), firstLane, lanes,
                                          queue, request.pointToPoint() ? pointToPoint++ : 0);
  operation = made.get();
  operations.insert(std::move(made));
  return {};
}

/// With BRAID_LOG=on the first rank says it.
void Communicator::logOnce(const std::string &text) {
  if (!me && logs() && logged.insert(text).second)
    std::fprintf(stderr, "braid: %s: %s\n", group().c_str(), text.c_str());
}

Outcome Communicator::planByEngine(const Request &request, std::unique_ptr<EngineOperation> &operation) {
  auto found = engines.find(request.engine);
  if (found == engines.end()) {
    std::string here = std::string("'") + braidEngine + "'";
    for (const auto &[name, engine] : engines)
      here += ", '" + name + "'";
    return {BRAID_UNSUPPORTED, "expected an engine that the communicator was made with, " + here + ", got '" +
                                   request.engine + "'; name it in braid_comm_options.engine, or in BRAID_ENGINE, on " +
                                   "all ranks"};
  }
  Outcome planned = found->second->plan(request, operation);
  return planned ? planned : Outcome(planned.status, "engine '" + request.engine + "': " + planned.text);
}

bool Communicator::mayLaunch(const Operation &operation) const {
  for (const Operation *each : active) {
    if (each == &operation)
      return true;
    if (each->state < Operation::Running && each->request.engine == operation.request.engine)
      return false;
  }
  return true;
}

Outcome Communicator::rebind(Operation &operation, const braid_buffer *buffers, size_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure)
    return failure;
  Outcome done = operation.state == Operation::Idle
                     ? operation.rebind(buffers, count)
                     : Outcome(BRAID_INVALID, "expected it to be awaited before it gets other buffers");
  return done ? done : Outcome(done.status, named(me) + ": " + operation.request.title() + ": " + done.text);
}

Outcome Communicator::start(Operation &operation, void *stream) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure)
    return failure;
  if (Outcome begun = begin(operation, stream); !begun)
    return begun;
  progress();
  if (operation.overlaps && operation.state != Operation::Done) {
    Clock *clock = carrier->clock();
    if (!thread && !threadless && !(clock && clock->isVirtual())) {
      thread = std::make_unique<ProgressThread>(*this);
      if (Outcome started = thread->start(*exchange); !started) {
        std::fprintf(stderr, "braid: rank %d: %s; operations go on only while somebody waits\n", me,
                     started.text.c_str());
        threadless = true;
        thread.reset();
      }
    }
    if (thread)
      thread->wake();
  }
  return failure;
}

/// An operation is in flight from here.
Outcome Communicator::begin(Operation &operation, void *stream) {
  if (operation.state != Operation::Idle)
    return {BRAID_INVALID,
            named(me) + ": " + operation.request.title() + ": expected it to be awaited before it is started again"};
  Operation *turnOf = nullptr;
  if (operation.request.pointToPoint() && !operation.byEngine) // an engine takes them in order itself
    for (Operation *other : active)
      if (other->request.collective == operation.request.collective && other->request.peer == operation.request.peer &&
          other->request.tag == operation.request.tag)
        turnOf = other;
  operation.startedAt = size() > 1 ? seconds() : 0;
  operation.beganAt = size() > 1 && !carrier->clock() ? operation.startedAt : now();
  if (Outcome started = operation.start(turnOf, stream); !started) { // the others wait for this rank
    fail(started.status, operation.request.title() + ": " + started.text);
    return failure;
  }
  active.push_back(&operation);
  family->started(operation);
  return failure;
}

bool Communicator::progress() {
  bool moved = progressOwn();
  moved = family->alone() ? moved : family->progressOthers(*this) || moved;
  if (!moved)
    progressLibraries();
  return moved;
}

bool Communicator::progressOwn() {
  bool moved = (agreeing || unsaid) && talk();
  moved |= direct && direct->talk();
  carrier->progress();
  for (size_t i = 0; i < active.size();) {
    Operation *operation = active[i];
    moved |= operation->progress();
    if (!failure)
      return moved;
    if (operation->state != Operation::Done) {
      ++i;
      continue;
    }
    active.erase(active.begin() + long(i));
    family->ended(*operation);
    for (Operation *other : active)
      if (other->turnOf == operation)
        other->turnOf = nullptr;
  }
  return moved;
}

/// The next idle() returns when the first operation in flight may go on by itself.
void Communicator::armClock(Clock &clock) {
  armOwn(clock);
  if (!family->alone())
    family->armOthers(*this, clock);
}

void Communicator::armOwn(Clock &clock) {
  double wake = -1;
  for (Operation *each : active)
    if (double time = each->wakeTime(); time >= 0 && (wake < 0 || time < wake))
      wake = time;
  if (wake >= 0)
    clock.wakeAt(wake);
}

double Communicator::now() {
  Clock *clock = carrier->clock();
  return clock ? clock->now() : seconds();
}

Outcome Communicator::step(uint64_t job, uint64_t number, double &begin) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure)
    return failure;
  if (!active.empty())
    return {BRAID_INVALID, named(me) + ": step: expected nothing in flight, got " + active[0]->request.title()};
  family->begin(number);
  carrier->setJob(job);
  if (Clock *clock = carrier->clock())
    clock->align();
  begin = now();
  lookForFaults();
  return failure;
}

/// What is left of it goes on at another rate when an operation begins or ends.
Outcome Communicator::sleep(double duration, double *slowed) {
  if (!std::isfinite(duration))
    return {BRAID_INVALID, named(me) + ": sleep: expected a time in seconds, got " + std::to_string(duration)};
  Clock *clock = carrier->clock();
  auto slowdown = [&] { return clock ? clock->slowdown(family->inFlight[0] > 0, family->inFlight[1] > 0) : 1; };
  double rate = slowdown(), begin = now();
  double end = begin + duration * (clock ? clock->computeFactor(family->step) : 1) * rate;
  for (unsigned spins = 0; now() < end; ++spins) {
    std::unique_lock<std::mutex> lock(mutex);
    if (!failure)
      return failure;
    bool moved = progress();
    if (double current = slowdown(); current != rate) {
      double time = now();
      end = time + (end - time) * (current / rate);
      rate = current;
    }
    if (moved)
      continue;
    if (spins % spinsBetweenFaults == 0)
      lookForFaults();
    if (clock) {
      armClock(*clock);
      clock->wakeAt(end);
      carrier->idle(spins);
      continue;
    }
    double left = std::min(end - now(), active.empty() ? 0.1 : 50e-6);
    lock.unlock();
    if (left > 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }
  if (slowed)
    *slowed = end - (begin + duration);
  return failure;
}

Outcome Communicator::destroy(Operation *operation) {
  std::lock_guard<std::mutex> lock(mutex);
  bool inFlight = std::find(active.begin(), active.end(), operation) != active.end();
  if (inFlight && failure)
    return {BRAID_INVALID,
            named(me) + ": " + operation->request.title() + ": expected it to be awaited before it is destroyed"};
  active.erase(std::remove(active.begin(), active.end(), operation), active.end());
  family->ended(*operation);
  if (!operation->request.pointToPoint())
    for (int i = 0; i < operation->lanesTaken; ++i)
      freeLanes.insert(operation->firstLane + i);
  auto found = std::find_if(operations.begin(), operations.end(), [&](auto &own) { return own.get() == operation; });
  if (found != operations.end())
    operations.erase(found);
  return {};
}

Outcome Communicator::agree(uint64_t hash) {
  if (!hashes) {
    hashesOfAll.resize(size_t(size()));
    braid_buffer buffer = {&ownHash, hashesOfAll.data(), 1, size_t(size())};
    braid_op_options options = {};
    options.size = sizeof options;
    options.collective = BRAID_ALL_GATHER;
    options.type = BRAID_U64;
    options.tensors = 1;
    options.buffers = &buffer;
    options.name = "agree";
    options.engine = braidEngine;
    Outcome planned = plan(options, hashes);
    if (!planned)
      return planned;
  }
  ownHash = hash;
  Outcome done = start(*hashes);
  if (done)
    done = wait(*hashes);
  for (int rank = 1; done && rank < size(); ++rank)
    if (hashesOfAll[size_t(rank)] != hashesOfAll[0]) {
      char first[20], other[20];
      std::snprintf(first, sizeof first, "%016llx", (unsigned long long)hashesOfAll[0]);
      std::snprintf(other, sizeof other, "%016llx", (unsigned long long)hashesOfAll[size_t(rank)]);
      return {BRAID_MISMATCH, named(me) + ": agree: expected the hash of " + named(0) + ", " + first +
                                  ", on all ranks, got " + other + " from " + named(rank)};
    }
  return done;
}

Outcome Communicator::abort(const std::string &why) {
  ++aborting;
  std::lock_guard<std::mutex> lock(mutex);
  --aborting;
  if (failure) {
    fail(BRAID_ABORTED, why.empty() ? "aborted" : why);
    exchange->abort(scope, failure.text);
  } else {
    carrier->giveUp(failure.text); // who aborts what has failed is about to end
    parted = true;
  }
  return {};
}

void Communicator::fail(braid_status status, const std::string &text, bool tell) {
  failure = {status, named(me) + ": " + text};
  family->failed(failure.text);
  for (auto &[name, engine] : engines)
    engine->abort();
  for (Operation *operation : active) { // others need not wait for their turn behind them, nor compute beside them
    family->ended(*operation);
    operation->land();
  }
  if (tell)
    carrier->abort(failure.text);
}

void Communicator::farewell(bool good, const std::string &why) {
  if (!good && why.empty()) // it has died, and is missed by whoever waits for it
    return;
  if (good)
    carrier->leave();
  else
    carrier->giveUp(why);
  parted = true;
  failure = {BRAID_ABORTED, named(me) + ": its process is ending"};
}

} // namespace braid::runtime
