//===- Pipeline.cpp - braid-sim pipeline: steps of pipelines whose stages send each other messages -----------------===//
//
// Each row of the table is imported as a program for each stage (workload/Pipeline.h). These become plain problems, scheduled as
// they are written, and are played together by the plan's player; a message takes the time that the table gives.
//===------------------------------------------------------------------------------------------------------------===//
#include "workload/Pipeline.h"
#include "Subcommands.h"
#include "braid/cost_models/Stages.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

/// A stage's program as a plain problem of one block.
static cost::Program plainProgram(const Workload &workload, int ranks,
                                  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<cost::RankGroups>> &groups) {
  cost::Block block;
  block.name = "step";
  for (const WorkloadNode &node : workload.nodes) {
    cost::Task task;
    task.name = node.name;
    task.operands = node.operands;
    llvm::sort(task.operands);
    task.duration = {node.seconds};
    if (node.collective) {
      std::shared_ptr<cost::RankGroups> &pair = groups[node.pairs.front()];
      if (!pair) {
        pair = std::make_shared<cost::RankGroups>();
        pair->pairs = {{int(node.pairs.front().first), int(node.pairs.front().second)}};
      }
      task.kind = cost::Task::Collective;
      task.spec.kind = cost::CollectiveKind::Permute;
      task.spec.bytes = {node.bytes};
      task.spec.elementType = workload.elementType;
      task.spec.groups = pair;
    }
    block.tasks.push_back(std::move(task));
  }
  return {{std::move(block)}, ranks};
}

/// Seconds of a step, and how long each stage computes.
static cost::Result<cost::StagesPlayed> playPipeline(const Pipeline &pipeline, const cost::Pricer &pricer) {
  std::vector<cost::Stage> stages;
  std::vector<cost::Message> messages;
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<cost::RankGroups>> groups;
  std::map<std::pair<std::string, std::pair<int64_t, int64_t>>, size_t> known; // a message by its name and pair
  cost::ListOptions asWritten;
  asWritten.overlap = false;
  for (int stage = 0; stage < pipeline.stages; ++stage) {
    Workload workload = stageOf(pipeline, stage);
    for (auto [task, node] : llvm::enumerate(workload.nodes)) {
      if (!node.collective)
        continue;
      auto [place, first] = known.try_emplace({node.name, node.pairs.front()}, messages.size());
      if (first)
        messages.push_back({});
      cost::Message &message = messages[place->second];
      message.time = {pipeline.message};
      bool sends = node.pairs.front().first == stage;
      (sends ? message.from : message.to) = stage;
      (sends ? message.sent : message.received) = int(task);
    }
    cost::Stage made{plainProgram(workload, pipeline.stages, groups), {}};
    made.schedule = cost::scheduleProgram(made.program, {}, pricer, asWritten);
    stages.push_back(std::move(made));
  }
  return cost::playStages(stages, messages, pricer);
}

int mlir::braid::sim::runPipeline(int argc, char **argv) {
  namespace cl = llvm::cl;
  cl::OptionCategory category("braid-sim pipeline");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<table.csv>"), cl::cat(category));
  cl::opt<std::string> format("format", cl::init("text"), cl::desc("text (default), json"), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "steps of pipelines (1F1B) by the times of their stages\n");
  auto fail = [](const llvm::Twine &what) {
    llvm::errs() << "error: " << what << "\n";
    return 1;
  };
  if (format != "text" && format != "json")
    return fail("--format: expected text or json, got '" + format + "'");
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &message);
  if (!file)
    return fail(message);
  FailureOr<std::vector<Pipeline>> rows = readPipelines(input, file->getBuffer());
  if (failed(rows))
    return 1;
  llvm::json::Array array;
  for (const Pipeline &row : *rows) {
    // The table gives the time of messages; the cluster only says where ranks are: a host each.
    cost::Cluster cluster;
    cluster.hosts = row.stages;
    cluster.devicesPerHost = cluster.nicsPerHost = 1;
    cluster.topology = "single_switch";
    cluster.intra.bandwidth = cluster.inter.bandwidth = {1e9};
    cost::Placement placement;
    for (int rank = 0; rank < row.stages; ++rank)
      placement.deviceOf.push_back(rank);
    cost::Pricer pricer(cluster, placement, cost::Engine::Nccl, cost::BucketForm::OneLaunch);
    cost::Result<cost::StagesPlayed> played = playPipeline(row, pricer);
    if (!played)
      return fail(input + ": " + row.name + ": " + played.error().text());
    double step = played->total.value, bubble = row.bubble(step);
    if (format == "json")
      array.push_back(llvm::json::Object{{"model", row.name},
                                         {"stages", row.stages},
                                         {"micro_batches", row.microBatches},
                                         {"schedule", "1f1b"},
                                         {"step_s", step},
                                         {"bubble", bubble}});
    else
      llvm::outs() << llvm::format("%-8s %3d stages, %4d micro-batches, 1F1B: step %s, bubble %.4f (simulated)\n",
                                   row.name.c_str(), row.stages, row.microBatches,
                                   cost::toString(played->total).c_str(), bubble);
  }
  if (format == "json")
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(array)));
  return 0;
}
