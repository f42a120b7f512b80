//===- MeshAxes.cpp - groups as axes of a mesh of devices -------------------------------------------------------===//
//
// The mesh's axes are cut where `axes` name a part of one: an axis of size n with the parts (p)s becomes the axes p, s,
// n/(p*s). Then a group is a walk along the named pieces, and the groups are a walk along the others.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "TrailingType.h"
#include "braid/dialect/BraidDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::braid;

//===------------------------------------------------------------------------------------------------------------===//
// Text
//===------------------------------------------------------------------------------------------------------------===//

static ParseResult parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseString(&text))
    return failure();
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

/// `<["x" = 2, "y" = 4], axes = ["x", "y":(1)2], device_ids = [0, 2, ...] or #braid.iota<...>>`
Attribute MeshAxesAttr::parse(AsmParser &parser, Type trailing) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<MeshAxis> mesh;
  SmallVector<AxisRef> axes;
  Attribute deviceIds;
  auto parseAxis = [&]() -> ParseResult {
    MeshAxis axis{};
    if (parseName(parser, axis.name) || parser.parseEqual() || parser.parseInteger(axis.size))
      return failure();
    mesh.push_back(axis);
    return success();
  };
  auto parseRef = [&]() -> ParseResult {
    AxisRef axis;
    if (parseName(parser, axis.name))
      return failure();
    if (succeeded(parser.parseOptionalColon())) {
      SMLoc partLoc = parser.getCurrentLocation();
      if (parser.parseLParen() || parser.parseInteger(axis.preSize) || parser.parseRParen() ||
          parser.parseInteger(axis.size))
        return failure();
      if (axis.size <= 0) // 0 would mean the whole axis
        return parser.emitError(partLoc, "part of axis ")
               << axis.name << ", expected a positive size, got " << axis.size;
    }
    axes.push_back(axis);
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis, " in a mesh") ||
      parser.parseComma() || parser.parseKeyword("axes") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRef, " in axes"))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("device_ids") || parser.parseEqual())
      return {};
    if (parser.parseAttribute(deviceIds))
      return {};
    // A bare list comes as an array attribute.
    if (auto list = dyn_cast<ArrayAttr>(deviceIds)) {
      SmallVector<int64_t> ids;
      for (Attribute id : list) {
        auto number = dyn_cast<IntegerAttr>(id);
        if (!number) {
          parser.emitError(loc, "device_ids, expected numbers, got ") << id;
          return {};
        }
        ids.push_back(number.getInt());
      }
      deviceIds = DenseI64ArrayAttr::get(parser.getContext(), ids);
    }
  }
  if (parser.parseGreater())
    return {};
  auto attr = MeshAxesAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                       ArrayRef<MeshAxis>(mesh), ArrayRef<AxisRef>(axes), deviceIds);
  return detail::withTrailingType(attr, trailing);
}

void MeshAxesAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getMesh(), printer, [&](const MeshAxis &axis) { printer << axis.name << " = " << axis.size; });
  printer << "], axes = [";
  llvm::interleaveComma(getAxes(), printer, [&](const AxisRef &axis) {
    printer << axis.name;
    if (!axis.isWhole())
      printer << ":(" << axis.preSize << ')' << axis.size;
  });
  printer << ']';
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(getDeviceIds())) {
    printer << ", device_ids = [";
    llvm::interleaveComma(list.asArrayRef(), printer);
    printer << ']';
  } else if (getDeviceIds()) {
    printer << ", device_ids = " << getDeviceIds();
  }
  printer << '>';
}

//===------------------------------------------------------------------------------------------------------------===//
// Verification
//===------------------------------------------------------------------------------------------------------------===//

static const MeshAxis *findAxis(ArrayRef<MeshAxis> mesh, StringAttr name) {
  const MeshAxis *axis = llvm::find_if(mesh, [&](const MeshAxis &axis) { return axis.name == name; });
  return axis == mesh.end() ? nullptr : axis;
}

/// First and last stride of the part within its axis, counted from the slowest: [preSize, preSize * size).
static std::pair<int64_t, int64_t> extent(const AxisRef &axis, int64_t axisSize) {
  return axis.isWhole() ? std::make_pair(int64_t(1), axisSize) : std::make_pair(axis.preSize, axis.preSize * axis.size);
}

LogicalResult MeshAxesAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<MeshAxis> mesh,
                                   ArrayRef<AxisRef> axes, Attribute deviceIds) {
  int64_t devices = 1;
  for (const MeshAxis &axis : mesh) {
    if (axis.size <= 0 || __builtin_mul_overflow(devices, axis.size, &devices)) // C1
      return emitError() << "mesh axis " << axis.name << ", expected a positive size, got " << axis.size;
    if (findAxis(mesh, axis.name) != &axis) // C1
      return emitError() << "mesh axis " << axis.name << ", expected once, got twice";
  }
  for (auto [index, axis] : llvm::enumerate(axes)) {
    const MeshAxis *whole = findAxis(mesh, axis.name);
    if (!whole) // C2
      return emitError() << "axis " << axis.name << ", expected an axis of the mesh";
    int64_t end;
    if (!axis.isWhole() && (axis.preSize <= 0 || axis.size <= 0 ||
                            __builtin_mul_overflow(axis.preSize, axis.size, &end) || whole->size % end != 0)) // C3
      return emitError() << "part (" << axis.preSize << ')' << axis.size << " of axis " << axis.name
                         << ", expected sizes that divide " << whole->size;
    auto [first, last] = extent(axis, whole->size);
    for (const AxisRef &earlier : axes.take_front(index)) {
      if (earlier.name != axis.name)
        continue;
      auto [otherFirst, otherLast] = extent(earlier, whole->size);
      if (first < otherLast && otherFirst < last) // C2
        return emitError() << "axis " << axis.name << ", expected no part of it twice";
      if (first >= otherLast ? first % otherLast != 0 : otherFirst % last != 0) // C3
        return emitError() << "axis " << axis.name << ", expected parts that divide each other";
    }
  }
  if (!deviceIds)
    return success();
  if (auto iota = dyn_cast<IotaGroupsAttr>(deviceIds)) {
    if (iota.getNumRanks() != devices) // C4
      return emitError() << "device_ids, expected " << devices << " ids, got " << iota.getNumRanks();
    return success();
  }
  auto list = dyn_cast<DenseI64ArrayAttr>(deviceIds);
  if (!list) // C4
    return emitError() << "device_ids, expected a list or #braid.iota, got " << deviceIds;
  if (list.size() != devices) // C4
    return emitError() << "device_ids, expected " << devices << " ids, got " << list.size();
  std::vector<bool> seen(devices);
  for (int64_t id : list.asArrayRef()) {
    if (id < 0 || id >= devices || seen[id]) // C4
      return emitError() << "device_ids, expected each of 0 to " << devices - 1 << " once, got " << id
                         << (id < 0 || id >= devices ? "" : " twice");
    seen[id] = true;
  }
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Meaning
//===------------------------------------------------------------------------------------------------------------===//

int64_t MeshAxesAttr::getNumRanks() const {
  int64_t devices = 1;
  for (const MeshAxis &axis : getMesh())
    devices *= axis.size;
  return devices;
}
int64_t MeshAxesAttr::getGroupSize() const {
  int64_t size = 1;
  for (const AxisRef &axis : getAxes())
    size *= axis.isWhole() ? findAxis(getMesh(), axis.name)->size : axis.size;
  return size;
}
bool MeshAxesAttr::isPermutationByConstruction() const { return true; } // C4
int64_t MeshAxesAttr::getNumGroups() const { return getNumRanks() / getGroupSize(); }

namespace {
/// A piece of an axis, with the distance in mesh positions between neighbours along it.
struct Piece {
  int64_t size;
  int64_t stride;
};
} // namespace

/// All sums of multiples of strides, the last piece counting fastest.
static SmallVector<int64_t> positionsAlong(ArrayRef<Piece> pieces) {
  SmallVector<int64_t> positions = {0};
  for (const Piece &piece : pieces) {
    SmallVector<int64_t> next;
    next.reserve(positions.size() * piece.size);
    for (int64_t position : positions)
      for (int64_t step = 0; step < piece.size; ++step)
        next.push_back(position + step * piece.stride);
    positions = std::move(next);
  }
  return positions;
}

void MeshAxesAttr::expand(SmallVectorImpl<SmallVector<int64_t>> &groups) const {
  SmallVector<Piece> inside(getAxes().size()), outside;
  int64_t stride = getNumRanks();
  for (const MeshAxis &axis : getMesh()) {
    stride /= axis.size;
    // The named parts of this axis, slowest first; what lies between them belongs to the groups' walk.
    SmallVector<unsigned> named;
    for (auto [index, ref] : llvm::enumerate(getAxes()))
      if (ref.name == axis.name)
        named.push_back(index);
    llvm::sort(named, [&](unsigned a, unsigned b) { return getAxes()[a].preSize < getAxes()[b].preSize; });
    int64_t done = 1; // product of the pieces so far
    auto pieceUpTo = [&](int64_t end) {
      Piece piece{end / done, stride * (axis.size / end)};
      done = end;
      return piece;
    };
    for (unsigned index : named) {
      auto [first, last] = extent(getAxes()[index], axis.size);
      if (first > done)
        outside.push_back(pieceUpTo(first));
      inside[index] = pieceUpTo(last);
    }
    if (done < axis.size)
      outside.push_back(pieceUpTo(axis.size));
  }
  SmallVector<int64_t> devices;
  if (auto iota = dyn_cast_or_null<IotaGroupsAttr>(getDeviceIds()))
    iota.expandFlat(devices);
  else if (getDeviceIds())
    devices.assign(cast<DenseI64ArrayAttr>(getDeviceIds()).asArrayRef().begin(),
                   cast<DenseI64ArrayAttr>(getDeviceIds()).asArrayRef().end());
  SmallVector<int64_t> offsets = positionsAlong(inside);
  for (int64_t start : positionsAlong(outside)) {
    SmallVector<int64_t> &group = groups.emplace_back();
    group.reserve(offsets.size());
    for (int64_t offset : offsets)
      group.push_back(devices.empty() ? start + offset : devices[start + offset]);
  }
}
