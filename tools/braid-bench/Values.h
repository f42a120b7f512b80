//===- Values.h - what operands hold, and what results must hold --------------------------------------------*- C++ -*-===//
//
// Operands are 0, 1, 2 or 3, a hash of the rank and the index: a chunk in a wrong place, from a wrong rank, added twice or
// not at all shows up, and sums of up to 40 ranks are exact in every type that is measured, whatever the order.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_BENCH_VALUES_H
#define BRAID_BENCH_VALUES_H

#include <cstddef>
#include <cstdint>

namespace braid::bench {

enum class Kind { AllReduce, ReduceScatter, AllGather, AllToAll, Broadcast, Reduce, Gather, Scatter, Permute };
inline constexpr const char *kindNames[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast",
                                            "reduce",     "gather",         "scatter",    "permute"};
inline bool isRooted(Kind kind) { return kind >= Kind::Broadcast && kind <= Kind::Scatter; }

/// Elements of operand and result where the larger of the two has `elements` (a multiple of the ranks where they differ).
struct Counts {
  size_t send, receive;
};
inline Counts countsOf(Kind kind, size_t elements, int ranks) {
  bool gathers = kind == Kind::AllGather || kind == Kind::Gather;
  bool scatters = kind == Kind::ReduceScatter || kind == Kind::Scatter;
  return {gathers ? elements / size_t(ranks) : elements, scatters ? elements / size_t(ranks) : elements};
}

inline int operandAt(int rank, size_t index) {
  uint64_t x = (uint64_t(index) + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t(rank) + 1) * 0xc2b2ae3d27d4eb4fu;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return int(x >> 62);
}

/// Whether `rank` receives anything.
inline bool receives(Kind kind, int rank, int root) {
  return (kind != Kind::Reduce && kind != Kind::Gather) || rank == root;
}

/// Element `index` of the result on `rank`; `elements` as in countsOf. Permute sends to the next rank.
inline int resultAt(Kind kind, size_t elements, int ranks, int rank, int root, size_t index) {
  size_t block = elements / size_t(ranks);
  int sum = 0;
  switch (kind) {
  case Kind::AllReduce:
  case Kind::Reduce:
  case Kind::ReduceScatter:
    for (int source = 0; source < ranks; ++source)
      sum += operandAt(source, index + (kind == Kind::ReduceScatter ? size_t(rank) * block : 0));
    return sum;
  case Kind::AllGather:
  case Kind::Gather:
    return operandAt(int(index / block), index % block);
  case Kind::AllToAll:
    return operandAt(int(index / block), size_t(rank) * block + index % block);
  case Kind::Broadcast:
    return operandAt(root, index);
  case Kind::Scatter:
    return operandAt(root, size_t(rank) * block + index);
  case Kind::Permute:
    return operandAt((rank + ranks - 1) % ranks, index);
  }
  return 0;
}

} // namespace braid::bench

#endif
