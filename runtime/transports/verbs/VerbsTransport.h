//===- VerbsTransport.h - messages of step programs over RDMA verbs ------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_VERBSTRANSPORT_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_VERBSTRANSPORT_H

#include "core/Transports.h"
#include "transports/verbs/double/Fabric.h"

namespace braid::runtime::verbs {

/// Over any provider: that of libibverbs, or the double's.
Outcome makeTransport(const TransportContext &context, const char *name, Provider &provider,
                      std::unique_ptr<Transport> &transport);

/// The fabric of transports named "verbs-double" that this process makes from now on; null: one of default settings, which those
/// that live at one time share.
void useFabric(std::shared_ptr<Fabric> fabric);

} // namespace braid::runtime::verbs

#endif
