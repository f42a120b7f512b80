//===- ClosedForms.cpp - formulas for what playing a step program takes -----------------------------------------===//
#include "pricing/ClosedForms.h"
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

} // namespace braid::cost
