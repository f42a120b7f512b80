//===- Registry.cpp - the list of algorithms --------------------------------------------------------------------===//
#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::algorithms {

const char *name(Collective collective) {
  switch (collective) {
  case Collective::AllReduce:
    return "all_reduce";
  case Collective::ReduceScatter:
    return "reduce_scatter";
  case Collective::AllGather:
    return "all_gather";
  case Collective::AllToAll:
    return "all_to_all";
  case Collective::Permute:
    return "permute";
  case Collective::Broadcast:
    return "broadcast";
  }
  return "unknown";
}

} // namespace braid::algorithms
