//===- SourceFacts.h - what an export needs to know of the source ----------===//
//
// A collective that was imported carries a dictionary `source`: the facts about its StableHLO spelling that mean
// nothing to Braid, and that an exact export needs. Anyone may drop it. Absent keys stand for what current producers
// write, and a fact that no longer fits (the groups were changed, the operands became more) is not used.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PASSES_IMPORT_SOURCEFACTS_H
#define BRAID_PASSES_IMPORT_SOURCEFACTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::braid::source_facts {

/// i64: the type of the channel handle.
inline constexpr llvm::StringLiteral kChannelType = "channel_type";
/// The list of groups where spelling the groups as a list gives another one with the same meaning (wider padding).
inline constexpr llvm::StringLiteral kGroups = "groups";
/// i64: how many operands the source's collective had, if more than one.
inline constexpr llvm::StringLiteral kVariadic = "variadic";
/// i64: an all_to_all's split_count where the groups do not tell it.
inline constexpr llvm::StringLiteral kSplitCount = "split_count";
/// Array of strings: attributes that stood in the attribute dictionary, not among the properties.
inline constexpr llvm::StringLiteral kDictionary = "dictionary";
/// Dictionary: properties that Braid does not know.
inline constexpr llvm::StringLiteral kProperties = "properties";
/// Dictionary: discardable attributes that cannot stay discardable here.
inline constexpr llvm::StringLiteral kAttributes = "attributes";
/// Unit: the source had it in flight already, as an asynchronous pair of its own.
inline constexpr llvm::StringLiteral kAsync = "async";
/// Unit: `braid.size_hint` was read from the bounds of the operands' types.
inline constexpr llvm::StringLiteral kHintFromBounds = "hint_from_bounds";

} // namespace mlir::braid::source_facts

#endif // BRAID_PASSES_IMPORT_SOURCEFACTS_H
