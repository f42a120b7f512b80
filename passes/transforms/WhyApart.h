//===- WhyApart.h - why two launches that might be one are two --------------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_WHYAPART_H
#define BRAID_PASSES_TRANSFORMS_WHYAPART_H

#include "braid/cost_models/Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace mlir::braid {

/// Says it of two buckets of one block and key, of which neither depends on the other.
using WhyApart = llvm::function_ref<std::string(int block, int one, int other)>;

/// Of buckets made by a rule: which of its limits they would pass.
std::string apartByRule(const ::braid::cost::Block &block, const ::braid::cost::BucketRule &rule,
                        const ::braid::cost::Bucket &one, const ::braid::cost::Bucket &other);

/// Of a plan's buckets: when the step would end if both were one launch, list scheduled and without noise, and when it ends as it is.
class ApartInPlan {
public:
  ApartInPlan(const ::braid::cost::Program &program, const ::braid::cost::PolicyResult &plan,
              const ::braid::cost::Pricer &pricer, const ::braid::cost::PlanOptions &options)
      : program(program), plan(plan), pricer(pricer), options(options) {}
  std::string operator()(int block, int one, int other);

private:
  const ::braid::cost::Program &program;
  const ::braid::cost::PolicyResult &plan;
  const ::braid::cost::Pricer &pricer;
  const ::braid::cost::PlanOptions &options;
  int64_t left = int64_t(1) << 21; ///< setting: tasks that may be scheduled for it, a second or two
};

} // namespace mlir::braid

#endif
