//===- Finding.h - what a check has found ---------------------------------------------------------------------*- C++ -*-===//
#ifndef BRAID_DOCTOR_FINDING_H
#define BRAID_DOCTOR_FINDING_H

#include "braid/cost_models/Cluster.h"
#include <string>
#include <vector>

namespace braid::doctor {

/// In the order in which they are told.
enum class Level { Problem, Warning, NotChecked, Ok };

/// What the model prices a finding by: the same cluster with these changes.
struct Changes {
  double bandwidth = 1; ///< of the NICs, as a fraction of what the cluster file says
  std::vector<cost::ClusterOverride> keys;
  std::string source; ///< of the numbers
};

struct Finding {
  Level level;
  std::string check;   ///< "mtu"
  std::string subject; ///< "mlx5_0/1"
  std::string found, expected, fix;
  Changes changes;      ///< none: it costs no time that the model knows
  std::string unpriced; ///< why, where it costs something else
};

} // namespace braid::doctor

#endif
