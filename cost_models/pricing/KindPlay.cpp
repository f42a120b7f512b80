//===- KindPlay.cpp - along the last tape, or else by time ------------------------------------------------------------===//
#include "pricing/KindTape.h"
#include "pricing/Ticks.h"

namespace braid::cost {

KindPlay::KindPlay(const KindProgram &program, double chunk, const std::vector<Topology::Link> &topologyLinks,
                   BytesPerSecond reduction, const std::vector<double> *late)
    : program(program), chunk(chunk), weightless(chunk == 0), reduction(reduction.value), late(late) {
  links.reserve(program.slots.size());
  for (const KindProgram::Slot &slot : program.slots) {
    const Topology::Link &link = topologyLinks[slot.link];
    links.push_back({0, inTicks(link.latency.value), link.bandwidth.value, slot.inOrder || weightless});
  }
  for (const KindProgram::Detour &detour : program.detours) {
    double further = 0;
    for (int link : detour.heard)
      further += inTicks(topologyLinks[link].latency.value);
    for (int link : detour.sent)
      further -= inTicks(topologyLinks[link].latency.value);
    detours.push_back(further);
  }
}

std::optional<Seconds> KindProgram::play(Bytes operand, const std::vector<Topology::Link> &topologyLinks,
                                         BytesPerSecond reduction, const std::vector<double> *late) const {
  double buffer = double(algorithms::bufferBytes(collective, groupRanks, operand.value));
  return playChunks(buffer / chunks, topologyLinks, reduction, late);
}

std::optional<Seconds> KindProgram::playChunks(double bytes, const std::vector<Topology::Link> &topologyLinks,
                                               BytesPerSecond reduction, const std::vector<double> *late) const {
  std::shared_ptr<const KindTape> known;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (bytes > 0 && (!late || lateHolds))
      known = tape;
  }
  if (known) {
    KindPlay again(*this, bytes, topologyLinks, reduction, late);
    if (std::optional<Seconds> time = playAgain(again, *known))
      return time;
  }
  KindPlay play(*this, bytes, topologyLinks, reduction, late);
  auto made = bytes > 0 && !late ? std::make_shared<KindTape>() : nullptr;
  std::optional<Seconds> time = playByTime(play, made.get());
  std::lock_guard<std::mutex> lock(mutex);
  if (made && time)
    tape = std::move(made);
  else if (late && known)
    lateHolds = false; // each play is in another order
  return time;
}

} // namespace braid::cost
