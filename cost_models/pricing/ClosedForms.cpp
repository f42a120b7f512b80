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
  double height = std::floor(std::log2(n));
  double segment = double(operand.value) / 2 / segments;
  double transfer = segment / machine.bandwidth.value;
  double reduce = machine.reduction.value > 0 ? segment / machine.reduction.value : 0;
  // The first segment goes up and down the tree. Then one segment of each tree follows in a turn, in which an inner rank
  // passes up to four of them through its link (in one tree to its parent and two children, in the other to its parent).
  double first = 2 * height * (machine.alpha.value + transfer) + 2 * height * reduce;
  double turn = (n == 2 ? 2 : 4) * transfer;
  return Seconds{first + (segments - 1) * turn};
}

} // namespace braid::cost
