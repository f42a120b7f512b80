//===- Layers.cpp - tables of layers: ASTRA-sim 1.0, SimAI, CSV ---------------------------------------------------===//
//
// A row is a layer: name, then time, collective and bytes of its forward pass, of its input gradient and of its weight
// gradient, then the time of its update. ASTRA-sim counts cycles of 1 ns, SimAI ns, the CSV says us in its head.
//
//   forward     layers in order; a layer's collective is waited for by the next layer
//   backward    layers in reverse order; input gradient, then weight gradient, both of what the layer behind gave; the
//               collective of the input gradient is waited for by the layer before, that of the weight gradient by the update
//
// Collectives of the forward pass and of input gradients run over the tensor parallel group, those of weight gradients over
// the data parallel one; a suffix says otherwise: _EP the expert parallel group, _DP_EP the data parallel one of experts.
// In AICB's rows grad_*, and in `layernorm`, every collective is one of the data parallel group: they stand for parameters.
// Formats: astra-sim/astra-sim, branch ASTRA-sim-1.0, astra-sim/workload/Workload.cc; aliyun/SimAI, the same file.
//===------------------------------------------------------------------------------------------------------------===//
#include "Workload.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

namespace {

struct Phase {
  double seconds = 0;
  StringRef collective; ///< "NONE" or ""
  int64_t bytes = 0;
};

struct Layer {
  int line = 0;
  std::string name;
  Phase forward, inputGradient, weightGradient;
  double update = 0;
};

struct Table {
  std::vector<Layer> layers;
  bool simai = false;
  std::string parallelism;                          ///< the header's first word; empty in a CSV
  std::map<std::string, std::vector<int64_t>> says; ///< the header's other words: "ep: 16"
};

/// Up to this a source says "no computation": SimAI writes 1 ns, for 0 is not allowed there.
constexpr double kPlaceholder = 1.5e-9;

class LayerReader {
public:
  LayerReader(StringRef file, StringRef text) : file(file) { text.split(lines, '\n'); }

  FailureOr<Table> read() {
    skipComments();
    if (at >= lines.size())
      return error("expected a table of layers, got an empty file");
    if (lines[at].contains(',') && lines[at].contains("fwd_"))
      return readCsv();
    return readText();
  }

private:
  LogicalResult error(const Twine &what) {
    llvm::errs() << file << ":" << std::min(at + 1, lines.size()) << ": error: " << what << "\n";
    return failure();
  }
  void skipComments() {
    while (at < lines.size() && (lines[at].trim().empty() || lines[at].starts_with("#")))
      ++at;
  }

  LogicalResult number(StringRef word, const Twine &name, double &value) {
    if (word.trim().getAsDouble(value) || !(value >= 0) || value > 1e18)
      return error(name + ": expected a number that is not negative, got '" + word.trim() + "'");
    return success();
  }
  LogicalResult phase(ArrayRef<StringRef> words, StringRef name, double perSecond, Phase &phase) {
    double time, bytes;
    if (failed(number(words[0], name + " time", time)) || failed(number(words[2], name + " bytes", bytes)))
      return failure();
    phase.seconds = time / perSecond;
    phase.collective = words[1].trim();
    phase.bytes = int64_t(bytes);
    return success();
  }
  LogicalResult layer(StringRef name, ArrayRef<StringRef> words, double perSecond, std::vector<Layer> &layers,
                      int times = 1) {
    Layer layer;
    layer.line = int(at) + 1;
    layer.name = name.trim().str();
    double update;
    if (failed(phase(words.slice(0, 3), "forward", perSecond, layer.forward)) ||
        failed(phase(words.slice(3, 3), "input gradient", perSecond, layer.inputGradient)) ||
        failed(phase(words.slice(6, 3), "weight gradient", perSecond, layer.weightGradient)) ||
        failed(number(words[9], "update time", update)))
      return failure();
    layer.update = update / perSecond;
    layers.insert(layers.end(), times, layer);
    return success();
  }

  /// layer,fwd_us,fwd_comm,fwd_bytes,igrad_us,...,wgrad_us,...,update_us; in front perhaps `repeat`.
  FailureOr<Table> readCsv() {
    static const StringRef columns[] = {"layer",      "fwd_us",      "fwd_comm",    "fwd_bytes",
                                        "igrad_us",   "igrad_comm",  "igrad_bytes", "wgrad_us",
                                        "wgrad_comm", "wgrad_bytes", "update_us"};
    SmallVector<StringRef> head;
    lines[at].trim().split(head, ',');
    bool repeats = head.front() == "repeat";
    if (!ArrayRef<StringRef>(head).drop_front(repeats).equals(columns))
      return error("expected the columns [repeat,]" + llvm::join(ArrayRef<StringRef>(columns), ",") + ", got " +
                   lines[at].trim());
    Table table;
    for (++at; at < lines.size(); ++at) {
      if (lines[at].trim().empty() || lines[at].starts_with("#"))
        continue;
      SmallVector<StringRef> words;
      lines[at].trim().split(words, ',');
      if (words.size() != head.size())
        return error("expected " + Twine(head.size()) + " columns, got " + Twine(words.size()));
      int times = 1;
      if (repeats && (words[0].trim().getAsInteger(10, times) || times < 1 || times > 1000000))
        return error("repeat: expected a count from 1 to 1000000, got '" + words[0] + "'");
      ArrayRef<StringRef> rest = ArrayRef<StringRef>(words).drop_front(repeats);
      if (failed(layer(rest[0], rest.drop_front(), 1e6, table.layers, times)))
        return failure();
    }
    if (table.layers.empty())
      return error("expected layers below the head, got none");
    return table;
  }

  /// PARALLELISM [key: number ...] / COUNT / name, reserved, then the ten columns.
  FailureOr<Table> readText() {
    Table table;
    SmallVector<StringRef> head;
    llvm::SplitString(lines[at], head);
    table.parallelism = head.front().str();
    if (!StringRef(table.parallelism).contains("DATA") && !StringRef(table.parallelism).contains("MODEL") &&
        !StringRef(table.parallelism).starts_with("HYBRID") && !StringRef(table.parallelism).starts_with("MICRO"))
      return error("expected a kind of parallelism (DATA, MODEL, HYBRID_...) or the head of a CSV, got '" +
                   table.parallelism + "'");
    std::string key;
    for (StringRef word : ArrayRef<StringRef>(head).drop_front()) {
      int64_t value;
      if (word.ends_with(":"))
        table.says[key = word.drop_back().str()];
      else if (!word.getAsInteger(10, value) && !key.empty())
        table.says[key].push_back(value);
      else if (!word.getAsInteger(10, value))
        table.says["number"].push_back(value);
    }
    table.simai = table.says.count("all_gpus");
    ++at;
    skipComments();
    int64_t count;
    if (at >= lines.size() || lines[at].trim().getAsInteger(10, count) || count < 1)
      return error("expected the number of layers");
    for (++at; at < lines.size(); ++at) {
      SmallVector<StringRef> words;
      llvm::SplitString(lines[at], words);
      if (words.empty())
        continue;
      if (words.size() != 12 && words.size() != 13) // a 13th says how this layer is parallel, of custom ones
        return error("expected 12 columns, got " + Twine(words.size()));
      if (failed(layer(words[0], ArrayRef<StringRef>(words).slice(2, 10), 1e9, table.layers)))
        return failure();
    }
    if (int64_t(table.layers.size()) != count)
      return error("expected " + Twine(count) + " layers, as line 2 says, got " + Twine(table.layers.size()));
    return table;
  }

  StringRef file;
  SmallVector<StringRef> lines;
  size_t at = 0;
};

/// Layers become nodes.
class Unroll {
public:
  Unroll(MLIRContext *context, StringRef file, const Table &table, const ReadOptions &options)
      : context(context), file(file), table(table), options(options) {}

  FailureOr<Workload> run() {
    if (failed(layout()))
      return failure();
    result.elementType = table.simai ? "bf16" : "f32";
    int last = -1, embedding = -1;
    int bottom = options.lastBottomLayer >= 0 ? options.lastBottomLayer : int(said("DLRM_LAST_BOTTOM_LAYER", -1));
    if (bottom >= int(table.layers.size()))
      return error(0, "last bottom layer: expected a layer below " + Twine(table.layers.size()) + ", got " +
                          Twine(bottom));
    for (int i = 0; i < int(table.layers.size()); ++i) {
      // DLRM (Naumov et al., 2019): the exchange of embeddings, layer 0, goes on beside the bottom layers.
      if (embedding >= 0 && i == bottom + 1)
        waits.push_back(embedding);
      if (failed(forward(i, last, "forward ")))
        return failure();
      if (bottom > 0 && i == 0)
        embedding = std::exchange(last, -1);
    }
    for (int i = int(table.layers.size()) - 1; i >= 0; --i) {
      if (failed(recompute(i, last)) || failed(backward(i, last)))
        return failure();
      if (bottom > 0 && i == bottom + 1)
        embeddingGradient = last;
    }
    return std::move(result);
  }

private:
  LogicalResult error(int layer, const Twine &what) {
    llvm::errs() << file << ":" << table.layers[layer].line << ": error: " << what << "\n";
    return failure();
  }
  int64_t said(const char *key, int64_t otherwise) {
    auto found = table.says.find(key);
    return found == table.says.end() || found->second.empty() ? otherwise : found->second.front();
  }

  /// shape = [pipeline, data, expert, tensor], slowest first.
  LogicalResult layout() {
    const Parallelism &asked = options.parallelism;
    int64_t ranks = asked.ranks ? asked.ranks : said("all_gpus", 0);
    int64_t tensor = asked.tensor ? asked.tensor : said("model_parallel_NPU_group", 1);
    int64_t expert = asked.expert ? asked.expert : said("ep", 1);
    int64_t pipeline = asked.pipeline ? asked.pipeline : said("pp", 1);
    if (ranks < 1 || ranks > (int64_t(1) << 24))
      return error(0, "expected the number of ranks (--ranks), for the file does not say it");
    if (tensor < 1 || expert < 1 || pipeline < 1 || ranks % (tensor * expert * pipeline))
      return error(0, Twine(ranks) + " ranks: expected a multiple of tensor x expert x pipeline parallelism = " +
                          Twine(tensor) + " x " + Twine(expert) + " x " + Twine(pipeline));
    shape = {pipeline, ranks / (tensor * expert * pipeline), expert, tensor};
    if (pipeline > 1)
      result.notes.push_back("pipeline parallelism: the messages between stages and their bubbles are left out");
    return success();
  }

  /// MODEL and a data parallel table without tensor parallelism: one group of all ranks.
  SmallVector<int64_t> axesOf(StringRef suffix, bool weights) {
    if (suffix == "_EP")
      return {2};
    if (suffix == "_DP_EP")
      return {1};
    if (weights || shape[3] == 1)
      return {1, 2};
    return {3};
  }

  /// Appends a collective that waits for `operand`; there is none over one rank.
  LogicalResult collective(int layer, const Phase &phase, bool weights, StringRef name, int &operand) {
    StringRef kind = phase.collective;
    if (kind.empty() || kind == "NONE" || kind == "NULL")
      return success();
    StringRef suffix = kind.ends_with("_DP_EP") ? "_DP_EP" : kind.ends_with("_EP") ? "_EP" : "";
    StringRef base = kind.drop_back(suffix.size());
    auto known = llvm::StringSwitch<std::optional<CollectiveKind>>(base)
                     .Case("ALLREDUCE", CollectiveKind::AllReduce)
                     .Case("ALLGATHER", CollectiveKind::AllGather)
                     .Case("REDUCESCATTER", CollectiveKind::ReduceScatter)
                     .Case("ALLTOALL", CollectiveKind::AllToAll)
                     .Case("BROADCAST", CollectiveKind::Broadcast)
                     .Default(std::nullopt);
    if (base == "ALLREDUCEALLTOALL")
      return error(layer, "ALLREDUCEALLTOALL: expected one collective in a phase; write it as two layers");
    if (!known)
      return error(layer,
                   "expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST, perhaps with _EP or "
                   "_DP_EP, got '" +
                       kind + "'");
    WorkloadNode node;
    node.collective = known;
    node.bytes = phase.bytes;
    node.name = (name + table.layers[layer].name + ", " + base.lower()).str();
    SmallVector<int64_t> axes = axesOf(suffix, weights);
    for (int64_t axis : axes)
      node.groupSize *= shape[axis];
    if (node.groupSize == 1 || node.bytes == 0)
      return success();
    node.groups = groupsAlong(context, shape, axes);
    if (operand >= 0)
      node.operands = {operand};
    operand = add(std::move(node));
    return success();
  }
  int add(WorkloadNode node) {
    result.nodes.push_back(std::move(node));
    return int(result.nodes.size()) - 1;
  }
  void compute(int layer, double seconds, StringRef name, int &operand, bool scaled = true) {
    if (seconds <= kPlaceholder && waits.empty())
      return;
    WorkloadNode node;
    node.name = (name + table.layers[layer].name).str();
    node.seconds = seconds <= kPlaceholder ? 0 : seconds * options.computeScale;
    if (operand >= 0)
      node.operands = {operand};
    node.operands.insert(node.operands.end(), waits.begin(), waits.end());
    waits.clear();
    operand = add(std::move(node));
  }
  /// Rows that stand for the parameters of the whole model.
  bool standsForParameters(int layer) {
    StringRef name = table.layers[layer].name;
    return name.starts_with("grad_") || name.starts_with("moe_grad") || name == "layernorm";
  }

  LogicalResult forward(int i, int &last, StringRef name) {
    const Layer &layer = table.layers[i];
    compute(i, layer.forward.seconds, name, last);
    return collective(i, layer.forward, standsForParameters(i), name, last);
  }

  /// ASTRA-sim's HYBRID_TRANSFORMER_FWD_IN_BCKWD: from a layer among `checkpoint_initiates` the backward pass goes back to the
  /// next checkpoint below and runs forward up to that layer again. Lists begin with their length.
  LogicalResult recompute(int i, int &last) {
    auto list = [&](const char *key) {
      auto found = table.says.find(key);
      return found == table.says.end() || found->second.empty() ? ArrayRef<int64_t>()
                                                                : ArrayRef<int64_t>(found->second).drop_front();
    };
    if (!llvm::is_contained(list("checkpoint_initiates"), i))
      return success();
    int64_t from = -1;
    for (int64_t checkpoint : list("checkpoints"))
      if (checkpoint <= i)
        from = std::max(from, checkpoint);
    if (from < 0)
      return error(i, "checkpoint_initiates names layer " + Twine(i) +
                          ": expected a checkpoint at or before it, got none");
    for (int64_t j = from; j <= i; ++j)
      if (failed(forward(int(j), last, "forward again ")))
        return failure();
    return success();
  }

  LogicalResult backward(int i, int &last) {
    const Layer &layer = table.layers[i];
    if (i == 0 && embeddingGradient >= 0)
      last = embeddingGradient;
    int incoming = last;
    compute(i, layer.inputGradient.seconds, "input gradient ", last);
    if (failed(collective(i, layer.inputGradient, standsForParameters(i), "input gradient ", last)))
      return failure();
    int weights = incoming;
    compute(i, layer.weightGradient.seconds, "weight gradient ", weights);
    int reduced = weights;
    if (failed(collective(i, layer.weightGradient, true, "weight gradient ", reduced)))
      return failure();
    if (reduced != incoming) // an update without a gradient is that of a layer without weights
      compute(i, layer.update, "update ", reduced);
    return success();
  }

  MLIRContext *context;
  StringRef file;
  const Table &table;
  const ReadOptions &options;
  SmallVector<int64_t> shape;
  std::vector<int> waits; ///< what the next computation waits for too
  int embeddingGradient = -1;
  Workload result;
};

} // namespace

FailureOr<Workload> mlir::braid::sim::readLayers(MLIRContext *context, StringRef file, StringRef text,
                                                 const ReadOptions &options) {
  FailureOr<Table> table = LayerReader(file, text).read();
  if (failed(table))
    return failure();
  return Unroll(context, file, *table, options).run();
}
