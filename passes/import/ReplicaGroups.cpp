//===- ReplicaGroups.cpp - the groups of StableHLO collectives, read and checked ===//

#include "ReplicaGroups.h"

#include "braid/dialect/Groups.h"
#include "braid/passes/StablehloOp.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::braid;

DenseIntElementsAttr mlir::braid::groupsAsList(GroupsAttrInterface groups) {
  SmallVector<SmallVector<int64_t>> rows;
  groups.expand(rows);
  size_t width = 0;
  for (const auto &row : rows)
    width = std::max(width, row.size());
  SmallVector<int64_t> flat;
  for (const auto &row : rows) {
    flat.append(row.begin(), row.end());
    flat.append(width - row.size(), -1);
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)},
                                    IntegerType::get(groups.getContext(), 64));
  return DenseIntElementsAttr::get(type, flat);
}

ReplicaGroupsReader::ReplicaGroupsReader(ModuleOp module) : meshes(readMeshes(module)), module(module) {
  for (const auto &entry : meshes) {
    const std::optional<Mesh> &mesh = entry.second;
    if (mesh && mesh->axes.empty()) // a mesh of one device, for placing a value there
      continue;
    if (!mesh || (devices && *devices != mesh->numDevices())) {
      devices = std::nullopt;
      break;
    }
    devices = mesh->numDevices();
  }
}

std::optional<int64_t> ReplicaGroupsReader::idsIn(IdSpace space) const {
  ModuleRanks ranks = moduleRanks(module);
  if (ranks.stated && ranks.total() > 1)
    return ranks.idsIn(space);
  // Without these attributes a mesh tells the number of partitions, not of replicas.
  return space == IdSpace::Flattened || space == IdSpace::Partition ? devices : std::nullopt;
}

GroupsAnswer ReplicaGroupsReader::readList(DenseIntElementsAttr list, IdSpace space) const {
  auto invalid = [](const Twine &why) {
    GroupsAnswer answer;
    answer.invalid = true;
    answer.why = ("'replica_groups' expected " + why).str();
    return answer;
  };
  auto type = cast<ShapedType>(list.getType());
  if (type.getRank() != 2 || !type.getElementType().isSignlessInteger(64))
    return invalid("a matrix of i64, got another type");
  GroupsAnswer answer;
  if (type.getNumElements() == 0) { // everyone
    answer.groups = GroupsAttr::get(list.getContext(), ArrayRef<SmallVector<int64_t>>());
    return answer;
  }

  int64_t width = type.getDimSize(1);
  // A splat is short to write however many ids it stands for.
  if (list.isSplat() && list.size() > 1) {
    int64_t id = list.getSplatValue<int64_t>();
    return id < 0 ? invalid(id == -1 ? Twine("at least one id, got padding alone")
                                     : "ids that are not negative, or -1 as padding, got " + Twine(id))
                  : invalid("each id once, got id " + Twine(id) + " twice");
  }
  std::optional<int64_t> count = idsIn(space);
  SmallVector<SmallVector<int64_t>> rows;
  int64_t column = 0, numIds = 0, highest = -1;
  bool holes = false;
  for (int64_t id : list.getValues<int64_t>()) {
    if (column == 0)
      rows.emplace_back();
    if (id < -1)
      return invalid("ids that are not negative, or -1 as padding, got " + Twine(id));
    if (count && id >= *count)
      return invalid("ids below " + Twine(*count) + ", got id " + Twine(id));
    if (id >= 0) {
      holes |= static_cast<int64_t>(rows.back().size()) != column;
      rows.back().push_back(id);
      highest = std::max(highest, id);
      ++numIds;
    }
    column = (column + 1) % width;
  }

  // Ids past the number of ids leave a gap below them: with one bit for each id that can be there and one for the gap, a
  // huge id or a huge number of ranks costs nothing.
  int64_t expected = std::min(count.value_or(numIds), numIds + 1);
  llvm::BitVector seen(expected);
  for (const auto &row : rows)
    for (int64_t id : row) {
      if (id >= expected)
        continue;
      if (seen.test(id))
        return invalid("each id once, got id " + Twine(id) + " twice");
      seen.set(id);
    }
  if (int missing = seen.find_first_unset(); missing >= 0) {
    answer = invalid("every id from 0 to " + Twine(count ? *count - 1 : std::max(expected - 1, highest)) +
                     ", got no id " + Twine(missing));
    answer.partial = true;
    return answer;
  }
  if (holes || llvm::any_of(rows, [](const auto &row) { return row.empty(); })) {
    answer.why = "groups are padded with -1 elsewhere than at the end of a row";
    return answer;
  }
  answer.groups = compressGroups(GroupsAttr::get(list.getContext(), ArrayRef<SmallVector<int64_t>>(rows)));
  return answer;
}

GroupsAnswer ReplicaGroupsReader::read(Attribute replicaGroups, IdSpace space) {
  auto [it, isNew] = answers.try_emplace({replicaGroups, static_cast<unsigned>(space)});
  if (!isNew)
    return it->second;
  GroupsAnswer answer;
  if (!replicaGroups) {
    answer.invalid = true;
    answer.why = "'replica_groups' expected an attribute, got none";
  } else if (auto list = dyn_cast<DenseIntElementsAttr>(replicaGroups)) {
    answer = readList(list, space);
  } else if (auto own = dyn_cast<GroupsAttrInterface>(replicaGroups)) {
    answer.groups = own;
  } else {
    answer = readMeshAxes(replicaGroups, meshes);
  }
  return it->second = answer;
}
