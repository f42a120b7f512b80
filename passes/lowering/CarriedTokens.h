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
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_CARRIEDTOKENS_H
#define BRAID_PASSES_LOWERING_CARRIEDTOKENS_H

#include "braid/dialect/BraidOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

class CarriedTokens {
public:
  /// Follows the tokens of all starts, and extends what carries them. Errors: a token that goes anywhere else.
  LogicalResult extend(ModuleOp module);
  /// Whether the token of a start is used by others than waits.
  bool isCarried(StartOp start) { return types.contains(start.getToken()); }

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

private:
  LogicalResult follow(StartOp start);
  LogicalResult passOn(OpOperand &use, SmallVectorImpl<Value> &to);
  SmallVector<std::pair<unsigned, SmallVector<Type>>> tokensAmong(ValueRange values);
  SmallVector<Value> allStandIns(OpBuilder &builder, Location loc, ValueRange values);
  void record(ValueRange values, ValueRange added);
  void extend(scf::ForOp loop);
  void extend(scf::WhileOp loop);
  void extend(scf::IfOp branch);

  llvm::DenseMap<Value, SmallVector<Type>> types; ///< of what is in flight, by token
  llvm::DenseMap<Value, SmallVector<Value>> known;
  SmallVector<UnrealizedConversionCastOp> casts;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_CARRIEDTOKENS_H
