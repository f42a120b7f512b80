//===- Sweep.h - one key of a cluster file over several values ---------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_SIM_SWEEP_H
#define BRAID_TOOLS_BRAID_SIM_SWEEP_H

#include "braid/cost_models/Result.h"
#include <vector>

namespace mlir::braid::sim {

struct Sweep {
  std::string knob;                       ///< empty: nothing is swept
  std::vector<std::string> values = {""}; ///< as a cluster file would have them
};

/// "inter.latency=1us..10us:5": five values from 1 to 10 us, each the same factor above the last (the same step where the
/// low end is 0); whole numbers where both ends are. "inter.profile.adaptive_routing=on,off": these values. "": no sweep.
::braid::cost::Result<Sweep> parseSweep(const std::string &text);

} // namespace mlir::braid::sim

#endif
