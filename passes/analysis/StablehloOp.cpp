//===- StablehloOp.cpp - facts about operations read by name ---------------===//
//
// The table below follows the StableHLO specification's list of operations, with CHLO's and Shardy's beside it.
//
//===----------------------------------------------------------------------===//

#include "braid/passes/StablehloOp.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

// One row's kind: a set of operations with the same facts.
struct Row {
  const char *dialect;
  const char *names; // separated by blanks
  OpFacts facts;
};

constexpr OpFacts elementwise() {
  OpFacts f;
  f.known = f.pure = f.elementwise = f.fusible = true;
  return f;
}
constexpr OpFacts moves() { // rearranges or reduces data, and fuses with its neighbours
  OpFacts f;
  f.known = f.pure = f.fusible = true;
  return f;
}
constexpr OpFacts free_() { // no kernel of its own
  OpFacts f = moves();
  f.cheap = true;
  return f;
}
constexpr OpFacts kernel() { // pure, but a kernel of its own (matmul, convolution, sort, ...)
  OpFacts f;
  f.known = f.pure = true;
  return f;
}
constexpr OpFacts withRegions(OpFacts f) {
  f.hasRegions = true;
  return f;
}
constexpr OpFacts control() {
  OpFacts f = withRegions(kernel());
  f.controlFlow = true;
  return f;
}
constexpr OpFacts effect() {
  OpFacts f;
  f.known = f.barrier = true;
  return f;
}
constexpr OpFacts collective() {
  OpFacts f = effect();
  f.collective = true;
  return f;
}
constexpr OpFacts call() {
  OpFacts f;
  f.known = f.call = true;
  return f;
}
constexpr OpFacts terminator() {
  OpFacts f;
  f.known = f.terminator = true;
  return f;
}
constexpr OpFacts orders() {
  OpFacts f = free_();
  f.fusible = false;
  f.orders = true;
  return f;
}
constexpr OpFacts rank() {
  OpFacts f = free_();
  f.perRank = true;
  return f;
}
/// A declaration (a mesh): no operands, no results, nothing runs.
constexpr OpFacts declaration() {
  OpFacts f;
  f.known = f.cheap = true;
  return f;
}

const Row kTable[] = {
    {"stablehlo",
     "abs add and atan2 bitcast_convert cbrt ceil clamp compare complex convert cosine count_leading_zeros divide "
     "exponential exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum multiply negate "
     "not or popcnt power real reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select shift_left "
     "shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh uniform_dequantize uniform_quantize "
     "xor",
     elementwise()},
    {"stablehlo",
     "broadcast broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_pad dynamic_slice dynamic_update_slice "
     "pad "
     "real_dynamic_slice reverse slice transpose",
     moves()},
    {"stablehlo", "reduce map", withRegions(moves())},
    {"stablehlo",
     "constant iota dynamic_iota reshape dynamic_reshape get_dimension_size set_dimension_size get_tuple_element tuple "
     "after_all create_token",
     free_()},
    {"stablehlo",
     "batch_norm_grad batch_norm_inference batch_norm_training cholesky convolution dot dot_general dynamic_conv "
     "dynamic_gather einsum fft gather rng_bit_generator torch_index_select triangular_solve unary_einsum",
     kernel()},
    {"stablehlo", "reduce_window scatter select_and_scatter sort", withRegions(kernel())},
    {"stablehlo", "while case if", control()},
    {"stablehlo", "optimization_barrier", orders()},
    {"stablehlo", "partition_id replica_id", rank()},
    {"stablehlo", "return", terminator()},
    {"stablehlo", "composite", call()},
    // custom_call's row is for one that says it has a side effect; factsOf(Operation *) looks.
    {"stablehlo", "custom_call infeed outfeed recv send rng", effect()},
    {"stablehlo",
     "all_gather all_reduce all_to_all collective_broadcast collective_permute collective_reduce cross-replica-sum "
     "ragged_all_to_all reduce_scatter async_done",
     collective()},
    {"stablehlo", "async_start", withRegions(collective())},

    {"chlo",
     "_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e broadcast_add broadcast_and broadcast_atan2 "
     "broadcast_compare broadcast_complex broadcast_divide broadcast_maximum broadcast_minimum broadcast_multiply "
     "broadcast_next_after broadcast_or broadcast_polygamma broadcast_power broadcast_remainder broadcast_select "
     "broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical broadcast_subtract "
     "broadcast_xor broadcast_zeta conj cosh digamma erf erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma mulhi "
     "next_after "
     "polygamma sinh square tan zeta",
     elementwise()},
    {"chlo", "constant constant_like", free_()},
    {"chlo", "ragged_dot top_k", kernel()},
    {"chlo", "scan", withRegions(kernel())},

    {"braid", "compute", kernel()},
    {"sdy", "manual_computation named_computation", withRegions(kernel())},
    {"sdy", "return", terminator()},
    {"sdy", "constant data_flow_edge func_data_flow_edge propagation_barrier sharding_constraint", free_()},
    {"sdy", "mesh sharding_group", declaration()},
    {"sdy",
     "all_gather all_reduce all_slice all_to_all collective_permute reduce_scatter replicated_to_unreduced reshard "
     "sharded_to_unreduced",
     collective()},
};

const llvm::StringMap<OpFacts> &table() {
  static const llvm::StringMap<OpFacts> map = [] {
    llvm::StringMap<OpFacts> built;
    for (const Row &row : kTable) {
      SmallVector<StringRef> names;
      StringRef(row.names).split(names, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef name : names) {
        built[(Twine(row.dialect) + "." + name).str()] = row.facts;
        // MHLO is StableHLO's older twin: what both have, both mean.
        if (StringRef(row.dialect) == "stablehlo")
          built[("mhlo." + name).str()] = row.facts;
      }
    }
    return built;
  }();
  return map;
}

/// Calls that JAX and XLA know to be annotations of their operand.
bool isAnnotationCall(Operation *op) {
  auto target = getSourceAttr<StringAttr>(op, "call_target_name");
  return target && llvm::is_contained({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint",
                                       "annotate_device_placement"},
                                      target.getValue());
}

OpFacts factsOfCustomCall(Operation *op) {
  // The specification's default is no side effect, and producers leave a default out.
  auto effectful = getSourceAttr<BoolAttr>(op, "has_side_effect");
  if (effectful && effectful.getValue())
    return effect();
  return isAnnotationCall(op) ? free_() : kernel();
}

/// Operations that move no data: sizes and indices, destinations that hold nothing yet, other views of a tensor.
bool isScalarOrView(Operation *op) {
  if (isa<tensor::EmptyOp, tensor::DimOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp>(op))
    return true;
  auto isShaped = [](Type type) { return isa<ShapedType>(type); };
  return op->getNumRegions() == 0 && llvm::none_of(op->getOperandTypes(), isShaped) &&
         llvm::none_of(op->getResultTypes(), isShaped);
}

OpFacts factsOfRegistered(Operation *op) {
  OpFacts f;
  f.known = true;
  f.hasRegions = op->getNumRegions() != 0;
  f.terminator = op->hasTrait<OpTrait::IsTerminator>();
  f.elementwise = op->hasTrait<OpTrait::Elementwise>();
  f.call = isa<CallOpInterface>(op);
  f.controlFlow = isa<RegionBranchOpInterface, LoopLikeOpInterface>(op);
  if (f.terminator || f.call)
    return f;
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op))
    f.pure = effects.hasNoEffect() && isSpeculatable(op);
  else
    f.pure = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  bool declares = op->getNumResults() == 0 && op->getNumOperands() == 0 && op->hasTrait<OpTrait::IsIsolatedFromAbove>();
  f.barrier = !f.pure && !declares;
  f.cheap = f.pure && (op->hasTrait<OpTrait::ConstantLike>() || declares || isScalarOrView(op));
  f.fusible = f.elementwise || f.cheap;
  return f;
}

} // namespace

OpFacts mlir::braid::factsOf(StringRef name) {
  auto it = table().find(name);
  if (it != table().end())
    return it->second;
  OpFacts unknown;
  unknown.barrier = true;
  return unknown;
}

OpFacts mlir::braid::factsOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "stablehlo.custom_call" || name == "mhlo.custom_call")
    return factsOfCustomCall(op);
  auto it = table().find(name);
  if (it != table().end())
    return it->second;
  if (op->isRegistered())
    return factsOfRegistered(op);
  return factsOf(name);
}

bool mlir::braid::isPureWithRegions(Operation *op) {
  auto pure = [](Operation *inner) {
    OpFacts facts = factsOf(inner);
    return facts.known && (facts.pure || facts.terminator);
  };
  return !op->walk([&](Operation *inner) {
              return pure(inner) ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static DictionaryAttr placeholderProperties(Operation *op) {
  return dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
}

SourceEncoding mlir::braid::encodingOf(Operation *op) {
  if (op->isRegistered())
    return SourceEncoding::Registered;
  if (placeholderProperties(op) || op->getDiscardableAttrDictionary().empty())
    return SourceEncoding::Properties;
  return SourceEncoding::Attributes;
}

Attribute mlir::braid::getSourceAttr(Operation *op, StringRef name) {
  if (op->isRegistered())
    return op->getAttr(name);
  if (DictionaryAttr properties = placeholderProperties(op))
    if (Attribute found = properties.get(name))
      return found;
  return op->getDiscardableAttr(name);
}

DictionaryAttr mlir::braid::getSourceAttrs(Operation *op) {
  if (op->isRegistered()) {
    auto inherent = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
    return inherent ? inherent : DictionaryAttr::get(op->getContext());
  }
  DictionaryAttr properties = placeholderProperties(op);
  return properties ? properties : op->getDiscardableAttrDictionary();
}

void mlir::braid::setSourceAttr(Operation *op, StringRef name, Attribute value) {
  DictionaryAttr properties = op->isRegistered() ? DictionaryAttr() : placeholderProperties(op);
  if (!properties || op->getDiscardableAttr(name)) {
    op->setAttr(name, value);
    return;
  }
  NamedAttrList attrs(properties);
  attrs.set(name, value);
  // Setting the properties of an unregistered operation cannot fail: they are stored as they are.
  (void)op->setPropertiesFromAttribute(attrs.getDictionary(op->getContext()), [op] { return op->emitError(); });
}

std::string mlir::braid::spellingOf(Attribute attr) {
  if (auto opaque = dyn_cast<OpaqueAttr>(attr))
    return (opaque.getDialectNamespace().getValue() + "." + opaque.getAttrData()).str();
  std::string text;
  llvm::raw_string_ostream os(text);
  attr.print(os);
  return StringRef(text).starts_with("#") ? text.substr(1) : text;
}

Operation *mlir::braid::createSourceOp(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                                       TypeRange results, ArrayRef<NamedAttribute> attrs, SourceEncoding encoding,
                                       ArrayRef<NamedAttribute> discardable,
                                       MutableArrayRef<std::unique_ptr<Region>> regions) {
  OperationState state(loc, name);
  state.addOperands(operands);
  state.addTypes(results);
  state.addAttributes(discardable);
  // A registered operation sorts the attributes that it knows out of the dictionary by itself.
  if (!state.name.isRegistered() && encoding != SourceEncoding::Attributes) {
    if (!attrs.empty())
      state.propertiesAttr = builder.getDictionaryAttr(attrs);
  } else {
    state.addAttributes(attrs);
  }
  for (std::unique_ptr<Region> &region : regions)
    state.addRegion(std::move(region));
  return builder.create(state);
}
