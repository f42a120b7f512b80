//===- Published.cpp - NCCL's published formula beside a fit -------------------------------------------------------===//
//
// What a user has without calibration: NCCL's constants and one number of the machine, the bus bandwidth between hosts,
// which is chosen so that the median error is least.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/Predict.h"
#include "pricing/NcclModel.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

static Residual publishedPrice(const MeasuredRow &row, const Cluster &cluster) {
  NcclQuestion question;
  question.kind = row.kind;
  question.bytes = row.kind == CollectiveKind::AllGather ? Bytes{row.bytes.value / row.ranks()} : row.bytes;
  question.shape = shapeOf(row, cluster);
  Residual residual{row, {}, "", false};
  for (const Candidate &c : ncclCollective(question, cluster))
    if ((row.algorithm.empty() || row.algorithm == c.algorithm) &&
        (residual.predicted.value == 0 || c.time < residual.predicted)) {
      residual.predicted = c.time;
      residual.protocol = c.protocol;
    }
  return residual;
}

Result<FitResult> fitPublished(const MeasuredTable &table, const Cluster &machine, const FitOptions &options) {
  FitResult best;
  std::vector<std::string> notes = table.notes;
  std::vector<MeasuredRow> rows = usableRows(table, CalibratedModel::Nccl, notes);
  if (rows.empty())
    return Error{"measured table, expected rows of NCCL's ring or tree, got none", table.path};
  Cluster cluster = machine;
  cluster.ncclFit.clear();
  bool inside = std::all_of(rows.begin(), rows.end(), [](const MeasuredRow &row) { return row.hosts == 1; });
  BytesPerSecond &bus = inside ? cluster.nccl.busBandwidthIntra : cluster.nccl.busBandwidthInter;
  double full =
      inside ? cluster.intra.bandwidth.value : cluster.inter.bandwidth.value * std::max(1, cluster.nicsPerHost);
  for (double part = 0.2; part <= 1; part += 0.01) { // setting: the parts that are tried
    bus = {full * part};
    FitResult fit;
    for (const MeasuredRow &row : rows) {
      Residual residual = publishedPrice(row, cluster);
      residual.heldOut = options.heldOut && options.heldOut(row);
      fit.residuals.push_back(residual);
    }
    if (best.residuals.empty() || fit.medianError(false) < best.medianError(false)) {
      best = std::move(fit);
      best.notes = notes;
      best.notes.push_back("bus bandwidth " + toString(bus));
    }
  }
  best.picks = picksOf(best.residuals);
  return best;
}

} // namespace braid::cost
