//===- Predict.h - rows of measured tables as questions to a model ------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_PREDICT_H
#define BRAID_COST_MODELS_CALIBRATE_PREDICT_H

#include "braid/cost_models/Fit.h"
#include "pricing/GroupShape.h"

namespace braid::cost {

/// The model's name for a table's: "rabenseifner" for "rabenseifner_ompi", "ring" for "ring"; empty: the model has none.
/// A table that names none ("") stays so.
std::optional<std::string> algorithmOf(const std::string &name, CalibratedModel model);

/// The whole machine of a row as one group.
GroupShape shapeOf(const MeasuredRow &row, const Cluster &cluster);

/// The rows that are fitted and judged, of those that the model can price; the others are noted.
std::vector<MeasuredRow> usableRows(const MeasuredTable &table, CalibratedModel model, std::vector<std::string> &notes);

} // namespace braid::cost

#endif
