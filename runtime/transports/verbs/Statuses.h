//===- Statuses.h - errors of completions as sentences ---------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_STATUSES_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_STATUSES_H

#include "transports/verbs/Knobs.h"
#include "transports/verbs/Verbs.h"

namespace braid::runtime::verbs {

/// "retry exceeded (IBV_WC_RETRY_EXC_ERR, 12, vendor 0x81): no answer to 8 tries of 4.29 s each; is ...?"
std::string describe(const Completion &completion, const Knobs &knobs);
/// Whether the rail is to blame, so that another one may do; else what was asked for was wrong.
bool ofRail(Status status);

} // namespace braid::runtime::verbs

#endif
