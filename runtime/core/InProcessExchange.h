//===- InProcessExchange.h - ranks that are threads of one process meet here --------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_INPROCESSEXCHANGE_H
#define BRAID_RUNTIME_CORE_INPROCESSEXCHANGE_H

#include "core/Exchange.h"

namespace braid::runtime {

/// One exchange for each of `ranks` threads. They may be used, and end, in any order.
std::vector<std::shared_ptr<Exchange>> inProcessExchanges(int ranks);

} // namespace braid::runtime

#endif
