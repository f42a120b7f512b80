//===- DirectTransport.h - messages that name memory of a device ----------------------------------------------------===//
//
// Over a transport of one host: a message is a Reference (transports/cuda/PeerMemory.h) to bytes that stay where they are, and
// peek gives the address at which this rank's device reads them. What is named has to be complete when it is offered, and what
// reads it when it is accepted. Memory is of the device; what was released is kept for the next operation, and freed with
// the communicator, since peers may have it open until they destroy the operation themselves.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_DIRECTTRANSPORT_H
#define BRAID_RUNTIME_CORE_DIRECTTRANSPORT_H

#include "transports/Transport.h"
#include "transports/cuda/PeerMemory.h"

namespace braid::runtime {

class DirectTransport : public Transport {
public:
  DirectTransport(const cuda::Driver &driver, cuda::Context context, Transport &inner)
      : peers(driver, context), driver(driver), context(context), inner(inner) {}
  ~DirectTransport() override;

  const char *name() const override { return inner.name(); }
  void *allocate(size_t bytes) override;
  void release(void *memory) override;
  bool offer(int peer, int lane, const void *data, size_t bytes, uint16_t note) override;
  uint64_t accepted(int peer, int lane) override { return inner.accepted(peer, lane); }
  bool peek(int peer, int lane, Message &message) override;
  void accept(int peer, int lane) override { inner.accept(peer, lane); }
  bool left(int peer, int lane) override { return inner.left(peer, lane); }
  void progress() override { inner.progress(); }
  bool settled() const override { return inner.settled(); }
  void idle(unsigned spins) override { inner.idle(spins); }
  Fault fault() override { return inner.fault(); }
  void abort(const std::string &why) override { inner.abort(why); }
  /// Of messages that name bytes: nothing is copied.
  TransportCounters counters() const override { return count; }

  /// Nothing is read any more that came on these lanes.
  void close(int firstLane, int lanes) { peers.close(firstLane, lanes); }
  /// Why offer or peek could not do what they were asked for.
  const Outcome &problem() const { return broken; }

  cuda::PeerMemory peers;

private:
  const cuda::Driver &driver;
  const cuda::Context context;
  Transport &inner;
  std::map<void *, size_t> blocks;      ///< memory of allocate
  std::multimap<size_t, void *> unused; ///< those that were released
  TransportCounters count;
  Outcome broken;
};

} // namespace braid::runtime

#endif
