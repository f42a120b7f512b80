//===- OpWork.cpp - roofline terms of single operations ---------------------------------------------------------===//
//
// Matrix products count 2 * M * N * K multiplications and additions, convolutions 2 * outputs * kernel elements /
// output features (padding and dilation are not subtracted). Everything else is bound by memory.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/OpWork.h"

#include "braid/dialect/BraidOps.h"
#include "braid/passes/StablehloOp.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::braid {

int64_t elementsOf(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

int64_t bytesOf(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasStaticShape())
    return 0;
  Type element = type.getElementType();
  int64_t bits = 0;
  if (auto complex = dyn_cast<ComplexType>(element))
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  else if (element.isIntOrFloat())
    bits = std::max<int64_t>(8, element.getIntOrFloatBitWidth());
  return type.getNumElements() * bits / 8;
}

static StringRef plainName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name.consume_front("stablehlo.") || name.consume_front("mhlo."))
    return name;
  return {};
}

SmallVector<int64_t> listIn(StringRef text, StringRef name) {
  SmallVector<int64_t> numbers;
  size_t at = text.find(name);
  if (at == StringRef::npos)
    return numbers;
  StringRef list = text.substr(at + name.size()).ltrim(" =:");
  if (!list.consume_front("["))
    return numbers;
  list = list.take_until([](char c) { return c == ']'; });
  while (!list.empty()) {
    auto [item, rest] = list.split(',');
    int64_t number;
    if (!item.trim().getAsInteger(10, number))
      numbers.push_back(number);
    list = rest;
  }
  return numbers;
}

static std::string elementName(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  getElementTypeOrSelf(type).print(os);
  return text;
}

static std::optional<OpWork> matmulWork(Operation *op, double flops) {
  OpWork work;
  work.flops = flops;
  for (Value operand : op->getOperands())
    work.bytes += bytesOf(operand);
  for (Value result : op->getResults())
    work.bytes += bytesOf(result);
  work.peak = elementName(op->getOperand(0).getType());
  work.matmul = true;
  if (Attribute precision = getSourceAttr(op, "precision_config"))
    work.highest = StringRef(spellingOf(precision)).contains("HIGHEST");
  return work;
}

static std::optional<OpWork> dotWork(Operation *op) {
  auto lhs = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  Attribute numbers = getSourceAttr(op, "dot_dimension_numbers");
  if (!lhs || !lhs.hasStaticShape())
    return std::nullopt;
  double contracted = 1;
  if (numbers) {
    for (int64_t dim : listIn(spellingOf(numbers), "lhs_contracting_dimensions"))
      if (dim >= 0 && dim < lhs.getRank())
        contracted *= lhs.getDimSize(dim);
  } else if (lhs.getRank() > 0) { // stablehlo.dot contracts the last dimension
    contracted = lhs.getShape().back();
  }
  return matmulWork(op, 2.0 * double(elementsOf(op->getResult(0))) * contracted);
}

/// The position of `o` (output features) in the kernel part of `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
static int64_t outputFeatureDim(StringRef text) {
  StringRef kernel = text.split("]x[").second.take_until([](char c) { return c == ']'; });
  int64_t position = 0;
  while (!kernel.empty()) {
    auto [item, rest] = kernel.split(',');
    if (item.trim() == "o")
      return position;
    kernel = rest;
    ++position;
  }
  return -1;
}

static std::optional<OpWork> convolutionWork(Operation *op) {
  auto kernel = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  Attribute numbers = getSourceAttr(op, "dimension_numbers");
  if (!kernel || !kernel.hasStaticShape() || !numbers)
    return std::nullopt;
  int64_t features = outputFeatureDim(spellingOf(numbers));
  if (features < 0 || features >= kernel.getRank() || kernel.getDimSize(features) == 0)
    return std::nullopt;
  double taps = double(kernel.getNumElements()) / double(kernel.getDimSize(features));
  return matmulWork(op, 2.0 * double(elementsOf(op->getResult(0))) * taps);
}

static OpWork memoryWork(double bytes) {
  OpWork work;
  work.bytes = bytes;
  return work;
}

/// A structured operation is a loop nest of its own: contractions run on the matrix units, all else is bound by memory. A
/// destination that the body does not read is only written.
static std::optional<OpWork> structuredWork(linalg::LinalgOp op) {
  double points = 1;
  for (int64_t range : op.getStaticLoopRanges())
    points *= double(std::max<int64_t>(range, 1));
  double bytes = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    bytes += double(bytesOf(input->get()));
  for (OpOperand &init : op.getDpsInitsMutable())
    bytes += double(bytesOf(init.get())) * (op.payloadUsesValueFromOperand(&init) ? 2 : 1);
  if (linalg::isaContractionOpInterface(op) || isa<linalg::ConvolutionOpInterface>(op.getOperation())) {
    OpWork work = memoryWork(bytes);
    work.flops = 2 * points;
    work.peak = elementName(op.getDpsInputOperand(0)->get().getType());
    work.matmul = true;
    return work;
  }
  OpWork work = memoryWork(bytes);
  // What the body computes at each point, apart from what it only hands on.
  int64_t arithmetic = llvm::count_if(*op.getBlock(), [](Operation &inner) {
    return inner.getNumOperands() > 0 && !inner.hasTrait<OpTrait::IsTerminator>();
  });
  work.flops = points * double(arithmetic);
  work.peak = "f32";
  return work;
}

std::optional<OpWork> workOf(Operation *op) {
  StringRef name = plainName(op);
  double in = 0, out = 0;
  for (Value operand : op->getOperands())
    in += double(bytesOf(operand));
  for (Value result : op->getResults())
    out += double(bytesOf(result));
  if (name == "dot_general" || name == "dot")
    return dotWork(op);
  if (name == "convolution")
    return convolutionWork(op);
  if (name == "custom_call" || name == "composite")
    return factsOf(op).cheap ? std::optional<OpWork>(OpWork()) : std::nullopt;
  if (name == "gather" || name == "dynamic_gather" ||
      name == "torch_index_select") // reads what it keeps, and the indices
    return memoryWork(2 * out + double(bytesOf(op->getOperand(1))));
  if (name == "scatter") { // in place: reads and writes what it changes
    double updates = 0;
    for (Value operand : op->getOperands().drop_front(op->getNumResults()))
      updates += double(bytesOf(operand));
    return memoryWork(2 * updates);
  }
  if (name == "sort") // a radix sort of four passes, each reading and writing once
    return memoryWork(4 * (in + out));
  if (name == "cholesky" || name == "triangular_solve" || name == "fft" || name == "einsum" || name == "unary_einsum" ||
      name == "dynamic_conv")
    return std::nullopt; // bound by arithmetic that is not modelled
  if (!name.empty())
    return memoryWork(in + out);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structuredWork(structured);
  return factsOf(op).pure ? std::optional<OpWork>(memoryWork(in + out)) : std::nullopt;
}

//===- values that share memory ---------------------------------------------------------------------------------===//

bool isView(Operation *op) {
  StringRef name = plainName(op);
  return name == "reshape" || name == "bitcast_convert" || name == "broadcast_in_dim" || name == "broadcast";
}

bool isRecomputed(Operation *op, ModuleFacts &facts) {
  if (isView(op))
    return true;
  return plainName(op) == "convert" && llvm::all_of(op->getUsers(), [&](Operation *user) {
           return user->getBlock() == op->getBlock() && !factsOf(user).terminator &&
                  facts.classify(user) == OpClass::Fusible;
         });
}

Value loadedValue(Value value, ModuleFacts &facts) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isRecomputed(op, facts))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// What a fused callee returns as result `index`.
static Value returned(FunctionOpInterface callee, unsigned index) {
  return callee.getFunctionBody().front().getTerminator()->getOperand(index);
}

static FunctionOpInterface fusedCallee(Operation *op, ModuleFacts &facts) {
  FunctionOpInterface callee = factsOf(op).call ? facts.calleeOf(op) : FunctionOpInterface();
  return callee && facts.fusesWhole(callee) ? callee : FunctionOpInterface();
}

Value memoryOf(Value value, ModuleFacts &facts, llvm::DenseMap<Value, Value> *known) {
  SmallVector<Value> passed;
  while (Operation *op = value.getDefiningOp()) {
    if (Value holder = known ? known->lookup(value) : Value()) {
      value = holder;
      break;
    }
    passed.push_back(value);
    unsigned index = cast<OpResult>(value).getResultNumber();
    StringRef name = plainName(op);
    if (isView(op) || name == "dynamic_update_slice" || (name == "custom_call" && factsOf(op).cheap)) {
      value = op->getOperand(0);
    } else if (auto compute = dyn_cast<ComputeOp>(op)) {
      value = compute.getInits()[index];
    } else if (name == "optimization_barrier" || name == "while") {
      value = op->getOperand(index);
    } else if (FunctionOpInterface callee = fusedCallee(op, facts)) {
      auto argument = dyn_cast<BlockArgument>(memoryOf(returned(callee, index), facts));
      if (!argument || argument.getOwner() != &callee.getFunctionBody().front())
        break;
      value = op->getOperand(argument.getArgNumber());
    } else {
      break;
    }
  }
  for (Value each : known ? passed : SmallVector<Value>())
    (*known)[each] = value;
  return value;
}

int64_t bytesRead(OpOperand &use, ModuleFacts &facts) {
  Operation *op = use.getOwner();
  int64_t all = bytesOf(use.get());
  StringRef name = plainName(op);
  if (op->hasTrait<OpTrait::IsTerminator>() || name == "return")
    return 0; // passes it on
  if (use.getOperandNumber() == 0) {
    if (name == "slice" || name == "dynamic_slice" || name == "real_dynamic_slice")
      return std::min(all, bytesOf(op->getResult(0)));
    if (name == "dynamic_update_slice")
      return 0;
  }
  if (FunctionOpInterface callee = fusedCallee(op, facts)) {
    int64_t sum = 0;
    for (OpOperand &inner : callee.getFunctionBody().front().getArgument(use.getOperandNumber()).getUses())
      sum += bytesRead(inner, facts);
    return std::min(all, sum);
  }
  return all;
}

int64_t bytesWritten(Value value, ModuleFacts &facts) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return bytesOf(value);
  StringRef name = plainName(op);
  if (name == "dynamic_update_slice")
    return bytesOf(op->getOperand(1));
  if (FunctionOpInterface callee = fusedCallee(op, facts)) {
    Value inner = returned(callee, cast<OpResult>(value).getResultNumber());
    return isa<BlockArgument>(inner) ? 0 : std::min(bytesOf(value), bytesWritten(inner, facts));
  }
  return bytesOf(value);
}

} // namespace mlir::braid
