//===- Lines.h - closed forms of rings and chains ---------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_LINES_H
#define BRAID_COST_MODELS_PRICING_LINES_H

#include "pricing/ClosedForms.h"

namespace braid::cost {

// Null: the algorithm is another, or messages of several neighbours share a link.

/// Ring all_reduce, reduce_scatter, all_gather.
std::unique_ptr<ClosedForm> ringForm(const FormQuestion &question);
/// Rings in hosts, and rings of the i-th ranks of all hosts.
std::unique_ptr<ClosedForm> ringsForm(const FormQuestion &question);
/// Pipelined chains: broadcast and reduce, and there and back.
std::unique_ptr<ClosedForm> chainForm(const FormQuestion &question);
/// Broadcast as a scatter on a binomial tree and a ring.
std::unique_ptr<ClosedForm> scatterAllGatherForm(const FormQuestion &question);
/// An estimate, of exchanges on many ranks whose last leaf is cut.
std::unique_ptr<ClosedForm> lengthenedForm(const FormQuestion &question);
/// An estimate, of very many ranks on a machine that is not the same everywhere.
std::unique_ptr<ClosedForm> fairShareForm(const FormQuestion &question);

/// Any of them but the last, or kinds.
std::unique_ptr<ClosedForm> formOf(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                   const algorithms::StepOptions &options, const Topology &topology, int first);

} // namespace braid::cost

#endif
