//===- CarriedTokens.h - tokens that loops and branches pass on -------------------------------------------------===//
//
// A wait that does not see its start must still have the tensors in flight, so that nobody else gets their buffers. So
// wherever a token goes, they go too.
//
//   scf.for iter_args(%t = %first) -> (!braid.token)
//   scf.for iter_args(%t = %first, %d = %destination) -> (!braid.token, tensor<4xf32>)
//
// all_reduce and broadcast work in place then: the destination is all there is. Of others it is the operands, which are
// copied to tensors of their own, and the destinations. (The operands that a program carries itself, for its wait, are no
// longer used.) Until all are there, an unrealized cast of a token to tensors stands for them.
//
// Bufferization keeps one buffer for each tensor that a loop carries, and copies what a trip hands on into it, unless it is that
// buffer or a new one. A scf.while copies new ones too. So where tokens go through a scf.while, or trade places in a way that unrolling
// does not undo, what goes along is a buffer (memref), which nobody copies.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_CARRIEDTOKENS_H
#define BRAID_PASSES_LOWERING_CARRIEDTOKENS_H

#include "braid/dialect/BraidOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

/// What goes along with a token that is passed on.
enum class Carried { Nothing, Tensors, Buffers };

class CarriedTokens {
public:
  /// Follows the tokens of all starts, and extends what carries them. Errors: a token that goes anywhere else.
  LogicalResult extend(ModuleOp module, llvm::DenseSet<Operation *> shiftingLoops);
  /// What loops and branches carry beside the token of a start; nothing: only waits use it.
  Carried carried(StartOp start) {
    if (!types.contains(start.getToken()))
      return Carried::Nothing;
    return carriedByBuffers.contains(start) ? Carried::Buffers : Carried::Tensors;
  }
  /// Of a tensor, in one piece.
  static MemRefType bufferOf(Type tensor) {
    auto type = cast<RankedTensorType>(tensor);
    return MemRefType::get(type.getShape(), type.getElementType());
  }

  /// How a collective is launched whose token is passed on.
  static bool isInPlace(CollectiveOpInterface collective) {
    CollectiveKind kind = collective.getCollectiveKind();
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast;
  }

  /// What stands for the tensors in flight of a token: inputs, then destinations.
  ValueRange standIns(OpBuilder &builder, Location loc, Value token);
  /// Those of a start's token, which is replaced by the launch's.
  void launched(StartOp start, LaunchOp launch);
  /// Puts them where they were stood for.
  void resolve();
  /// Gives the program's own results of a branch that became a switch buffers of their own: upstream's bufferization does not see
  /// that they are what the sides yield.
  void separateResults();

private:
  LogicalResult follow(StartOp start, SmallVectorImpl<Value> &reached);
  LogicalResult decideTypes(StartOp start, ArrayRef<Value> reached);
  LogicalResult meet(StartOp start, Value to);
  LogicalResult passOn(OpOperand &use, SmallVectorImpl<Value> &to);
  SmallVector<std::pair<unsigned, SmallVector<Type>>> tokensAmong(ValueRange values);
  SmallVector<Value> allStandIns(OpBuilder &builder, Location loc, ValueRange values);
  void record(ValueRange values, ValueRange added);
  void extend(scf::ForOp loop);
  void extend(scf::WhileOp loop);
  void extend(scf::IfOp branch);
  void extend(scf::IndexSwitchOp branch);

  llvm::DenseMap<Value, SmallVector<Type>> types; ///< of what is in flight, by token
  llvm::DenseMap<Value, StartOp> starts;          ///< the first that was followed to a token
  llvm::DenseSet<Operation *> shifting;           ///< loops whose tokens trade places for ever
  llvm::DenseSet<Operation *> carriedByBuffers;   ///< starts whose tokens go through those, or through a scf.while
  llvm::DenseMap<Value, SmallVector<Value>> known;
  SmallVector<UnrealizedConversionCastOp> casts;
  SmallVector<std::pair<scf::IndexSwitchOp, unsigned>> switches; ///< and how many results they had before
};

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_CARRIEDTOKENS_H
