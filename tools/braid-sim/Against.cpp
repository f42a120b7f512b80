//===- Against.cpp - the plans of one program for two clusters --------------------------------------------------===//
//
// Does the fabric change the plan? The launches of both plans are compared one by one; then each cluster runs the
// other's plan, which says what the difference is worth. Where the plans are equal, the margin by which the best other
// one tried loses says how far they are from differing.
//===------------------------------------------------------------------------------------------------------------===//
#include "Against.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

static std::string describe(const PlannedCollective &c) {
  return c.kind + " of " + cost::toString(cost::Bytes{c.bytes}) + " by " + c.algorithm +
         (c.protocol.empty() ? "" : "/" + c.protocol);
}

cost::Schedule mlir::braid::sim::translated(const ModulePlan &from, const ModulePlan &to,
                                            const cost::Program &program) {
  cost::Schedule schedule = from.result.braid().schedule;
  const cost::Program &planned = from.programOf(from.result.braid());
  for (size_t b = 0; b < schedule.blocks.size(); ++b)
    for (cost::Bucket &bucket : schedule.blocks[b].buckets) {
      const cost::CollectiveSpec was = cost::mergedSpec(planned.blocks[b], bucket);
      const cost::CollectiveSpec is = cost::mergedSpec(program.blocks[b], bucket);
      const cost::Candidate &chosen = from.pricer->candidates(was)[bucket.candidate];
      const std::vector<cost::Candidate> &candidates = to.pricer->candidates(is);
      bucket.candidate = 0; // not offered there: the cheapest is
      for (size_t c = 0; c < candidates.size(); ++c)
        if (candidates[c].algorithm == chosen.algorithm && candidates[c].protocol == chosen.protocol &&
            candidates[c].chunks == chosen.chunks) {
          bucket.candidate = int(c);
          break;
        }
    }
  return schedule;
}

/// Both plans on draws that neither was chosen by.
static double loss(const ModulePlan &cluster, const ModulePlan &plan) {
  cost::SampleOptions unseen = cost::unseen(cluster.options.sampling);
  auto judged = [&](const cost::Program &program, const cost::Schedule &schedule) {
    return cost::objective(program, schedule, *cluster.pricer, cluster.options.objective, unseen).value;
  };
  FailureOr<cost::Program> here = programOn(plan, cluster.pricer->cluster());
  assert(succeeded(here) && "it was modelled before");
  const cost::PolicyResult &own = cluster.result.braid();
  return judged(*here, translated(plan, cluster, *here)) / judged(cluster.programOf(own), own.schedule) - 1;
}

double mlir::braid::sim::marginOf(const ModulePlan &plan) {
  double best = -1;
  for (const cost::Alternative &other : plan.result.alternatives)
    if (!other.sameLaunches) {
      double over = other.objective.value / plan.result.braid().objective.value - 1;
      best = best < 0 ? over : std::min(best, over);
    }
  return best;
}

Difference mlir::braid::sim::differenceOf(const ModulePlan &here, const ModulePlan &there) {
  Difference d;
  size_t count = std::max(here.collectives.size(), there.collectives.size());
  for (size_t i = 0; i < count && !d.differ; ++i) {
    std::string a = i < here.collectives.size() ? describe(here.collectives[i]) : "nothing";
    std::string b = i < there.collectives.size() ? describe(there.collectives[i]) : "nothing";
    if (a != b) {
      d.differ = true;
      d.first = llvm::formatv("launch {0}: {1} here, {2} there", i, a, b);
    }
  }
  if (here.collectives.empty() || there.collectives.empty())
    return d;
  d.lossHere = loss(here, there);
  d.lossThere = loss(there, here);
  d.marginHere = marginOf(here);
  d.marginThere = marginOf(there);
  return d;
}

static std::string percent(double fraction) { return llvm::formatv("{0:f2} %", fraction * 100); }

std::string mlir::braid::sim::toText(const Difference &d, llvm::StringRef here, llvm::StringRef there) {
  std::string text = "  against " + there.str() + ": ";
  if (d.differ)
    text += "the plans differ, first in " + d.first;
  else
    text += "the plans have the same buckets and algorithms";
  text += "\n    the other's plan costs " + percent(d.lossHere) + " more on " + here.str() + "; this plan costs " +
          percent(d.lossThere) + " more on " + there.str() + ", by draws that neither saw\n";
  auto say = [&](llvm::StringRef cluster, double margin) {
    text += "    on " + cluster.str() + " the best other buckets or algorithms tried lose by " +
            (margin < 0 ? std::string("(none were tried)") : percent(margin)) + "\n";
  };
  say(here, d.marginHere);
  say(there, d.marginThere);
  return text;
}

llvm::json::Value mlir::braid::sim::toJson(const Difference &d, llvm::StringRef there) {
  return llvm::json::Object{{"cluster", there},
                            {"differ", d.differ},
                            {"first_difference", d.first},
                            {"loss_here", d.lossHere},
                            {"loss_there", d.lossThere},
                            {"margin_here", d.marginHere},
                            {"margin_there", d.marginThere}};
}
