//===- Attrs.cpp - lists and iota groups, plans: text form and verification -------------------------------------===//
#include "TrailingType.h"
#include "braid/dialect/BraidDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::braid;

#include "braid/dialect/BraidAttrInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "braid/dialect/BraidAttrs.cpp.inc"

void BraidDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "braid/dialect/BraidAttrs.cpp.inc"
      >();
}

//===------------------------------------------------------------------------------------------------------------===//
// Lists
//===------------------------------------------------------------------------------------------------------------===//

static constexpr int64_t padding = -1;

GroupsAttr GroupsAttr::get(MLIRContext *context, ArrayRef<SmallVector<int64_t>> rows) {
  size_t width = 0;
  for (const SmallVector<int64_t> &row : rows)
    width = std::max(width, row.size());
  SmallVector<int64_t> ids;
  ids.reserve(width * rows.size());
  for (const SmallVector<int64_t> &row : rows) {
    ids.append(row.begin(), row.end());
    ids.append(width - row.size(), padding);
  }
  return get(context, ids, width);
}

/// The text is the list itself: `<[[0, 1], [2, 3]]>`.
Attribute GroupsAttr::parse(AsmParser &parser, Type trailing) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<SmallVector<int64_t>> rows;
  auto parseId = [&] { return parser.parseInteger(rows.back().emplace_back()); };
  auto parseRow = [&] {
    rows.emplace_back();
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseId, " in a group");
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow, " in a list of groups") ||
      parser.parseGreater())
    return {};
  size_t width = 0;
  for (const SmallVector<int64_t> &row : rows)
    width = std::max(width, row.size());
  SmallVector<int64_t> ids;
  for (const SmallVector<int64_t> &row : rows) {
    ids.append(row.begin(), row.end());
    ids.append(width - row.size(), padding);
  }
  // An all-empty list of rows would look like no rows at all once it is flat.
  if (!rows.empty() && width == 0) {
    parser.emitError(loc, "group 0, expected at least one id, got none");
    return {};
  }
  return detail::withTrailingType(parser.getChecked<GroupsAttr>(loc, parser.getContext(), ids, width), trailing);
}

void GroupsAttr::print(AsmPrinter &printer) const {
  // Padding is left out, except where no row is full: there the width would be lost.
  bool fullRow = false;
  for (int64_t row = 0; row < getNumGroups() && getWidth(); ++row)
    fullRow |= int64_t(getRow(row).size()) == getWidth();
  printer << "<[";
  if (int64_t width = getWidth())
    llvm::interleaveComma(llvm::seq<int64_t>(0, getIds().size() / width), printer, [&](int64_t row) {
      printer << '[';
      llvm::interleaveComma(fullRow ? getRow(row) : getIds().slice(row * width, width), printer);
      printer << ']';
    });
  printer << "]>";
}

LogicalResult GroupsAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> ids, int64_t width) {
  if (width < 0 || (width == 0 ? !ids.empty() : ids.size() % width != 0))
    return emitError() << "groups, expected rows of equal width, got " << ids.size() << " ids in rows of " << width;
  for (auto [index, id] : llvm::enumerate(ids)) {
    int64_t column = index % width;
    if (column == 0 && id == padding) // C1
      return emitError() << "group " << index / width << ", expected at least one id, got none";
    if (id < padding) // C2
      return emitError() << "group " << index / width << ", expected ids that are not negative, got " << id;
    if (id != padding && column > 0 && ids[index - 1] == padding) // C2
      return emitError() << "group " << index / width << ", expected -1 only at its end, got " << id << " after -1";
  }
  return success();
}

ArrayRef<int64_t> GroupsAttr::getRow(int64_t row) const {
  ArrayRef<int64_t> ids = getIds().slice(row * getWidth(), getWidth());
  return ids.take_while([](int64_t id) { return id != padding; });
}

int64_t GroupsAttr::getNumRanks() const {
  return llvm::count_if(getIds(), [](int64_t id) { return id != padding; });
}
int64_t GroupsAttr::getNumGroups() const { return getWidth() == 0 ? 1 : getIds().size() / getWidth(); }
int64_t GroupsAttr::getGroupSize() const {
  int64_t largest = 0;
  for (int64_t row = 0; getWidth() && row < getNumGroups(); ++row)
    largest = std::max<int64_t>(largest, getRow(row).size());
  return largest;
}
bool GroupsAttr::isUniform() const {
  for (int64_t row = 1; getWidth() && row < getNumGroups(); ++row)
    if (getRow(row).size() != getRow(0).size())
      return false;
  return true;
}
void GroupsAttr::expand(SmallVectorImpl<SmallVector<int64_t>> &groups) const {
  for (int64_t row = 0; getWidth() && row < getNumGroups(); ++row)
    groups.emplace_back(getRow(row));
}

//===------------------------------------------------------------------------------------------------------------===//
// Iota
//===------------------------------------------------------------------------------------------------------------===//

static ParseResult parseSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes, AsmParser::Delimiter delimiter) {
  return parser.parseCommaSeparatedList(delimiter, [&] { return parser.parseInteger(sizes.emplace_back()); });
}

/// `<[2, 4] from [4, 2] T(1, 0)>`. HLO writes `<=` for `from`, but MLIR reads every `<` in an attribute as an opening
/// bracket.
Attribute IotaGroupsAttr::parse(AsmParser &parser, Type trailing) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, reshapeDims, transpose;
  if (parser.parseLess() || parseSizes(parser, shape, AsmParser::Delimiter::Square) || parser.parseKeyword("from") ||
      parseSizes(parser, reshapeDims, AsmParser::Delimiter::Square))
    return {};
  if (succeeded(parser.parseOptionalKeyword("T")) && parseSizes(parser, transpose, AsmParser::Delimiter::Paren))
    return {};
  if (parser.parseGreater())
    return {};
  auto iota = parser.getChecked<IotaGroupsAttr>(loc, parser.getContext(), shape, reshapeDims, transpose);
  return detail::withTrailingType(iota, trailing);
}

void IotaGroupsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getShape(), printer);
  printer << "] from [";
  llvm::interleaveComma(getReshapeDims(), printer);
  printer << ']';
  if (!getTranspose().empty()) {
    printer << " T(";
    llvm::interleaveComma(getTranspose(), printer);
    printer << ')';
  }
  printer << '>';
}

/// The product, or none if a size is not positive or the product does not fit.
static std::optional<int64_t> checkedProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (size <= 0 || __builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  return product;
}

LogicalResult IotaGroupsAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> reshapeDims, ArrayRef<int64_t> transpose) {
  std::optional<int64_t> left = checkedProduct(shape), right = checkedProduct(reshapeDims);
  if (!left || !right) // C1
    return emitError() << "iota, expected positive sizes with a product below 2^63";
  if (shape.empty() || shape.size() > 2 || reshapeDims.empty()) // C1
    return emitError() << "iota, expected one or two sizes on the left and at least one on the right, got "
                       << shape.size() << " and " << reshapeDims.size();
  if (*left != *right) // C2
    return emitError() << "iota, expected the same number of ids on both sides, got " << *left << " and " << *right;
  if (transpose.empty())
    return success();
  llvm::SmallBitVector seen(reshapeDims.size());
  for (int64_t dim : transpose) // C3
    if (dim < 0 || size_t(dim) >= reshapeDims.size() || seen.test(dim))
      return emitError() << "iota, expected in T each of 0 to " << reshapeDims.size() - 1 << " once, got " << dim
                         << (dim < 0 || size_t(dim) >= reshapeDims.size() ? "" : " twice");
    else
      seen.set(dim);
  if (!seen.all()) // C3
    return emitError() << "iota, expected in T " << reshapeDims.size() << " dimensions, got " << transpose.size();
  return success();
}

void IotaGroupsAttr::expandFlat(SmallVectorImpl<int64_t> &ids) const {
  ArrayRef<int64_t> dims = getReshapeDims();
  size_t rank = dims.size();
  // Strides of the untransposed numbers, then walk them in transposed order like an odometer.
  SmallVector<int64_t> strides(rank, 1), sizes(rank), steps(rank), position(rank, 0);
  for (size_t dim = rank - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * dims[dim];
  for (size_t dim = 0; dim < rank; ++dim) {
    size_t from = getTranspose().empty() ? dim : getTranspose()[dim];
    sizes[dim] = dims[from];
    steps[dim] = strides[from];
  }
  int64_t count = getNumRanks(), id = 0;
  ids.reserve(ids.size() + count);
  for (int64_t index = 0; index < count; ++index) {
    ids.push_back(id);
    for (size_t dim = rank; dim-- > 0;) {
      id += steps[dim];
      if (++position[dim] < sizes[dim])
        break;
      id -= steps[dim] * sizes[dim];
      position[dim] = 0;
    }
  }
}

int64_t IotaGroupsAttr::getNumRanks() const { return *checkedProduct(getShape()); }
int64_t IotaGroupsAttr::getNumGroups() const { return getShape().size() == 1 ? 1 : getShape().front(); }
int64_t IotaGroupsAttr::getGroupSize() const { return getShape().back(); }
bool IotaGroupsAttr::isPermutationByConstruction() const { return true; }
void IotaGroupsAttr::expand(SmallVectorImpl<SmallVector<int64_t>> &groups) const {
  SmallVector<int64_t> ids;
  expandFlat(ids);
  for (ArrayRef<int64_t> rest = ids; !rest.empty(); rest = rest.drop_front(getGroupSize()))
    groups.emplace_back(rest.take_front(getGroupSize()));
}

//===------------------------------------------------------------------------------------------------------------===//
// Plan
//===------------------------------------------------------------------------------------------------------------===//

/// "0-1:50003.1/50007": two ranks, then ports, each with a rail or without one.
static bool isFlow(StringRef word, llvm::StringSet<> &known) {
  auto [ends, ports] = word.split(':');
  auto [from, to] = ends.split('-');
  unsigned source, target, number;
  if (from.getAsInteger(10, source) || to.getAsInteger(10, target) || source == target || !known.insert(ends).second)
    return false;
  SmallVector<StringRef> all;
  ports.split(all, '.');
  return llvm::all_of(all, [&](StringRef port) {
    if (auto [rail, rest] = port.split('/'); port.contains('/')) {
      if (rail.getAsInteger(10, number))
        return false;
      port = rest;
    }
    return !port.getAsInteger(10, number) && number > 0 && number < 1 << 16;
  });
}

static bool isPath(StringRef path) {
  unsigned number;
  if (path.consume_front("x"))
    return !path.getAsInteger(10, number) && number > 0 && number <= 64;
  SmallVector<StringRef> words;
  path.split(words, ';');
  if (StringRef port = words.front(); port.consume_front("to")) {
    if (words.size() == 1 || port.getAsInteger(10, number) || number == 0 || number >= 1 << 16)
      return false;
    words.erase(words.begin());
  }
  llvm::StringSet<> known;
  return llvm::all_of(words, [&](StringRef word) { return isFlow(word, known); });
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, EngineKind, StringRef algorithm, StringRef,
                               int64_t channels, int64_t chunks, StringRef path, StringRef) {
  if (algorithm.empty()) // C1
    return emitError() << "plan, expected the name of an algorithm, got an empty string";
  if (channels < 0 || chunks < 0) // C2
    return emitError() << "plan, expected channels and chunks that are not negative, got " << channels << " and "
                       << chunks;
  if (!path.empty() && !isPath(path)) // C3
    return emitError() << "plan, expected a path like x4 (1 to 64 connections) or to4791;0-1:50003.50007;1-0:50001 "
                          "(flows between two "
                          "ranks, each once, and their source ports), got '"
                       << path << "'";
  return success();
}
