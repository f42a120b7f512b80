//===- Devices.cpp - a communicator's memory of devices, and whether peers read it ------------------------------------===//
#include "core/Communicator.h"
#include "core/GpuDirectPlan.h"
#include "core/Log.h"
#include "core/Staging.h"
#include "transports/cuda/DeviceWords.h"
#include <cstdio>
#include <cstdlib>

namespace braid::runtime {

/// The number of the device that this rank's memory is of, where the thread has none.
int Communicator::ownDevice() const {
  int device = localRank(hosts, me);
  for (auto &[name, engine] : engines)
    device = engine && engine->device() >= 0 ? engine->device() : device;
  return device;
}

Outcome Communicator::allocate(braid_memory kind, size_t bytes, void *&memory) {
  std::lock_guard<std::mutex> lock(mutex);
  Outcome done = deviceMemory.allocate(kind, bytes, *carrier, ownDevice(), memory);
  return done ? done : Outcome(done.status, named(me) + ": " + done.text);
}

void Communicator::release(void *memory) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!deviceMemory.release(memory, *carrier))
    carrier->release(memory);
}

/// True: messages of the request begin and end on the device.
bool Communicator::planGpuDirect(const Request &request, Staging &staging, Plan &plan, Attachments &attached) {
  std::string how, why = whyNotGpuDirect(request, *carrier);
  Outcome done = why.empty() ? staging.ownsAll(request) : Outcome(BRAID_UNSUPPORTED, why);
  if (done)
    done = staging.openToNics();
  if (done)
    done = makeGpuDirectPlan(request, *carrier, plan, attached, how);
  if (logs())
    std::fprintf(stderr, "braid: %s: %s: memory of the device: %s\n", named(me).c_str(), request.title().c_str(),
                 done ? how.c_str() : (std::string(cuda::stagedInstead) + ": " + done.text).c_str());
  return bool(done);
}

/// Whether the operation could be direct as far as this rank knows, on what there is to be; else why not.
Directness Communicator::chooseDirect(const Request &request, const Staging &staging, Outcome &done) {
  if (carrier->reachesDevices()) // NICs do, or why not was said
    return Directness::HostBuffers;
  if (request.pointToPoint() || !carrier->names()) {
    logDirect(std::string("staged: ") +
              (request.pointToPoint() ? "send and recv do not know where the peer's are"
                                      : "transport '" + std::string(carrier->name()) + "' carries bytes of the host"));
    return Directness::HostBuffers;
  }
  std::string why;
  if (!direct) {
    PeerLevel level;
    done = readPeerLevel(std::getenv, level);
    if (done)
      done = Direct::make(staging.driver, staging.context, level, *carrier, me, size(), directLane, direct);
    if (!done)
      return Directness::HostBuffers;
  }
  Outcome owns = staging.ownsAll(request);
  Directness can = owns ? direct->look(request, staging.context, why) : Directness::OtherDevice;
  why += owns.text;
  if (can != Directness::Can)
    logDirect("staged: " + named(me) + ": " + why);
  return can;
}

bool Communicator::decided(const Operation &operation, Direct &direct, bool &is) {
  is = false;
  if (operation.directness != Directness::Can) { // since it was planned
    logDirect("staged: " + named(me) + ": " + whyNot(operation.directness));
    return true;
  }
  if (operation.refuser >= 0) {
    logDirect("staged: " + named(operation.refuser) + ": " + whyNot(operation.refusal));
    return true;
  }
  Direct::Verdict verdict = direct.verdict();
  is = verdict == Direct::Yes;
  if (verdict == Direct::No)
    logDirect("staged: " + named(direct.refuser()) + ": " + direct.why() +
              (direct.unreached() < 0 ? "" : " (memory of " + named(direct.unreached()) + ")"));
  else if (is)
    logDirect("direct: devices read where peers have them");
  return verdict != Direct::Unknown;
}

void Communicator::logDirect(const std::string &how) { logOnce("buffers of devices: " + how); }

} // namespace braid::runtime
