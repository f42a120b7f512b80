//===- StablehloOp.h - facts about operations read by name -----------------===//
//
// Braid reads StableHLO by name, so it cannot ask an operation for its traits or for its typed attributes. This header
// is the one place that knows both:
//
//  * `factsOf`: what an operation does (pure, effects, regions, ...), from one table of names for StableHLO, CHLO, MHLO
//  and
//    Shardy, and from MLIR's own interfaces for registered operations. What it does not know is a barrier, and whoever
//    treats it so says it in a remark.
//  * `getSourceAttr` and its kin: attributes in each of the three encodings that programs come in,
//      properties      "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64}> ...     (placeholder dialect)
//      attributes      "stablehlo.all_gather"(%0) {all_gather_dim = 0 : i64} ...       (placeholder dialect)
//      registered      the real dialect of a host that embeds Braid
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PASSES_STABLEHLOOP_H
#define BRAID_PASSES_STABLEHLOOP_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <memory>

namespace mlir::braid {

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// What is known about one operation. Facts are about the operation itself: those of operations inside its regions are
/// asked apart (`isPureWithRegions`).
struct OpFacts {
  bool known = false;       ///< in the table, or registered; what is not known is a barrier
  bool pure = false;        ///< no effects, and the same operands give the same results: may move, merge or die
  bool hasRegions = false;  ///< runs its regions (loop, branch, reduction body, ...)
  bool terminator = false;  ///< ends a block
  bool elementwise = false; ///< result element i depends on operand elements i only
  bool fusible = false; ///< runs inside a fused kernel with its neighbours (elementwise, broadcast, slice, reduce, ...)
  bool cheap = false;   ///< costs no kernel of its own (constant, iota, reshape, tuple plumbing)
  bool controlFlow = false; ///< while, case, if: regions run some number of times
  bool call = false;        ///< runs another function, whose effects it has
  bool collective = false;  ///< communicates among ranks
  bool orders =
      false; ///< optimization_barrier: identity of its operands that keeps what is before apart from what is after
  bool barrier = false; ///< nothing with an effect, and no collective, may move across: unknown, or has an effect
  bool perRank = false; ///< its result differs by rank (partition_id, replica_id)
};

/// The facts of `op`. Looks at attributes too where they decide (custom_call's has_side_effect).
OpFacts factsOf(Operation *op);

/// The facts of an operation name, for tables and tests; unknown names give `known == false`.
OpFacts factsOf(StringRef name);

/// True if `op` and everything inside its regions is pure (terminators aside).
bool isPureWithRegions(Operation *op);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The three encodings of the banner above.
enum class SourceEncoding { Properties, Attributes, Registered };

/// The encoding of `op`. An operation without attributes counts as Properties, what every current producer writes.
SourceEncoding encodingOf(Operation *op);

/// The attribute `name` of `op` in whichever encoding it has, or null.
Attribute getSourceAttr(Operation *op, StringRef name);
template <typename T> T getSourceAttr(Operation *op, StringRef name) {
  return dyn_cast_or_null<T>(getSourceAttr(op, name));
}

/// Every attribute of `op` that is part of its encoding: properties if it has them, else the attribute dictionary.
/// For a registered operation: its inherent attributes.
DictionaryAttr getSourceAttrs(Operation *op);

/// Replaces or adds the attribute `name`, in the encoding that `op` has.
void setSourceAttr(Operation *op, StringRef name, Attribute value);

/// The spelling of `attr` without the leading "#": "stablehlo.channel_handle<handle = 1, type = 1>" for the
/// placeholder's opaque attribute and for the real dialect's alike.
std::string spellingOf(Attribute attr);

/// Creates an operation by name with `attrs` in the encoding asked for; `discardable` stay in the attribute dictionary.
Operation *createSourceOp(OpBuilder &builder, Location loc, StringRef name, ValueRange operands, TypeRange results,
                          ArrayRef<NamedAttribute> attrs, SourceEncoding encoding,
                          ArrayRef<NamedAttribute> discardable = {},
                          MutableArrayRef<std::unique_ptr<Region>> regions = {});

} // namespace mlir::braid

#endif // BRAID_PASSES_STABLEHLOOP_H
