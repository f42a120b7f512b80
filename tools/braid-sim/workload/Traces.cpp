//===- Traces.cpp - a list of collectives (AICB), a graph of layers (Piper) ----------------------------------------===//
//
// AICB, physical: repeat,op,group,group_size,bytes,stage. No times and no dependences: each collective waits for the one
// before. Rows that are no collective (epoch_end, computation) are left out.
//
// Piper (Tarnawski et al., NeurIPS 2021): node,name,tp_degree,config,time_ms,param_bytes,mem_a,mem_b,sync_fw_bytes,
// sync_bw_bytes, and edges src,dst,bytes in a file beside. A time is forward and backward together: a third is forward, a
// third the input gradient, a third the weight gradient, as for products of matrices. sync_* are tensor parallel, and a
// layer's parameters are all_reduced over the data parallel group.
//===------------------------------------------------------------------------------------------------------------===//
#include "Workload.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

namespace {

/// Rows of a CSV with a head, `#` lines left out; cells by column.
struct Rows {
  StringRef file;
  std::vector<std::pair<int, SmallVector<StringRef>>> rows; ///< (line, cells)

  LogicalResult error(int line, const Twine &what) const {
    llvm::errs() << file << ":" << line << ": error: " << what << "\n";
    return failure();
  }
  LogicalResult read(StringRef text, ArrayRef<StringRef> columns) {
    SmallVector<StringRef> lines;
    text.split(lines, '\n');
    bool head = false;
    for (auto [number, line] : llvm::enumerate(lines)) {
      line = line.trim();
      if (line.empty() || line.starts_with("#"))
        continue;
      SmallVector<StringRef> cells;
      line.split(cells, ',');
      if (!head && !ArrayRef<StringRef>(cells).equals(columns))
        return error(int(number) + 1, "expected the columns " + llvm::join(columns, ",") + ", got " + line);
      if (cells.size() != columns.size())
        return error(int(number) + 1, "expected " + Twine(columns.size()) + " columns, got " + Twine(cells.size()));
      if (head)
        rows.push_back({int(number) + 1, std::move(cells)});
      head = true;
    }
    return rows.empty() ? error(int(lines.size()), "expected rows below a head, got none") : success();
  }
  template <typename T> LogicalResult number(int row, int column, StringRef name, T &value) const {
    double read;
    StringRef cell = rows[row].second[column].trim();
    if (cell.getAsDouble(read) || !(read >= 0) || read > 1e18)
      return error(rows[row].first, name + ": expected a number that is not negative, got '" + cell + "'");
    value = T(read);
    return success();
  }
};

} // namespace

FailureOr<Workload> mlir::braid::sim::readCollectiveList(MLIRContext *context, StringRef file, StringRef text,
                                                         const ReadOptions &options) {
  Rows rows{file, {}};
  if (failed(rows.read(text, {"repeat", "op", "group", "group_size", "bytes", "stage"})))
    return failure();
  Workload result;
  result.elementType = "bf16";
  result.notes.push_back("the list has no times and no dependences: each collective waits for the one before");
  int64_t ranks = options.parallelism.ranks;
  for (int row = 0; row < int(rows.rows.size()) && !options.parallelism.ranks; ++row) {
    int64_t size;
    if (!rows.rows[row].second[3].trim().getAsInteger(10, size))
      ranks = std::max(ranks, size);
  }
  int64_t tensor = std::max<int64_t>(1, options.parallelism.tensor);
  for (int row = 0; row < int(rows.rows.size()); ++row) {
    const SmallVector<StringRef> &cells = rows.rows[row].second;
    auto kind = llvm::StringSwitch<std::optional<CollectiveKind>>(cells[1].trim())
                    .Case("all_reduce", CollectiveKind::AllReduce)
                    .Case("all_gather", CollectiveKind::AllGather)
                    .Case("reduce_scatter", CollectiveKind::ReduceScatter)
                    .Case("all_to_all", CollectiveKind::AllToAll)
                    .Case("broadcast", CollectiveKind::Broadcast)
                    .Default(std::nullopt);
    if (!kind)
      continue;
    int repeat;
    int64_t size, bytes;
    if (failed(rows.number(row, 0, "repeat", repeat)) || failed(rows.number(row, 3, "group_size", size)) ||
        failed(rows.number(row, 4, "bytes", bytes)))
      return failure();
    bool inner = cells[2].contains("tp") || cells[2].contains("ep");
    int64_t stride = inner ? 1 : tensor;
    if (size < 1 || ranks % (size * stride))
      return rows.error(rows.rows[row].first, "group_size: expected a divisor of " + Twine(ranks / stride) +
                                                  ", the ranks beside each other, got " + Twine(size));
    for (int i = 0; i < std::min(repeat, 1000000); ++i) {
      WorkloadNode node;
      node.name = (cells[5].trim().empty() ? cells[1].trim() : cells[5].trim()).str();
      node.collective = kind;
      node.bytes = bytes;
      node.groupSize = size;
      node.groups = groupsAlong(context, {ranks / (size * stride), size, stride}, {1});
      if (!result.nodes.empty())
        node.operands = {int(result.nodes.size()) - 1};
      if (size > 1 && bytes > 0)
        result.nodes.push_back(std::move(node));
    }
  }
  return result;
}

namespace {

struct PiperLayer {
  std::string name;
  double seconds = 0;
  int64_t parameters = 0, forwardSync = 0, backwardSync = 0;
  std::vector<int> before, after;
};

} // namespace

/// Layers so that each stands behind those that it reads; empty if there is a cycle.
static std::vector<int> sorted(const std::map<int, PiperLayer> &layers) {
  std::map<int, int> open;
  std::vector<int> order;
  for (auto &[number, layer] : layers)
    if (!(open[number] = int(layer.before.size())))
      order.push_back(number);
  for (size_t at = 0; at < order.size(); ++at)
    for (int next : layers.at(order[at]).after)
      if (!--open[next])
        order.push_back(next);
  if (order.size() != layers.size())
    order.clear();
  return order;
}

FailureOr<Workload> mlir::braid::sim::readPiper(MLIRContext *context, StringRef file, StringRef text,
                                                const ReadOptions &options) {
  Rows rows{file, {}};
  if (failed(rows.read(text, {"node", "name", "tp_degree", "config", "time_ms", "param_bytes", "mem_a", "mem_b",
                              "sync_fw_bytes", "sync_bw_bytes"})))
    return failure();
  int64_t ranks = options.parallelism.ranks, tensor = std::max<int64_t>(1, options.parallelism.tensor);
  if (ranks < 1 || ranks % tensor)
    return rows.error(1, "expected a number of ranks (--ranks) that is a multiple of the tensor parallelism " +
                             Twine(tensor) + ", got " + Twine(ranks));
  std::map<int, PiperLayer> layers;
  for (int row = 0; row < int(rows.rows.size()); ++row) {
    int number;
    int64_t degree;
    PiperLayer layer;
    if (failed(rows.number(row, 0, "node", number)) || failed(rows.number(row, 2, "tp_degree", degree)) ||
        failed(rows.number(row, 4, "time_ms", layer.seconds)) ||
        failed(rows.number(row, 5, "param_bytes", layer.parameters)) ||
        failed(rows.number(row, 8, "sync_fw_bytes", layer.forwardSync)) ||
        failed(rows.number(row, 9, "sync_bw_bytes", layer.backwardSync)))
      return failure();
    if (degree != tensor)
      continue;
    layer.name = rows.rows[row].second[1].trim().str();
    layer.seconds *= 1e-3 * options.computeScale;
    layers.try_emplace(number, layer); // the first configuration
  }
  if (layers.empty())
    return rows.error(1, "expected layers of tensor parallelism " + Twine(tensor) + ", got none");
  if (options.edges.empty())
    return rows.error(1, "expected the file of its edges (--edges)");
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> edgeText = openInputFile(options.edges, &message);
  if (!edgeText) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  Rows edges{options.edges, {}};
  if (failed(edges.read(edgeText->getBuffer(), {"src", "dst", "bytes"})))
    return failure();
  for (int row = 0; row < int(edges.rows.size()); ++row) {
    int from, to;
    if (failed(edges.number(row, 0, "src", from)) || failed(edges.number(row, 1, "dst", to)))
      return failure();
    if (!layers.count(from) || !layers.count(to))
      return edges.error(edges.rows[row].first, "expected two layers that have tensor parallelism " + Twine(tensor) +
                                                    ", got " + Twine(from) + " and " + Twine(to));
    layers[from].after.push_back(to);
    layers[to].before.push_back(from);
  }
  std::vector<int> order = sorted(layers);
  if (order.empty())
    return edges.error(1, "expected a graph without cycles");

  Workload result;
  auto compute = [&](const std::string &name, double seconds, std::vector<int> operands) {
    result.nodes.push_back({name, seconds, std::nullopt, 0, {}, 1, {}, std::move(operands)});
    return int(result.nodes.size()) - 1;
  };
  auto sync = [&](const std::string &name, int64_t bytes, int64_t axis, int operand) {
    int64_t size = axis == 1 ? tensor : ranks / tensor;
    if (!bytes || size == 1)
      return operand;
    result.nodes.push_back({name + ", allreduce",
                            0,
                            CollectiveKind::AllReduce,
                            bytes,
                            groupsAlong(context, {ranks / tensor, tensor}, {axis}),
                            size,
                            {},
                            {operand}});
    return int(result.nodes.size()) - 1;
  };
  std::map<int, int> forward, backward;
  for (int number : order) {
    PiperLayer &layer = layers[number];
    std::vector<int> operands;
    for (int before : layer.before)
      operands.push_back(forward[before]);
    std::string name = "forward " + layer.name + " " + std::to_string(number);
    forward[number] = sync(name, layer.forwardSync, 1, compute(name, layer.seconds / 3, operands));
  }
  for (int number : llvm::reverse(order)) {
    PiperLayer &layer = layers[number];
    std::vector<int> incoming;
    for (int after : layer.after)
      incoming.push_back(backward[after]);
    if (incoming.empty())
      incoming.push_back(forward[number]);
    std::string suffix = layer.name + " " + std::to_string(number);
    backward[number] = sync("input gradient " + suffix, layer.backwardSync, 1,
                            compute("input gradient " + suffix, layer.seconds / 3, incoming));
    if (layer.parameters)
      sync("weight gradient " + suffix, layer.parameters, 0,
           compute("weight gradient " + suffix, layer.seconds / 3, incoming));
  }
  return result;
}
