//===- WriteProgram.cpp - a workload as a module -------------------------------------------------------------------===//
//
// A computation's results are the tensors that collectives send, and a mark for whoever else waits for it: a tensor without
// elements. Where a collective waits for several nodes, a computation of no time gathers them first; where nobody waits for
// a collective, one reads its result, which would be dead otherwise.
//===------------------------------------------------------------------------------------------------------------===//
#include "Workload.h"
#include "braid/dialect/BraidOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

GroupsAttrInterface mlir::braid::sim::groupsAlong(MLIRContext *context, ArrayRef<int64_t> shape,
                                                  ArrayRef<int64_t> along) {
  SmallVector<int64_t> order;
  int64_t groups = 1, size = 1;
  for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis)
    if (!llvm::is_contained(along, axis)) {
      order.push_back(axis);
      groups *= shape[axis];
    }
  for (int64_t axis : along) {
    order.push_back(axis);
    size *= shape[axis];
  }
  return cast<GroupsAttrInterface>(Attribute(IotaGroupsAttr::get(context, {groups, size}, shape, order)));
}

namespace {

class ProgramWriter {
public:
  ProgramWriter(OpBuilder &builder, const Workload &workload, Type elementType, int &rounded)
      : builder(builder), workload(workload), elementType(elementType), rounded(rounded) {}

  void write() {
    const std::vector<WorkloadNode> &nodes = workload.nodes;
    given.resize(nodes.size());
    sent.resize(nodes.size());
    marked.assign(nodes.size(), false);
    sends.resize(nodes.size());
    std::vector<bool> read(nodes.size());
    for (auto [number, node] : llvm::enumerate(nodes)) {
      for (int operand : node.operands)
        read[operand] = true;
      bool direct = node.collective && node.operands.size() == 1 && !nodes[node.operands[0]].collective;
      for (int operand : node.operands)
        if (direct)
          sends[operand].push_back(int(number));
        else
          marked[operand] = true;
    }
    for (auto [number, node] : llvm::enumerate(nodes)) {
      if (node.collective)
        collective(int(number), node);
      else
        compute(int(number), node);
      if (node.collective && !read[number])
        ComputeOp::create(builder, at(node), TypeRange(), builder.getStringAttr("end of " + node.name),
                          builder.getStringAttr(ComputeOp::durationText(0)), given[number], ValueRange());
    }
  }

private:
  Location at(const WorkloadNode &node) { return NameLoc::get(builder.getStringAttr(node.name)); }

  /// Elements of the whole buffer, so that the group divides them where it must.
  int64_t elements(const WorkloadNode &node) {
    int64_t width = elementType.getIntOrFloatBitWidth() / 8;
    int64_t parts = *node.collective == CollectiveKind::AllReduce || *node.collective == CollectiveKind::Broadcast ||
                            *node.collective == CollectiveKind::Permute
                        ? 1
                        : node.groupSize;
    int64_t unit = width * parts;
    rounded += node.bytes % unit != 0;
    return std::max<int64_t>(1, (node.bytes + unit - 1) / unit) * parts;
  }
  /// What a rank gives to a collective.
  RankedTensorType operandType(const WorkloadNode &node, int64_t whole) {
    bool blocks = *node.collective == CollectiveKind::AllGather || *node.collective == CollectiveKind::Gather;
    return RankedTensorType::get({blocks ? whole / node.groupSize : whole}, elementType);
  }

  ResultRange kernel(const WorkloadNode &node, StringRef name, double seconds, ArrayRef<Type> types) {
    SmallVector<Value> inputs, inits;
    for (int operand : node.operands)
      llvm::append_range(inputs, given[operand]);
    for (Type type : types)
      inits.push_back(tensor::EmptyOp::create(builder, at(node), cast<RankedTensorType>(type).getShape(),
                                              cast<RankedTensorType>(type).getElementType()));
    return ComputeOp::create(builder, at(node), types, builder.getStringAttr(name),
                             builder.getStringAttr(ComputeOp::durationText(seconds)), inputs, inits)
        .getResults();
  }

  void compute(int number, const WorkloadNode &node) {
    SmallVector<Type> types;
    SmallVector<int64_t> whole;
    for (int collective : sends[number]) {
      whole.push_back(elements(workload.nodes[collective]));
      types.push_back(operandType(workload.nodes[collective], whole.back()));
    }
    if (marked[number])
      types.push_back(RankedTensorType::get({0}, builder.getI8Type()));
    ResultRange results = kernel(node, node.name, node.seconds, types);
    for (auto [collective, size, value] : llvm::zip(sends[number], whole, results)) {
      sent[collective] = value;
      (void)size;
    }
    if (marked[number])
      given[number] = {results.back()};
  }

  void collective(int number, const WorkloadNode &node) {
    int before = rounded;
    int64_t whole = elements(node);
    RankedTensorType type = operandType(node, whole);
    Value operand = sent[number];
    if (operand)
      rounded = before; // counted where it was made
    else if (node.operands.empty())
      operand = tensor::EmptyOp::create(builder, at(node), type.getShape(), elementType);
    else
      operand = kernel(node, "operand of " + node.name, 0, {type}).front();
    auto sized = [&](int64_t size) { return RankedTensorType::get({size}, elementType); };
    Operation *made;
    switch (*node.collective) {
    case CollectiveKind::AllReduce:
      made = AllReduceOp::create(builder, at(node), operand, ReductionKind::Sum, node.groups);
      break;
    case CollectiveKind::AllGather:
      made =
          AllGatherOp::create(builder, at(node), TypeRange(sized(whole)), operand, ArrayRef<int64_t>{0}, node.groups);
      break;
    case CollectiveKind::ReduceScatter:
      made = ReduceScatterOp::create(builder, at(node), TypeRange(sized(whole / node.groupSize)), operand,
                                     ReductionKind::Sum, ArrayRef<int64_t>{0}, node.groups);
      break;
    case CollectiveKind::AllToAll:
      made = AllToAllOp::create(builder, at(node), TypeRange(type), operand, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0},
                                node.groups);
      break;
    case CollectiveKind::Permute:
      made = PermuteOp::create(builder, at(node), operand, node.pairs);
      break;
    default:
      made = BroadcastOp::create(builder, at(node), operand, 0, node.groups);
    }
    given[number] = {made->getResult(0)};
  }

  OpBuilder &builder;
  const Workload &workload;
  Type elementType;
  int &rounded;
  std::vector<SmallVector<Value>> given; ///< what a node gives to those that wait for it
  std::vector<Value> sent;               ///< a collective's operand, where one computation makes it
  std::vector<SmallVector<int>> sends;   ///< a computation's collectives
  std::vector<bool> marked;
};

} // namespace

OwningOpRef<ModuleOp> mlir::braid::sim::writeProgram(MLIRContext *context, const Workload &workload,
                                                     StringRef elementType, int &rounded) {
  context->loadDialect<BraidDialect, func::FuncDialect, tensor::TensorDialect>();
  OpBuilder builder(context);
  Location at = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(at);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, at, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Type type = elementType == "bf16"  ? Type(builder.getBF16Type())
              : elementType == "f16" ? Type(builder.getF16Type())
                                     : Type(builder.getF32Type());
  ProgramWriter(builder, workload, type, rounded).write();
  func::ReturnOp::create(builder, at);
  return module;
}
