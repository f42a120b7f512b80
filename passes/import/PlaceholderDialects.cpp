//===- PlaceholderDialects.cpp - StableHLO and its kin, read by name -------===//
//
// See the header. A placeholder has no operations, so every operation of it is unregistered: traits are unknown, and
// passes ask the table in StablehloOp.h instead.
//
//===----------------------------------------------------------------------===//

#include "braid/passes/PlaceholderDialects.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::braid;

/// The way out of every form that a placeholder cannot read, named in each error.
static constexpr const char *kWayToGenericText =
    "; python -m braid_jax generic FILE -o GENERIC writes it; in Python, "
    "print(module.operation.get_asm(print_generic_op_form=True)), where module is "
    "jax.jit(f).lower(...).compiler_ir(\"stablehlo\"), jaxlib.mlir.ir.Module.parse(text or bytecode) or, from an "
    "artifact, jaxlib.mlir.dialects.stablehlo.deserialize_portable_artifact(context, bytes)";

namespace {

/// Answers bytecode that was written by the real dialect, whose encoding a placeholder does not know. Bytecode that was
/// written through placeholders holds their attributes as text and never comes here.
struct RefuseBytecode : public BytecodeDialectInterface {
  explicit RefuseBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  InFlightDiagnostic refuse(DialectBytecodeReader &reader) const {
    bool artifact = getDialect()->getNamespace() == "vhlo";
    return reader.emitError() << "dialect '" << getDialect()->getNamespace()
                              << "' expected the generic form of MLIR as text, got "
                              << (artifact ? "a portable artifact (bytecode of versioned StableHLO)"
                                           : "bytecode that the real dialect wrote")
                              << kWayToGenericText;
  }
  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    refuse(reader);
    return {};
  }
  Type readType(DialectBytecodeReader &reader) const override {
    refuse(reader);
    return {};
  }
  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    refuse(reader);
    return nullptr;
  }
};

class Placeholder : public Dialect {
public:
  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec(),
                           NoneType::get(getContext()));
  }
  Type parseType(DialectAsmParser &parser) const override {
    return OpaqueType::get(StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec());
  }

  /// Called for `stablehlo.add %a, %b : ...`, an operation in its pretty form.
  std::optional<ParseOpHook> getParseOperationHook(StringRef) const override {
    // ParseOpHook refers to a callable without owning it: a plain function lives long enough.
    return ParseOpHook(refusePrettyForm);
  }

protected:
  Placeholder(StringRef name, MLIRContext *context, TypeID id) : Dialect(name, context, id) {
    allowUnknownOperations();
    addInterfaces<RefuseBytecode>();
  }

private:
  static ParseResult refusePrettyForm(OpAsmParser &parser, OperationState &) {
    // The parser writes "custom op 'NAME' " in front.
    return parser.emitError(parser.getNameLoc())
           << "expected the generic form of MLIR, got the pretty form" << kWayToGenericText;
  }
};

// One class a name: a context tells dialects apart by their type.
#define BRAID_PLACEHOLDER(CLASS, NAME)                                                                                 \
  class CLASS : public Placeholder {                                                                                   \
  public:                                                                                                              \
    MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CLASS)                                                                \
    explicit CLASS(MLIRContext *context) : Placeholder(NAME, context, TypeID::get<CLASS>()) {}                         \
    static constexpr StringLiteral getDialectNamespace() { return StringLiteral(NAME); }                               \
  };
BRAID_PLACEHOLDER(StablehloPlaceholder, "stablehlo")
BRAID_PLACEHOLDER(SdyPlaceholder, "sdy")
BRAID_PLACEHOLDER(MhloPlaceholder, "mhlo")
BRAID_PLACEHOLDER(ChloPlaceholder, "chlo")
BRAID_PLACEHOLDER(VhloPlaceholder, "vhlo")
#undef BRAID_PLACEHOLDER

template <typename... Dialects> struct PlaceholderList {
  static void registerMissing(DialectRegistry &registry) {
    (void)std::initializer_list<int>{
        (registry.getDialectAllocator(Dialects::getDialectNamespace()) ? 0 : (registry.insert<Dialects>(), 0))...};
  }
  static void loadMissing(MLIRContext &context) {
    (void)std::initializer_list<int>{
        (context.getOrLoadDialect(Dialects::getDialectNamespace()) ? 0 : (context.getOrLoadDialect<Dialects>(), 0))...};
  }
  static bool contains(TypeID id) { return ((TypeID::get<Dialects>() == id) || ...); }
};
using Placeholders =
    PlaceholderList<StablehloPlaceholder, SdyPlaceholder, MhloPlaceholder, ChloPlaceholder, VhloPlaceholder>;

} // namespace

void mlir::braid::registerPlaceholderDialects(DialectRegistry &registry) { Placeholders::registerMissing(registry); }

void mlir::braid::loadPlaceholderDialects(MLIRContext &context) { Placeholders::loadMissing(context); }

bool mlir::braid::isPlaceholderDialect(const Dialect *dialect) {
  return dialect && Placeholders::contains(const_cast<Dialect *>(dialect)->getTypeID());
}
