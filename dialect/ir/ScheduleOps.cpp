//===- ScheduleOps.cpp - start and wait: text, construction, verification ---------------------------------------===//
#include "braid/dialect/BraidOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::braid;

//===------------------------------------------------------------------------------------------------------------===//
// StartOp
//===------------------------------------------------------------------------------------------------------------===//

void StartOp::build(OpBuilder &builder, OperationState &state, ValueRange operands) {
  state.addOperands(operands);
  state.addTypes(TokenType::get(builder.getContext()));
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  for (Value operand : operands)
    block.addArgument(operand.getType(), operand.getLoc());
}

StartOp StartOp::wrap(OpBuilder &builder, CollectiveOpInterface collective) {
  Operation *op = collective;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto start = StartOp::create(builder, op->getLoc(), op->getOperands());
  Block *body = &start.getBody().front();
  op->moveBefore(body, body->end());
  op->setOperands(body->getArguments());
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, op->getLoc(), op->getResults());
  return start;
}

CollectiveOpInterface StartOp::getCollective() {
  for (Operation &op : getBody().front())
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      return collective;
  return {};
}

YieldOp StartOp::getYield() {
  Block &body = getBody().front();
  return body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
}

/// `braid.start(%x = %a, %y = %b) : tensor<4xf32>, tensor<8xf32> attributes {...} { ... }`
ParseResult StartOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, operands))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (parser.resolveOperands(operands, types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  result.addTypes(TokenType::get(parser.getContext()));
  return parser.parseRegion(*result.addRegion(), arguments);
}

void StartOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getOperands()), printer, [&](auto pair) {
    printer.printOperand(std::get<0>(pair));
    printer << " = ";
    printer.printOperand(std::get<1>(pair));
  });
  printer << ')';
  if (!getOperands().empty())
    printer << " : " << getOperands().getTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult StartOp::verify() {
  if (getOperands().empty()) // C1
    return emitOpError("operands, expected at least one, got none");
  // C5. Other uses (calls, loop arguments) hide where the waits are: then nothing is said.
  SmallVector<WaitOp> waits;
  for (Operation *user : getToken().getUsers()) {
    auto wait = dyn_cast<WaitOp>(user);
    if (!wait)
      return success();
    waits.push_back(wait);
  }
  if (waits.empty())
    return emitOpError("token, expected one wait, got none");
  Region *home = (*this)->getParentRegion();
  for (WaitOp wait : waits) {
    for (Operation *around = wait->getParentOp(); around && around != home->getParentOp();
         around = around->getParentOp())
      if (isa<LoopLikeOpInterface>(around)) {
        auto diagnostic = emitOpError("token, expected one wait, got one in a loop that does not hold the start");
        diagnostic.attachNote(wait->getLoc()) << "the wait is here";
        return diagnostic;
      }
    for (WaitOp other : waits)
      if (wait != other && wait->getBlock()->findAncestorOpInBlock(*other)) {
        auto diagnostic = emitOpError("token, expected one wait, got two on one path");
        diagnostic.attachNote(wait->getLoc()) << "one wait is here";
        diagnostic.attachNote(other->getLoc()) << "another wait is here";
        return diagnostic;
      }
  }
  return success();
}

LogicalResult StartOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getNumOperands()) // C1
    return emitOpError("block arguments, expected one for each of ")
           << getNumOperands() << " operands, got " << body.getNumArguments();
  for (auto [index, argument, operand] : llvm::enumerate(body.getArguments(), getOperands()))
    if (argument.getType() != operand.getType()) // C1
      return emitOpError("block argument ")
             << index << ", expected the operand's type " << operand.getType() << ", got " << argument.getType();
  YieldOp yield = getYield();
  CollectiveOpInterface collective;
  for (Operation &op : body) { // C2
    if (yield && &op == yield.getOperation())
      continue;
    auto candidate = dyn_cast<CollectiveOpInterface>(op);
    if (!candidate || collective) {
      auto diagnostic = emitOpError("body, expected one collective and a yield, got ")
                        << (candidate ? "another collective" : "another operation");
      diagnostic.attachNote(op.getLoc()) << "see " << op.getName();
      return diagnostic;
    }
    collective = candidate;
  }
  if (!yield || !collective) // C2
    return emitOpError("body, expected one collective and a yield, got no ") << (collective ? "yield" : "collective");
  if (!llvm::equal(collective->getOperands(), body.getArguments())) { // C3
    auto diagnostic = emitOpError("collective's operands, expected the block arguments in order");
    diagnostic.attachNote(collective->getLoc()) << "the collective is here";
    return diagnostic;
  }
  if (!llvm::equal(yield.getOperands(), collective->getResults())) { // C4
    auto diagnostic = emitOpError("yielded values, expected all results of the collective in order");
    diagnostic.attachNote(yield->getLoc()) << "the yield is here";
    return diagnostic;
  }
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// WaitOp
//===------------------------------------------------------------------------------------------------------------===//

StartOp WaitOp::getStart() { return getToken().getDefiningOp<StartOp>(); }

LogicalResult WaitOp::verify() {
  if (getInputs().empty()) // C1
    return emitOpError("operands, expected at least one beside the token, got none");
  StartOp start = getStart();
  if (!start)
    return success();
  if (!llvm::equal(getInputs(), start.getOperands())) { // C2
    auto diagnostic = emitOpError("operands, expected those of the start in order");
    diagnostic.attachNote(start.getLoc()) << "the start is here";
    return diagnostic;
  }
  // A start that is itself malformed gets its own error.
  CollectiveOpInterface collective = start.getBody().empty() ? CollectiveOpInterface() : start.getCollective();
  if (!collective || collective->getResultTypes() == getResultTypes())
    return success();
  auto diagnostic = emitOpError("results, expected the types of the collective's results: "); // C3
  diagnostic << collective->getResultTypes() << ", got " << getResultTypes();
  diagnostic.attachNote(start.getLoc()) << "the start is here";
  return diagnostic;
}
