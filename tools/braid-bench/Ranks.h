//===- Ranks.h - a rank among the others, as Sampling.h asks for it -----------------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_RANKS_H
#define BRAID_BENCH_RANKS_H

#include "MeasureOptions.h"
#include "RuntimeLibrary.h"
#include <stdexcept>

namespace braid::bench {

/// What ends a rank's measuring: a sentence.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

/// A rank among the others, as Sampling.h asks for it.
class Ranks {
public:
  /// Throws Failure.
  Ranks(const RuntimeLibrary &runtime, const MeasureOptions &options);
  ~Ranks();
  Ranks(const Ranks &) = delete;

  void barrier();
  void maximum(double *values, size_t count);
  /// The texts of all ranks that are not empty, in their order, with commas between them. On an emulated fabric, where it would be
  /// one more operation to draw for: nothing.
  std::string joined(const std::string &text);
  double now() const;
  double wall() const;

  void must(braid_status status) const; ///< throws Failure with the runtime's sentence

  const RuntimeLibrary &runtime;
  braid_comm *comm = nullptr;
  int32_t rank = 0, ranks = 1;
  int hosts = 1;
  int processors = 1; ///< that ranks of this host may use

private:
  braid_op *plan(braid_collective collective, braid_type type, braid_reduction reduction, const void *send,
                 size_t sendCount, void *receive, size_t receiveCount);
  void run(braid_op *op);
  int countHosts();

  static constexpr size_t block = 512;
  bool emulated;
  braid_op *barrierOp = nullptr, *maximumOp = nullptr;
  double mine[block] = {}, largest[block] = {};
};

} // namespace braid::bench

#endif
