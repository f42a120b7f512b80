//===- GpuDirectPlan.h - plans whose messages NICs read from and write to a device -----------------------------------===//
//
// Nothing is computed on a device's memory by the host, and nothing of it is staged. So a plan is one for GPUDirect only if it receives,
// sends on and copies a rank's own part of a result, nothing else: all_gather, all_to_all, broadcast, gather, scatter, permute,
// send and recv by most algorithms. Reductions, buckets that are packed, operands that need a snapshot and messages that are
// gathered from several places go through pinned memory (Staging.h). Messages on the wire are the same in both cases, so each
// rank decides alone, unlike where devices of one host read each other's memory (Direct.h).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_GPUDIRECTPLAN_H
#define BRAID_RUNTIME_CORE_GPUDIRECTPLAN_H

#include "core/Attachments.h"
#include "core/Plan.h"

namespace braid::runtime {

/// What can be said before anything is planned: empty, or why a request with buffers on a device is not for it.
std::string whyNotGpuDirect(const Request &request, const Transport &transport);

/// `how`: in which way the device is reached. A failure says why the request, with buffers on a device, is not for it;
/// nothing is left of it then.
Outcome makeGpuDirectPlan(const Request &request, Transport &transport, Plan &plan, Attachments &attached,
                          std::string &how);

} // namespace braid::runtime

#endif
