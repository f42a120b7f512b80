//===- Emulated.cpp - messages are shown when the emulation has delivered them ----------------------------------===//
#include "transports/emulated/Emulated.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

namespace braid::runtime {

EmulatedTransport::EmulatedTransport(std::shared_ptr<EmulatedSeat> seat, std::unique_ptr<Transport> inner,
                                     std::vector<int> members, int communicator, int place)
    : seat(std::move(seat)), emulation(this->seat->emulation.get()), inner(std::move(inner)),
      members(std::move(members)), rank(this->seat->rank), communicator(communicator), place(place),
      pumped([this] { return pumpAndRest(); }) {}

static std::vector<int> everyone(int ranks) {
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

EmulatedTransport::EmulatedTransport(std::shared_ptr<Emulation> emulation, std::unique_ptr<Transport> inner, int rank)
    : EmulatedTransport(std::make_shared<EmulatedSeat>(emulation, rank), std::move(inner),
                        everyone(emulation->profile.ranks), 0, 0) {}

/// The seat first: while the inner transport says farewell, this rank does not hold time up.
EmulatedTransport::~EmulatedTransport() { seat.reset(); }

void EmulatedTransport::leave() {
  pump(); // what the machine could not take yet
  emulation->gone(rank);
  emulation->stopPacer(); // the end of the process would stop it anywhere, also where it holds what others need
  inner->leave();
}

void EmulatedTransport::giveUp(const std::string &why) {
  emulation->gone(rank); // its end is no time that others wait for
  inner->giveUp(why);
}

void EmulatedSeat::setJob(uint64_t number) {
  job = number;
  for (int of = 0; of < 2; ++of)
    factor[of] = draws::jobLatencyFactor(emulation->profile.noise[of], emulation->options.seed, job);
}

double EmulatedSeat::computeFactor(uint64_t step) {
  const EmulatedProfile &profile = emulation->profile;
  if (drawn.job != job || drawn.step != step) {
    draws::Place place;
    place.seed = emulation->options.seed;
    place.job = job;
    place.step = step;
    place.where = uint64_t(profile.device[size_t(rank)]);
    drawn = {job, step, draws::computeFactor(profile.skewPerJob, profile.skewPerStep, place)};
  }
  return drawn.factor;
}

std::string EmulatedTransport::description() const {
  char text[256];
  if (emulation->options.time == EmulatedTime::Virtual)
    std::snprintf(text, sizeof text, "emulated cluster %s: virtual clock", emulation->profile.cluster.c_str());
  else
    std::snprintf(text, sizeof text, "emulated cluster %s: wall clock, time stretched %.0f-fold: 1 us is %.3g ms",
                  emulation->profile.cluster.c_str(), emulation->dilation(), emulation->dilation() * 1e-3);
  return text;
}

//===- draws ----------------------------------------------------------------------------------------------------===//

/// Communicators have places of their own; the first one's are as they come.
void EmulatedTransport::mark(int peer, int lane, const MessagePlace &place) {
  PeerLane &here = at(peer, lane);
  here.place = place;
  here.place.operation |= uint64_t(this->place) << 52;
  sent[place.number] = 0;
}

EmulatedTransport::Recent &EmulatedTransport::recent(uint64_t step, uint64_t operation) {
  for (Recent &one : operations)
    if (one.job == seat->job && one.step == step && one.operation == operation)
      return one;
  Recent &made = operations[oldest++ % remembered];
  made = Recent();
  made.job = seat->job;
  made.step = step;
  made.operation = operation;
  return made;
}

EmulatedTransport::Noisy EmulatedTransport::noiseOf(int target, PeerLane &here) {
  const EmulatedProfile &profile = emulation->profile;
  bool crosses = profile.crossesHosts(rank, target);
  int of = int(crosses ? LinkClass::Inter : LinkClass::Intra);
  const draws::Noise &noise = profile.noise[of];
  draws::Place place;
  place.seed = emulation->options.seed;
  place.job = seat->job;
  place.step = here.place.step;
  place.operation = here.place.operation;
  Noisy result;
  for (int i = 0; i < 2; ++i)
    result.latency[i] = seat->factor[i] * draws::latencyFactor(profile.noise[i], place);
  place.where = uint64_t(profile.device[rank]) << 32 | uint64_t(profile.device[target]);
  result.transfer = draws::transferFactor(noise, place);
  place.message = uint64_t(here.place.number) << 32 | sent[here.place.number]++;
  result.excess = draws::messageExcess(noise, profile.latency(rank, target) * result.latency[of], place);
  bool &begun = recent(here.place.step, here.place.operation).sent[of];
  if (!begun) {
    begun = true;
    place.where = uint64_t(profile.host[rank]) << 1 | uint64_t(crosses);
    place.message = 0;
    result.excess += draws::operationSpike(noise, 1, place);
  }
  return result;
}

//===- messages -------------------------------------------------------------------------------------------------===//

LaneState *EmulatedTransport::outgoing(int peer, int lane, PeerLane &here) {
  if (!here.out)
    here.out = emulation->lane(rank, members[size_t(peer)], communicator, lane, /*make=*/true);
  return here.out;
}

bool EmulatedTransport::offer(int peer, int lane, const void *data, size_t bytes, uint16_t note) {
  PeerLane &here = at(peer, lane);
  LaneState *out = outgoing(peer, lane, here);
  ++here.pieces;
  here.piecesBytes += double(bytes);
  bool whole = !here.joins;
  here.joins = false;
  auto leave = [&] {
    Noisy noise = noiseOf(members[size_t(peer)], here);
    return emulation->send({out,
                            int(here.place.number),
                            here.pieces,
                            here.piecesBytes * noise.transfer,
                            noise.excess,
                            {noise.latency[0], noise.latency[1]},
                            seat->job});
  };
  if (!out || (whole && !leave())) {
    own = {Fault::System, -1,
           out ? "emulated fabric: expected at most " + std::to_string(emulation->options.messages) +
                     " messages under way, got more"
               : "emulated fabric: expected at most " + std::to_string(emulation->options.lanes) + " lanes, got more"};
    return false;
  }
  ++here.offered;
  if (whole) {
    here.pieces = 0;
    here.piecesBytes = 0;
  }
  // The fabric's queues have no end; what the machine's cannot take yet follows when it can.
  if (full.count({peer, lane}) || !inner->offer(peer, lane, data, bytes, note))
    keep(peer, lane, data, bytes, note);
  return true;
}

void EmulatedTransport::keep(int peer, int lane, const void *data, size_t bytes, uint16_t note) {
  std::deque<Waiting> &queue = full[{peer, lane}]; // whose strings stay where they are
  queue.push_back({data, bytes, note, {}});
  if (!inner->reachable(data, bytes)) {
    queue.back().copy.assign(static_cast<const char *>(data), bytes);
    queue.back().data = queue.back().copy.data();
  }
}

/// Moves bytes in the machine; true: something is broken.
bool EmulatedTransport::pump() {
  inner->progress();
  for (auto next = full.begin(); next != full.end();) {
    std::deque<Waiting> &queue = next->second;
    while (!queue.empty() && inner->offer(next->first.first, next->first.second, queue.front().data,
                                          queue.front().bytes, queue.front().note))
      queue.pop_front();
    next = queue.empty() ? full.erase(next) : std::next(next);
  }
  return bool(inner->fault());
}

/// While this rank is blocked: it goes on soon if a peer may still wait for bytes of its messages.
double EmulatedTransport::pumpAndRest() {
  if (pump())
    return -1;
  for (const auto &[key, lane] : peers)
    if (lane.offered > 0 && inner->accepted(int(key >> 32), int(uint32_t(key))) < lane.offered)
      return 0.0002;
  return Emulation::longestSleep;
}

uint64_t EmulatedTransport::accepted(int peer, int lane) {
  PeerLane &here = at(peer, lane);
  if (here.offered == 0)
    return 0;
  uint64_t count = emulation->accepted(*here.out, false);
  if (count < here.offered)
    count = emulation->accepted(*here.out, true);
  // The machine's own news of the acceptance may take a moment; time stands still meanwhile.
  for (unsigned spins = 0; inner->accepted(peer, lane) < count; inner->idle(spins++))
    if (pump())
      break;
  return count;
}

bool EmulatedTransport::peek(int peer, int lane, Message &message) {
  PeerLane &here = at(peer, lane);
  if (!here.in)
    here.in = emulation->lane(members[size_t(peer)], rank, communicator, lane, /*make=*/false);
  if (!here.in || Emulation::delivered(*here.in) == here.taken)
    return false;
  for (unsigned spins = 0; !inner->peek(peer, lane, message); inner->idle(spins++)) // its bytes may take a moment
    if (pump())
      return false;
  return true;
}

void EmulatedTransport::accept(int peer, int lane) {
  inner->accept(peer, lane);
  PeerLane &here = at(peer, lane);
  ++here.taken;
  emulation->accept(*here.in);
}

/// A message whose bytes are here is still to come.
bool EmulatedTransport::left(int peer, int lane) {
  Message message;
  return inner->left(peer, lane) && !inner->peek(peer, lane, message);
}

std::vector<int> EmulatedTransport::hosts() const {
  std::vector<int> all;
  for (int member : members)
    all.push_back(emulation->profile.host[size_t(member)]);
  return all;
}

void EmulatedTransport::progress() { pump(); }

/// What the inner transport still has to say (that a message was accepted) is said before this rank sleeps: a peer that is told so
/// by the emulation looks for it.
void EmulatedTransport::idle(unsigned) {
  if (!pump())
    emulation->block(rank, pumped);
}

/// The progress thread of a rank that computes sleeps until the fabric has something for it: a thread that looked around ten
/// thousand times a second would take that time from the computation. Only where the machine moves bytes without help.
bool EmulatedTransport::park(bool prepare) {
  if (!prepare) {
    emulation->sleepWatching(rank, watched, Emulation::longestSleep);
    return true;
  }
  if (emulation->options.time == EmulatedTime::Virtual || !full.empty() || std::strcmp(inner->name(), "shm") != 0)
    return false;
  watched = emulation->watch(rank);
  return true;
}

void EmulatedTransport::sleepUntil(double time) {
  while (now() < time && !fault()) {
    emulation->wakeAt(rank, time);
    idle(0);
  }
}

void EmulatedTransport::align() {
  if (!pump())
    emulation->align(rank, pumped);
}

Fault EmulatedTransport::fault() {
  if (Fault broken = inner->fault()) {
    if (broken.kind == Fault::PeerDied && broken.peer >= 0) // else it would hold up the time of the survivors
      emulation->gone(members[size_t(broken.peer)]);
    return broken;
  }
  if (!own && emulation->stuck())
    own = {Fault::System, -1, "emulated fabric: every rank is blocked and no message is under way"};
  return own;
}

} // namespace braid::runtime
