//===- Parker.h - how a rank gives up the processor, and gets it back -------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_PARKER_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_PARKER_H

#include <atomic>
#include <cstdint>

namespace braid::runtime {

class Parker {
public:
  virtual ~Parker() = default;
  /// Returns when `word` is no longer `seen`, or after `atMost` seconds of the machine's time, or at any earlier time.
  virtual void park(int rank, std::atomic<uint32_t> &word, uint32_t seen, double atMost) = 0;
  /// Called after `word` was changed.
  virtual void unpark(int rank, std::atomic<uint32_t> &word) = 0;
};

/// Ranks that are threads or processes: the kernel's futex.
Parker &futexParker();

} // namespace braid::runtime

#endif
