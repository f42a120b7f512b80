//===- TripGraph.h - what of a loop's body reads what, by numbers ---------------------------------------------===//
//
// The operations of a body in program order, but those that are made of constants only (each reader has its own). Questions about
// hundreds of collectives in bodies of thousands of operations are asked of bits.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_TRIPGRAPH_H
#define BRAID_PASSES_ANALYSIS_TRIPGRAPH_H

#include "analysis/LoopStages.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::braid {

class TripGraph {
public:
  using Marks = llvm::BitVector; ///< some of the operations

  TripGraph(const CarryingLoop &loop, ModuleFacts &facts);

  const CarryingLoop &loop;
  ModuleFacts &facts;
  std::vector<Operation *> ops;
  std::vector<OpClass> kinds;
  SmallVector<int> collectives;
  Marks kernels; ///< computation
  Marks stops;   ///< what nothing may be in flight across

  int size() const { return int(ops.size()); }
  Marks none() const { return Marks(unsigned(ops.size())); }
  /// -1: none of these.
  int placeOf(Operation *op) const {
    auto found = places.find(op);
    return found == places.end() ? -1 : found->second;
  }
  /// Of the trip: whose results an operation reads, and who reads its own.
  ArrayRef<int> sources(int op) const { return sourcesOf.of(op); }
  ArrayRef<int> readers(int op) const { return readersOf.of(op); }
  /// Of what the loop carries: which values an operation reads, who reads a value, and who makes it for the next trip (-1: no
  /// operation of the trip).
  ArrayRef<int> carriedTo(int op) const { return carriedOf.of(op); }
  ArrayRef<int> readersOfCarried(int value) const { return carriedReaders.of(value); }
  int maker(int value) const { return makers[size_t(value)]; }

  /// With all that wait for one of these within the trip.
  Marks after(Marks late) const;
  /// All of the next trip that wait for one of these.
  Marks afterInNext(const Marks &late) const;

private:
  /// Lists of numbers, one after another.
  struct Lists {
    std::vector<int> begins{0}, values;
    void close() { begins.push_back(int(values.size())); }
    ArrayRef<int> of(int list) const {
      return ArrayRef<int>(values).slice(size_t(begins[list]), size_t(begins[list + 1] - begins[list]));
    }
    /// In whose lists each of `count` numbers stands.
    Lists turned(int count) const;
  };

  llvm::DenseMap<Operation *, int> places;
  Lists sourcesOf, readersOf, carriedOf, carriedReaders;
  std::vector<int> makers;
};

} // namespace mlir::braid

#endif
