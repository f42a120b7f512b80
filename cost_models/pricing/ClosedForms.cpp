//===- ClosedForms.cpp - which form an algorithm has --------------------------------------------------------------===//
#include "pricing/ClosedForms.h"
#include "braid/runtime/algorithms/Levels.h"
#include "pricing/Kinds.h"
#include "pricing/Lines.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

Seconds ringTime(CollectiveKind kind, int n, Bytes operand, const UniformMachine &machine) {
  if (n <= 1)
    return {};
  double block = double(operand.value) / (kind == CollectiveKind::AllGather ? 1 : n);
  double steps = kind == CollectiveKind::AllReduce ? 2 * (n - 1) : n - 1;
  double reducing = kind == CollectiveKind::AllGather ? 0 : n - 1;
  return machine.alpha * steps + Seconds{steps * block / machine.bandwidth.value} +
         Seconds{machine.reduction.value > 0 ? reducing * block / machine.reduction.value : 0};
}

Seconds doubleTreeTime(int n, Bytes operand, int segments, const UniformMachine &machine) {
  if (n <= 1)
    return {};
  double h = std::floor(std::log2(n));
  double segment = double(operand.value) / 2 / segments; // each tree carries a half
  double transfer = segment / machine.bandwidth.value;
  double reduce = machine.reduction.value > 0 ? segment / machine.reduction.value : 0;
  double alpha = machine.alpha.value;
  // Two children share the link into their parent, and the link out of it: a level costs two transfers, but for two
  // ranks.
  double level = n == 2 ? transfer : 2 * transfer;
  double first = 2 * h * (alpha + level) + h * reduce - (n == 2 ? 0 : transfer);
  // Then one segment of each tree follows in a turn. An inner rank passes up to four of them through its link (in one
  // tree to its parent and two children, in the other to its parent); and a rank at depth h has 2 h messages ahead of
  // it for 2 h + 1 segments.
  double turn = std::max((n == 2 ? 2 : 4) * transfer, 2 * h / (2 * h + 1) * (alpha + level + reduce / 2));
  return Seconds{first + (segments - 1) * turn};
}

namespace {
class OfKinds : public ClosedForm {
public:
  explicit OfKinds(std::unique_ptr<KindProgram> program) : program(std::move(program)) {}
  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                              BytesPerSecond reduction) const override {
    return program->play(operand, links, reduction);
  }
  bool exact() const override { return program->exact(); }
  int players() const override { return program->players(); }
  std::string how() const override { return program->how(); }

private:
  std::unique_ptr<KindProgram> program;
};
} // namespace

std::unique_ptr<ClosedForm> ClosedForm::make(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                             const algorithms::StepOptions &options, const Topology &topology,
                                             int first) {
  if (std::unique_ptr<ClosedForm> form = formOf(algorithm, kind, ranks, options, topology, first))
    return form;
  return fairShareForm({algorithm, kind, ranks, options, topology, first});
}

std::unique_ptr<ClosedForm> formOf(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                   const algorithms::StepOptions &asked, const Topology &topology, int first) {
  if (topology.dealsMessages())
    return nullptr; // forms have one way for each message
  algorithms::StepOptions options = asked;
  std::vector<int> hosts(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    hosts[rank] = topology.cluster().hostOf(first + rank);
  options.hosts = algorithms::levels(std::move(hosts));
  FormQuestion question{algorithm, kind, ranks, options, topology, first};
  for (auto form : {ringForm, ringsForm, chainForm, scatterAllGatherForm})
    if (std::unique_ptr<ClosedForm> made = form(question))
      return made;
  auto program = KindProgram::make(algorithm, kind, ranks, options, topology, first);
  if (program && !program->exact())
    if (std::unique_ptr<ClosedForm> made = lengthenedForm(question))
      return made;
  return program ? std::make_unique<OfKinds>(std::move(program)) : nullptr;
}

} // namespace braid::cost
