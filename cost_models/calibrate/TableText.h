//===- TableText.h - what the readers of measured tables share ---------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_TABLETEXT_H
#define BRAID_COST_MODELS_CALIBRATE_TABLETEXT_H

#include "braid/cost_models/Measured.h"

namespace braid::cost {

std::string lowered(std::string text);
std::vector<std::string> wordsOf(const std::string &line);
/// A finite decimal number that is the whole text.
std::optional<double> numberOf(const std::string &text);
/// "allreduce", "all_reduce_perf", "All-Reduce".
std::optional<CollectiveKind> collectiveOf(std::string text);

/// Of a text that does not say how many nodes and ranks there were, where the hints don't either.
Error missingRanks(const std::string &path);

Result<MeasuredTable> parseNcclTests(const std::string &text, const std::string &path, const TableHints &hints);
Result<MeasuredTable> parseOsu(const std::string &text, const std::string &path, const TableHints &hints);

} // namespace braid::cost

#endif
