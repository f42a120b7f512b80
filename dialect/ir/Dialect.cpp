//===- Dialect.cpp - the dialect: registration, aliases, discardable attributes ---------------------------------===//
#include "../interfaces/Inliner.h"
#include "braid/dialect/BraidDialect.h"
#include "braid/dialect/BraidOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::braid;

#include "braid/dialect/BraidDialect.cpp.inc"
#include "braid/dialect/BraidEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "braid/dialect/BraidTypes.cpp.inc"

namespace {
/// A plan is longer than the operation it belongs to, and many operations share one: print it once, with a name.
struct BraidAsm : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  /// Lists of more ids than this are printed once, too.
  static constexpr size_t longList = 64;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    if (isa<PlanAttr>(attr)) {
      os << "plan";
      return AliasResult::FinalAlias;
    }
    if (auto groups = dyn_cast<GroupsAttr>(attr); groups && groups.getIds().size() > longList) {
      os << "groups";
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};
} // namespace

void BraidDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "braid/dialect/BraidTypes.cpp.inc"
      >();
}

void BraidDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "braid/dialect/BraidOps.cpp.inc"
      >();
  addInterfaces<BraidAsm>();
  addInlinerInterface(*this);
}

LogicalResult BraidDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == getGroupKeyAttrName() && !isa<StringAttr>(value))
    return op->emitOpError("attribute '") << name << "', expected a string, got " << value;
  if (name == getClusterAttrName() && !isa<StringAttr>(value))
    return op->emitOpError("attribute '")
           << name << "', expected the path of a cluster file as a string, got " << value;
  if (name == getSizeHintAttrName()) {
    auto bytes = dyn_cast<DenseI64ArrayAttr>(value);
    if (!bytes)
      return op->emitOpError("attribute '") << name << "', expected array<i64: ...>, got " << value;
    // On an operation read by name it is for the collective that an import makes of it, and is checked there.
    if (!op->isRegistered() || op->getName().getDialectNamespace() == "stablehlo")
      return success();
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective)
      return op->emitOpError("attribute '") << name << "', expected on a collective";
    if (size_t operands = collective.getCommOperands().size(); operands != size_t(bytes.size()))
      return op->emitOpError("attribute '")
             << name << "', expected one number of bytes for each of " << operands << " operands, got " << bytes.size();
    for (int64_t size : bytes.asArrayRef())
      if (size < 0)
        return op->emitOpError("attribute '") << name << "', expected numbers of bytes, got " << size;
  }
  return success();
}
