//===- CollectiveImporter.h - one StableHLO collective becomes a braid one -===//
//
// Two steps, so that an asynchronous pair can be looked at as a whole before anything changes: `look` reads a
// collective and decides, `build` makes its braid operation.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PASSES_IMPORT_COLLECTIVEIMPORTER_H
#define BRAID_PASSES_IMPORT_COLLECTIVEIMPORTER_H

#include "ReductionRegion.h"
#include "ReplicaGroups.h"

#include "mlir/IR/Builders.h"

namespace mlir::braid {

/// What became of an operation.
enum class ImportResult {
  Imported,
  Left,    ///< stays StableHLO; a remark says why
  Invalid, ///< the program is wrong; an error was emitted
};

class CollectiveImporter {
public:
  explicit CollectiveImporter(ModuleOp module) : groupsReader(module) {}

  /// True for the six operations that `look` knows.
  static bool isCollective(Operation *op);

  /// A collective that was read and can be imported.
  struct Reading {
    StringRef name; ///< of the braid operation
    NamedAttrList inherent, discardable, source;
    Region *combiner = nullptr; ///< the source's, still in its place
  };

  /// Reads `op`. Emits the error or the remark itself.
  ImportResult look(Operation *op, Reading &reading);

  /// Creates the braid operation before `op`, moves the region over, and gives it the results' users; erases `op`.
  Operation *build(Operation *op, Reading &reading);

  /// The whole of it for a collective that stands alone.
  ImportResult importCollective(Operation *op);

  /// An async_start that holds a collective, with the async_done that takes its future.
  ImportResult importAsync(Operation *start);

private:
  class AttributeReader;

  ImportResult readReduction(Operation *op, AttributeReader &attrs, Reading &reading);
  ImportResult readGroups(Operation *op, AttributeReader &attrs, IdSpace space, Reading &reading);
  ImportResult readPairs(Operation *op, AttributeReader &attrs, IdSpace space, Reading &reading);
  ImportResult readSizes(Operation *op, Reading &reading);

  ReplicaGroupsReader groupsReader;
};

/// Emits the remark that `op` stays what it is, and says Left.
ImportResult leave(Operation *op, const Twine &why);

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_COLLECTIVEIMPORTER_H
