//===- Pipeline.cpp - a table of pipelines, and what each of their stages does -------------------------------------===//
#include "Pipeline.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

double Pipeline::bubble(double step) const {
  return (step - microBatches * (forward + inputGradient + weightGradient)) / step;
}

namespace {

constexpr int64_t sequence = 1024, bytesOfNumber = 2;
constexpr int mostStages = 4096, mostMicroBatches = 1 << 20;

class TableReader {
public:
  TableReader(StringRef file, StringRef text) : file(file) { text.split(lines, '\n'); }

  FailureOr<std::vector<Pipeline>> read() {
    std::vector<Pipeline> rows;
    bool head = false;
    for (; at < lines.size(); ++at) {
      StringRef line = lines[at].trim();
      if (line.empty() || line.starts_with("#"))
        continue;
      cells.clear();
      line.split(cells, ',');
      if (!head) {
        for (auto [number, cell] : llvm::enumerate(cells))
          columns[cell.trim()] = number;
        for (StringRef wanted : {"model", "hidden", "pp", "microbatch", "m", "TF_ms", "TB_ms", "TW_ms", "Tcomm_ms"})
          if (!columns.count(wanted))
            return error("expected a column " + wanted + " (a table of pipelines), got " + line);
        head = true;
        continue;
      }
      if (cells.size() != columns.size())
        return error("expected " + Twine(columns.size()) + " columns, got " + Twine(cells.size()));
      Pipeline row;
      double stages, microBatches, forward, input, weight, message, hidden, batch;
      if (failed(number("pp", 1, mostStages, stages)) || failed(number("m", 1, mostMicroBatches, microBatches)) ||
          failed(number("TF_ms", 0, 1e9, forward)) || failed(number("TB_ms", 0, 1e9, input)) ||
          failed(number("TW_ms", 0, 1e9, weight)) || failed(number("Tcomm_ms", 0, 1e9, message)) ||
          failed(number("hidden", 1, 1e9, hidden)) || failed(number("microbatch", 1, 1e6, batch)))
        return failure();
      row.name = cells[columns["model"]].trim().str();
      row.stages = int(stages);
      row.microBatches = int(microBatches);
      row.forward = forward / 1e3;
      row.inputGradient = input / 1e3;
      row.weightGradient = weight / 1e3;
      row.message = message / 1e3;
      row.bytes = int64_t(batch) * sequence * int64_t(hidden) * bytesOfNumber;
      rows.push_back(std::move(row));
    }
    if (rows.empty())
      return error("expected rows below a head, got none");
    return rows;
  }

private:
  LogicalResult error(const Twine &what) {
    llvm::errs() << file << ":" << std::min(at + 1, lines.size()) << ": error: " << what << "\n";
    return failure();
  }
  LogicalResult number(StringRef column, double least, double most, double &value) {
    StringRef cell = cells[columns[column]].trim();
    if (cell.getAsDouble(value) || !(value >= least && value <= most))
      return error(column + ": expected a number from " + Twine(int64_t(least)) + " to " + Twine(int64_t(most)) +
                   ", got '" + cell + "'");
    return success();
  }

  StringRef file;
  SmallVector<StringRef> lines, cells;
  std::map<StringRef, size_t> columns;
  size_t at = 0;
};

/// Appends what a stage does, in its order.
class StageWriter {
public:
  StageWriter(const Pipeline &pipeline, int stage) : pipeline(pipeline), stage(stage) { result.elementType = "bf16"; }

  Workload write() {
    int warmUp = std::min(pipeline.stages - stage, pipeline.microBatches), next = 0;
    while (next < warmUp)
      forward(next++);
    for (int back = 0; back < pipeline.microBatches; ++back) {
      backward(back);
      if (next < pipeline.microBatches)
        forward(next++);
    }
    return std::move(result);
  }

private:
  void forward(int batch) {
    step("forward " + std::to_string(batch), pipeline.forward, "activation " + std::to_string(batch), stage - 1,
         stage + 1);
  }
  void backward(int batch) {
    step("backward " + std::to_string(batch), pipeline.inputGradient + pipeline.weightGradient,
         "gradient " + std::to_string(batch), stage + 1, stage - 1);
  }
  void step(const std::string &name, double seconds, const std::string &message, int from, int to) {
    WorkloadNode kernel;
    kernel.name = name;
    kernel.seconds = seconds;
    if (last >= 0)
      kernel.operands.push_back(last);
    if (from >= 0 && from < pipeline.stages)
      kernel.operands.push_back(send(message, from, stage, -1));
    last = add(std::move(kernel));
    if (to >= 0 && to < pipeline.stages)
      send(message, stage, to, last);
  }
  int send(const std::string &name, int from, int to, int operand) {
    WorkloadNode node;
    node.name = name;
    node.collective = CollectiveKind::Permute;
    node.bytes = pipeline.bytes;
    node.groupSize = 2;
    node.pairs = {{from, to}};
    if (operand >= 0)
      node.operands = {operand};
    return add(std::move(node));
  }
  int add(WorkloadNode node) {
    result.nodes.push_back(std::move(node));
    return int(result.nodes.size()) - 1;
  }

  const Pipeline &pipeline;
  int stage;
  int last = -1; // kernel
  Workload result;
};

} // namespace

FailureOr<std::vector<Pipeline>> mlir::braid::sim::readPipelines(StringRef file, StringRef text) {
  return TableReader(file, text).read();
}

Workload mlir::braid::sim::stageOf(const Pipeline &pipeline, int stage) { return StageWriter(pipeline, stage).write(); }
