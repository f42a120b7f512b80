//===- Packing.h - several tensors as one, for consumers without buckets ---===//
//
// A collective over several tensors moves the same bytes as the collective of one tensor that holds them all. Packing
// decides how the tensors lie in it so that every rank finds its part:
//
//   all_reduce, permute, broadcast   [n1 | n2 | ...]               flattened, one after another
//   all_gather      send [1, n1 | n2 | ...], get [g, N]            row r is what rank r sent
//   reduce_scatter  send [g, n1 | n2 | ...], get [1, N]            row r is what rank r gets
//   all_to_all      send [g, n1 | n2 | ...], get [g, N]            row r goes to rank r, came from rank r
//
// where g is the size of a group and the dimension that a collective gathers, scatters, splits or concatenates is first
// moved to the front. Element by element a reduction adds the same values in the same order as before.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PASSES_EXPORT_PACKING_H
#define BRAID_PASSES_EXPORT_PACKING_H

#include "braid/dialect/BraidOps.h"
#include "braid/passes/StablehloOp.h"
#include "mlir/IR/Builders.h"

namespace mlir::braid {

/// The dimensions of one operand that its collective works along; which of them mean something depends on the kind.
struct CollectiveDims {
  int64_t in = 0;  ///< gathered, scattered or split
  int64_t out = 0; ///< concatenated (all_to_all)
  bool operator==(const CollectiveDims &other) const { return in == other.in && out == other.out; }
};

/// The dimensions of operand `index` of a collective.
CollectiveDims dimsOf(CollectiveOpInterface collective, unsigned index);

/// Some operands of a collective, of one element type and with static shapes, as one tensor.
class Packing {
public:
  /// `even` (all_reduce): zeros behind the last tensor, so that each rank of the group can have as many elements.
  Packing(CollectiveOpInterface collective, ArrayRef<unsigned> members, int64_t groupSize, SourceEncoding encoding,
          bool even = false);

  /// The tensor to send, made of the members' `values`.
  Value pack(OpBuilder &builder, ValueRange values) const;
  /// The type of what arrives.
  RankedTensorType resultType() const { return received; }
  /// The members' results, out of what arrived.
  SmallVector<Value> unpack(OpBuilder &builder, Value packed) const;

private:
  struct Member {
    Location loc;
    RankedTensorType operand, result;
    CollectiveDims dims;
    int64_t elements = 0; ///< in one row
  };

  Value zeros(OpBuilder &builder) const;
  Value packOne(OpBuilder &builder, const Member &member, Value value) const;
  Value unpackOne(OpBuilder &builder, const Member &member, Value slice) const;
  Value reshape(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) const;
  Value transpose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) const;

  CollectiveKind kind;
  int64_t groupSize;
  SourceEncoding encoding;
  Location loc;
  SmallVector<Member> members;
  int64_t padding = 0; ///< elements behind the last member
  RankedTensorType sent, received;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_EXPORT_PACKING_H
