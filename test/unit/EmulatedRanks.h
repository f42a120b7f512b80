//===- EmulatedRanks.h - ranks on an emulated fabric, for tests -------------------------------------------------===//
#ifndef BRAID_TEST_UNIT_EMULATEDRANKS_H
#define BRAID_TEST_UNIT_EMULATEDRANKS_H

#include "braid/cost_models/EmitProfile.h"
#include "test/unit/StepDriver.h"
#include "transports/emulated/Emulated.h"
#include "transports/emulated/Fibers.h"
#include "transports/emulated/InProcess.h"
#include <functional>
#include <stdexcept>
#include <thread>

namespace braid::runtime {

/// The compiled form of a cluster, read back: what the emulated fabric gets to know of it.
inline EmulatedProfile profileOf(const cost::Cluster &cluster, const cost::Placement &placement) {
  EmulatedProfile profile;
  std::string error = EmulatedProfile::parse(*cost::emitProfile(cluster, placement), profile);
  if (!error.empty())
    throw std::runtime_error(error);
  return profile;
}

/// Runs `body` on all ranks, as threads or fibers, on in-process transports under the emulation.
inline void onRanks(const EmulatedProfile &profile, const EmulationOptions &options, bool fibers,
                    const std::function<void(int rank, EmulatedTransport &transport)> &body) {
  Fibers turns(profile.ranks);
  auto emulation = Emulation::inProcess(profile, options, fibers ? static_cast<Parker &>(turns) : futexParker());
  std::vector<std::unique_ptr<Transport>> inner = inProcessTransports(profile.ranks);
  std::vector<std::unique_ptr<EmulatedTransport>> transports;
  for (int rank = 0; rank < profile.ranks; ++rank)
    transports.push_back(std::make_unique<EmulatedTransport>(emulation, std::move(inner[size_t(rank)]), rank));
  auto run = [&](int rank) {
    body(rank, *transports[size_t(rank)]);
    transports[size_t(rank)].reset(); // it no longer holds time up
  };
  if (fibers)
    return turns.run(run);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < profile.ranks; ++rank)
    threads.emplace_back(run, rank);
  for (std::thread &thread : threads)
    thread.join();
}

/// Until the driver is done or the transport has a fault.
inline void drive(test::StepDriver &driver, Transport &transport) {
  for (unsigned spins = 0; !driver.done() && !transport.fault();)
    if (driver.advance()) {
      spins = 0;
    } else {
      transport.progress();
      if (!driver.done())
        transport.idle(spins++);
    }
}

} // namespace braid::runtime

#endif
