//===- Certificate.cpp - the proof that a plan carries ----------------------------------------------------------===//
#include "analysis/Certificate.h"

#include "analysis/IssueOrder.h"
#include "mlir/IR/Builders.h"
#include <cmath>

namespace mlir::braid {

DictionaryAttr makeCertificate(ModuleOp module, const ModelledPlan &plan) {
  Builder builder(module.getContext());
  const cost::PolicyResult &braid = plan.result.braid();
  NamedAttrList attrs;
  auto seconds = [&](StringRef name, cost::Seconds time) { attrs.set(name, builder.getF64FloatAttr(time.value)); };
  auto text = [&](StringRef name, StringRef value) { attrs.set(name, builder.getStringAttr(value)); };
  seconds("bound_s", plan.result.bound.time);
  text("witness", plan.result.bound.witness);
  seconds("predicted_s", braid.total); // without noise, as the bound is
  double bound = plan.result.bound.time.value;
  double gap = bound > 0 ? braid.total.value / bound - 1 : 0;
  attrs.set("gap", builder.getF64FloatAttr(std::abs(gap) < 1e-12 ? 0 : gap)); // sums in another order
  text("objective", plan.options.objective.kind == cost::ObjectiveKind::Training ? "training" : "serving");
  attrs.set("quantile", builder.getF64FloatAttr(plan.options.objective.quantile));
  seconds("objective_s", braid.objective);
  seconds("p50_s", braid.quantiles.p50);
  seconds("p95_s", braid.quantiles.p95);
  seconds("p99_s", braid.quantiles.p99);
  const cost::QuantileBound &drawn = plan.result.quantileBound; // of any schedule, under the draws of the four above
  seconds("bound_objective_s", drawn.objective);
  seconds("bound_p50_s", drawn.p50);
  seconds("bound_p95_s", drawn.p95);
  seconds("bound_p99_s", drawn.p99);
  text("rule", braid.rule);
  text("cluster", plan.cluster.name);
  text("cluster_hash", plan.cluster.hash);
  attrs.set("in_flight", builder.getI64IntegerAttr(plan.options.inFlight));
  attrs.set("ranks", builder.getI64IntegerAttr(plan.model.ranks.ranks()));

  IssueOrder order = issueOrder(module);
  NamedAttrList communicators;
  for (const auto &[name, hash] : order.communicators)
    communicators.set(name, builder.getStringAttr(hash));
  text("order", order.all);
  attrs.set("orders", communicators.getDictionary(module.getContext()));
  attrs.set("certified", builder.getBoolAttr(plan.model.openQuestions.empty()));
  if (!plan.model.openQuestions.empty()) {
    SmallVector<StringRef> questions(plan.model.openQuestions.begin(), plan.model.openQuestions.end());
    attrs.set("not_certified", builder.getStrArrayAttr(questions));
  }
  return attrs.getDictionary(module.getContext());
}

} // namespace mlir::braid
