//===- Counts.h - the sizes of a ragged all_to_all's blocks --------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_COUNTS_H
#define BRAID_RUNTIME_CORE_COUNTS_H

#include "core/Request.h"

namespace braid::runtime {

/// Takes the counts of the options, if there are any, which makes the request a ragged one.
Outcome readCounts(const braid_op_options &options, Request &request);
/// Takes the one tensor of a ragged request.
Outcome readRagged(const braid_buffer &buffer, Request &request);

/// Bytes of a share (StepProgram::shareOf) of a ragged request's block.
size_t shareBytes(const Request &request, const algorithms::StepProgram &program, int64_t share);

} // namespace braid::runtime

#endif
