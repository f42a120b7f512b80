//===- TableText.h - what the readers of measured tables share ---------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_TABLETEXT_H
#define BRAID_COST_MODELS_CALIBRATE_TABLETEXT_H

#include "braid/cost_models/Measured.h"
#include <string>
#include <vector>

namespace braid::cost {

std::string lowered(std::string text);
std::vector<std::string> wordsOf(const std::string &line);
/// A finite decimal number that is the whole text.
std::optional<double> numberOf(const std::string &text);
/// "allreduce", "all_reduce_perf", "All-Reduce".
std::optional<CollectiveKind> collectiveOf(std::string text);

/// The lines of a text, whatever ends them, without blanks at their ends.
std::vector<std::string> linesOf(const std::string &text);
/// A line without what launchers put in front of it: "[1,0]<stdout>:", "0: ".
std::string withoutMark(const std::string &line);

/// Whether the text looks like this benchmark's, by its lines.
bool isNcclTests(const std::vector<std::string> &lines);
bool isOsu(const std::vector<std::string> &lines);

/// A run goes through its sizes upwards, or begins again (-N of nccl-tests): rows in another order were moved or mixed.
std::optional<std::string> outOfOrder(const std::vector<MeasuredRow> &rows, size_t sectionBegin,
                                      const MeasuredRow &row);
/// Where the caller says one thing and the table another.
std::optional<std::string> otherCollective(const TableHints &hints, std::optional<CollectiveKind> found);

/// Of a text that does not say how many nodes and ranks there were, where the hints don't either.
Error missingRanks(const std::string &path);

using Lines = std::vector<std::string>;
Result<MeasuredTable> parseCsv(const Lines &lines, const std::string &path, const TableHints &hints);
Result<MeasuredTable> parseNcclTests(const Lines &lines, const std::string &path, const TableHints &hints);
Result<MeasuredTable> parseOsu(const Lines &lines, const std::string &path, const TableHints &hints);

} // namespace braid::cost

#endif
