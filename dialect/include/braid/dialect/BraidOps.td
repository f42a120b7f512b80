//===- BraidOps.td - all operations, for the generator of headers and of the documentation ------*- tablegen -*-===//
#ifndef BRAID_DIALECT_BRAIDOPS_TD
#define BRAID_DIALECT_BRAIDOPS_TD

include "braid/dialect/CollectiveOps.td"
include "braid/dialect/ComputeOps.td"
include "braid/dialect/DestinationOps.td"
include "braid/dialect/RootedOps.td"
include "braid/dialect/ScheduleOps.td"

#endif // BRAID_DIALECT_BRAIDOPS_TD
