//===- Tuner.h - choices for one communicator -------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_TUNER_TUNER_H
#define BRAID_RUNTIME_ENGINES_NCCL_TUNER_TUNER_H

#include "engines/nccl/tuner/Table.h"
#include <memory>

namespace braid::nccl {

/// What all versions of the interface share. Where it has nothing to say, NCCL's own choice stays; `decide` changes nothing of the
/// tuner, so threads may share it.
class Tuner {
public:
  /// Reads the file of BRAID_TUNER_FILE and says in the log what becomes of it. `constants`: null before version 5.
  Tuner(size_t ranks, size_t nodes, Logger logger, ConstantsV5 *constants);

  /// Puts cost 0 into the cell of the best choice that NCCL can take here, and sets the number of channels.
  void decide(int function, size_t bytes, int operations, float *costs, int algorithmCount, int protocolCount,
              int *channels) const;

private:
  const Range *rangeOf(int function, size_t bytes) const;
  void replace(ConstantsV5 *constants) const;

  size_t ranks, nodes;
  Logger logger;
  Table table;
  const Communicator *shape = nullptr; ///< in `table`; null: NCCL's own choices
};

} // namespace braid::nccl

#endif
