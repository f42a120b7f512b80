//===- Draws.h - what the draws of this library share -----------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_FABRICS_DRAWS_H
#define BRAID_COST_MODELS_FABRICS_DRAWS_H

#include "braid/cost_models/Fabric.h"

namespace braid::cost {

namespace purpose = draws::purpose;
using draws::lognormalWithMeanOne;

} // namespace braid::cost

#endif
