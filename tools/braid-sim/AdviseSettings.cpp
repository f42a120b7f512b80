//===- AdviseSettings.cpp - what can be set in PyTorch, DeepSpeed, Megatron-LM, XLA and NCCL --------------------===//
//
// Each system is a list of settings, the default first; each setting is a policy that is simulated: nothing here is a rule of
// thumb. Where defaults come from:
//
//   DDP           torch/nn/parallel/distributed.py: 25 MiB, the first bucket 1 MiB; bucket_cap_mb sets both
//   FSDP          size_based_auto_wrap_policy: 1e8 parameters; BACKWARD_PRE; limit_all_gathers
//   DeepSpeed     deepspeed/runtime/zero/config.py
//   Megatron-LM   megatron/core/distributed: without --overlap-grad-reduce one bucket; else max(40000000, 1000000 x ranks)
//   XLA           30 MiB; the latency-hiding scheduler is off
//   NCCL          its tuner chooses; one queue pair per connection
//===------------------------------------------------------------------------------------------------------------===//
#include "Advise.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>
#include <set>

using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace json = llvm::json;

namespace {

constexpr int64_t mebibyte = int64_t(1) << 20, everything = std::numeric_limits<int64_t>::max();

class Systems {
public:
  Systems(const ModulePlan &plan, const std::string &placement, bool exported)
      : plan(plan), placement(placement), exported(exported), program(&plan.program, [](const cost::Program *) {}),
        pricer(plan.pricer.get(), [](const cost::Pricer *) {}) {
    // Whether systems for data parallelism have anything to do.
    cost::Result<cost::SystemStep> step = cost::fsdpStep(plan.program, *pricer, {});
    if (!step)
      noGradients = step.error().text();
    int64_t total = 0, largest = 0; // bytes of collectives in the text
    for (const cost::Block &block : plan.program.blocks)
      for (const cost::Task &task : block.tasks) {
        if (task.kind != cost::Task::Collective || !task.spec.groups)
          continue;
        total += task.spec.bytes.value;
        if (task.spec.bytes.value > largest) {
          largest = task.spec.bytes.value;
          elementBytes = cost::elementBytes(task.spec.elementType);
          ranks = task.spec.groups->size();
        }
      }
    // Powers of two from a hundredth of the program's bytes to all of them.
    for (int64_t size = 16 << 10; sizes.empty() || sizes.back() < total; size *= 2)
      if (size >= total / 100)
        sizes.push_back(size);
  }

  std::vector<TunedSystem> all() { return {ddp(), fsdp(), deepSpeed(2), deepSpeed(3), megatron(), xla(), nccl()}; }

private:
  //===- how settings are simulated -----------------------------------------------------------------------------===//

  std::function<Simulated()> ruled(cost::BucketRule rule, bool overlap = true) {
    return [this, rule, overlap] {
      cost::ListOptions list;
      list.inFlight = plan.options.inFlight;
      list.fillWaits = true;
      list.overlap = overlap;
      return Simulated{program, cost::scheduleProgram(*program, rule, *pricer, list), pricer};
    };
  }
  static cost::BucketRule ddpRule(int64_t cap, int64_t first) {
    cost::BucketRule rule;
    rule.cap = {cap};
    rule.firstCap = {first};
    return rule;
  }
  Simulated of(cost::Result<cost::SystemStep> step) {
    return {std::make_shared<cost::Program>(std::move(step->program)), std::move(step->schedule), pricer};
  }
  std::function<Simulated()> zero(cost::ZeroOptions options) {
    return [this, options] { return of(cost::zeroStep(*program, *pricer, options)); };
  }
  std::function<Simulated()> sharded(cost::FsdpOptions options) {
    return [this, options] { return of(cost::fsdpStep(*program, *pricer, options)); };
  }

  /// `sizes` as numbers of elements.
  std::vector<int64_t> elements() const {
    std::vector<int64_t> counts;
    for (int64_t size : sizes)
      counts.push_back(size / elementBytes);
    return counts;
  }

  TunedSystem system(const char *name) { return {name, {}, noGradients}; }

  //===- the systems --------------------------------------------------------------------------------------------===//

  TunedSystem ddp() {
    TunedSystem system = this->system("PyTorch DDP");
    system.settings.push_back({{}, {"DistributedDataParallel(model)"}, ruled(ddpRule(25 * mebibyte, mebibyte))});
    for (int64_t size : sizes) {
      std::string mib = llvm::formatv("{0}", json::Value(double(size) / mebibyte));
      system.settings.push_back({json::Object{{"bucket_cap_mb", double(size) / mebibyte}},
                                 {"DistributedDataParallel(model, bucket_cap_mb=" + mib + ")"},
                                 ruled(ddpRule(size, size))});
    }
    for (int64_t mib : {2, 4, 8, 16})
      system.settings.push_back(
          {json::Object{{"first_bucket_mib", mib}},
           {llvm::formatv("torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = {0}", mib * mebibyte).str(),
            "DistributedDataParallel(model)"},
           ruled(ddpRule(25 * mebibyte, mib * mebibyte))});
    return system;
  }

  TunedSystem fsdp() {
    TunedSystem system = this->system("PyTorch FSDP");
    auto add = [&](int64_t parameters, cost::FsdpOptions::Prefetch prefetch, bool limit, bool standard) {
      cost::FsdpOptions options;
      options.unit = {parameters * elementBytes};
      options.backwardPrefetch = prefetch;
      options.allGathers = limit ? 2 : 0;
      const char *names[] = {"BackwardPrefetch.BACKWARD_PRE", "BackwardPrefetch.BACKWARD_POST", "None"};
      json::Object keys;
      if (!standard)
        keys = json::Object{
            {"min_num_params", parameters}, {"backward_prefetch", names[prefetch]}, {"limit_all_gathers", limit}};
      system.settings.push_back(
          {std::move(keys),
           {llvm::formatv("FullyShardedDataParallel(model, auto_wrap_policy=functools.partial("
                          "size_based_auto_wrap_policy, min_num_params={0}), backward_prefetch={1}, "
                          "limit_all_gathers={2})",
                          parameters, names[prefetch], limit ? "True" : "False")
                .str()},
           sharded(options)});
    };
    add(100'000'000, cost::FsdpOptions::Pre, true, true);
    for (int64_t size : sizes)
      for (auto prefetch : {cost::FsdpOptions::Pre, cost::FsdpOptions::Post, cost::FsdpOptions::None})
        for (bool limit : {true, false})
          add(size / elementBytes, prefetch, limit, false);
    return system;
  }

  TunedSystem deepSpeed(int stage) {
    TunedSystem system = this->system(stage == 2 ? "DeepSpeed ZeRO 1, 2" : "DeepSpeed ZeRO 3");
    auto add = [&](bool overlap, int64_t reduce, int64_t prefetch, bool standard) {
      cost::ZeroOptions options;
      options.stage = stage;
      options.overlap = overlap;
      options.reduceBucket = reduce;
      options.prefetchBucket = prefetch;
      if (stage == 3) {
        options.reuseDistance = 1'000'000'000;
        options.persistence = 100'000;
      }
      json::Object keys{{"stage", stage}, {"overlap_comm", overlap}, {"reduce_bucket_size", reduce}};
      if (stage == 3)
        keys["stage3_prefetch_bucket_size"] = prefetch;
      std::string line = llvm::formatv("\"zero_optimization\": {0}", json::Value(json::Object(keys)));
      if (standard)
        keys = json::Object{{"stage", stage}};
      system.settings.push_back({std::move(keys), {std::move(line)}, zero(options)});
    };
    constexpr int64_t standard = 500'000'000, ahead = 50'000'000;
    add(stage == 3, standard, ahead, true);
    for (bool overlap : {false, true})
      for (int64_t reduce : elements())
        if (stage == 2)
          add(overlap, reduce, ahead, false);
        else if (overlap)
          for (int64_t prefetch : {int64_t(0), int64_t(5'000'000), ahead, standard})
            add(overlap, reduce, prefetch, false);
    return system;
  }

  TunedSystem megatron() {
    TunedSystem system = this->system("Megatron-LM");
    int64_t standard = std::max<int64_t>(40'000'000, int64_t(1'000'000) * ranks); // elements
    enum Gather { Summed, Behind, Overlapped };
    auto add = [&](Gather gather, bool overlap, int64_t bucket) {
      json::Object keys;
      std::string line;
      auto flag = [&](const char *name) {
        keys[name] = true;
        line += (line.empty() ? "--" : " --") + std::string(name);
      };
      if (gather != Summed)
        flag("use-distributed-optimizer");
      if (overlap)
        flag("overlap-grad-reduce");
      if (gather == Overlapped)
        flag("overlap-param-gather");
      if (overlap && bucket != standard) {
        keys["ddp-bucket-size"] = bucket;
        line += " --ddp-bucket-size " + std::to_string(bucket);
      }
      if (line.empty())
        line = "(no flags)";
      int64_t bytes = bucket == everything ? everything : bucket * elementBytes;
      std::function<Simulated()> run;
      cost::ZeroOptions options;
      options.overlap = overlap;
      options.reduceBucket = options.gatherBucket = bucket;
      cost::FsdpOptions early; // gathered under the next forward pass, one bucket ahead
      early.unit = {bytes};
      early.freeForward = false;
      system.settings.push_back({std::move(keys),
                                 {line},
                                 gather == Summed   ? ruled(ddpRule(bytes, bytes))
                                 : gather == Behind ? zero(options)
                                                    : sharded(early)});
    };
    add(Summed, false, everything);
    add(Behind, false, everything);
    std::vector<int64_t> buckets = elements();
    buckets.push_back(standard);
    for (int64_t bucket : buckets)
      for (Gather gather : {Summed, Behind, Overlapped})
        add(gather, true, bucket);
    return system;
  }

  /// Combiners have a threshold for each kind of collective; kinds that the program has are set alike.
  TunedSystem xla() {
    TunedSystem system{"XLA", {}, ""};
    std::set<std::string> kinds;
    for (const cost::Block &block : plan.program.blocks)
      for (const cost::Task &task : block.tasks)
        if (task.kind == cost::Task::Collective &&
            (task.spec.kind == cost::CollectiveKind::AllReduce || task.spec.kind == cost::CollectiveKind::AllGather ||
             task.spec.kind == cost::CollectiveKind::ReduceScatter))
          kinds.insert(::braid::algorithms::name(task.spec.kind));
    if (kinds.empty())
      system.inapplicable = "no collective of the program is of a kind that XLA combines";
    auto add = [&](bool hide, int64_t threshold, bool standard) {
      json::Object keys;
      std::string flags;
      if (hide) {
        keys["xla_gpu_enable_latency_hiding_scheduler"] = true;
        flags += "--xla_gpu_enable_latency_hiding_scheduler=true";
      }
      if (!standard)
        for (const std::string &kind : kinds) {
          std::string name = "xla_gpu_" + kind + "_combine_threshold_bytes";
          keys[name] = threshold;
          flags += (flags.empty() ? "--" : " --") + name + "=" + std::to_string(threshold);
        }
      cost::BucketRule rule;
      rule.cap = {threshold};
      system.settings.push_back({std::move(keys),
                                 {flags.empty() ? "(nothing set)" : "export XLA_FLAGS=\"" + flags + "\""},
                                 ruled(rule, hide)});
    };
    for (bool hide : {false, true}) {
      add(hide, 30 * mebibyte, true);
      add(hide, 0, false);
      for (int64_t size : sizes)
        add(hide, size, false);
    }
    return system;
  }

  /// On DDP's default buckets, or XLA's where the program has no gradients.
  TunedSystem nccl() {
    TunedSystem system{"NCCL", {}, plan.pricer->engine() == cost::Engine::Nccl ? "" : "the engine is braid"};
    if (!system.inapplicable.empty())
      return system;
    cost::BucketRule rule = ddpRule(25 * mebibyte, mebibyte);
    if (!noGradients.empty()) {
      rule = {};
      rule.cap = {30 * mebibyte};
    }
    std::function<Simulated()> standard = ruled(rule);
    auto add = [&](json::Object keys, std::function<Simulated()> run) {
      std::string line;
      for (const auto &[name, value] : keys)
        line += (line.empty() ? "" : " ") + name.str() + "=" +
                (value.getAsString() ? value.getAsString()->str() : llvm::formatv("{0}", value).str());
      system.settings.push_back({std::move(keys), {line.empty() ? "(nothing set)" : "export " + line}, std::move(run)});
    };
    add({}, standard);
    for (const char *algorithm : {"", "ring", "tree"})
      for (const char *protocol : {"", "LL", "LL128", "Simple"}) {
        json::Object keys;
        if (*algorithm)
          keys["NCCL_ALGO"] = algorithm;
        if (*protocol)
          keys["NCCL_PROTO"] = protocol;
        if (!keys.empty())
          add(std::move(keys), [=] { return forced(standard(), algorithm, protocol); });
      }
    for (int64_t pairs : {2, 4, 8, 16})
      add(json::Object{{"NCCL_IB_QPS_PER_CONNECTION", pairs}}, [=] {
        return repriced(standard(), [=](cost::FabricProfile &profile) { profile.collisionFlowsPerNic = int(pairs); });
      });
    add(json::Object{{"NCCL_IB_ADAPTIVE_ROUTING", 1}}, [=] {
      return repriced(standard(), [](cost::FabricProfile &profile) {
        profile.adaptiveRouting = true;
        profile.collisionUplinks = 0;
      });
    });
    system.settings.back().needs = "switches can route adaptively"; // the variable does not make them
    return system;
  }

  /// Each launch by the cheapest candidate of this algorithm and protocol; NCCL's own choice where there is none.
  static Simulated forced(Simulated run, const std::string &algorithm, const std::string &protocol) {
    for (size_t b = 0; b < run.schedule.blocks.size(); ++b)
      for (cost::Bucket &bucket : run.schedule.blocks[b].buckets) {
        const auto &candidates = run.pricer->candidates(cost::mergedSpec(run.program->blocks[b], bucket));
        for (size_t c = 0; c < candidates.size(); ++c)
          if ((algorithm.empty() || candidates[c].algorithm == algorithm) &&
              (protocol.empty() || candidates[c].protocol == protocol)) {
            bucket.candidate = int(c);
            break;
          }
      }
    return run;
  }
  Simulated repriced(Simulated run, const std::function<void(cost::FabricProfile &)> &change) {
    cost::Cluster cluster = plan.pricer->cluster();
    change(cluster.inter.profile);
    cost::Result<cost::Placement> where = cost::readPlacement(placement, plan.program.ranks, cluster);
    if (where) // it was read before
      run.pricer = std::make_shared<cost::Pricer>(cluster, *where, plan.pricer->engine(),
                                                  exported ? cost::BucketForm::Copies : cost::BucketForm::GroupCall);
    return run;
  }

  const ModulePlan &plan;
  const std::string placement;
  bool exported;
  std::shared_ptr<const cost::Program> program;
  std::shared_ptr<const cost::Pricer> pricer;
  std::string noGradients;
  int64_t elementBytes = 4;
  std::vector<int64_t> sizes; ///< of buckets and units, in bytes
  int ranks = 1;
};

} // namespace

std::vector<TunedSystem> mlir::braid::sim::tunedSystems(const ModulePlan &plan, const std::string &placement,
                                                        bool exported) {
  auto systems = std::make_shared<Systems>(plan, placement, exported);
  std::vector<TunedSystem> all = systems->all();
  for (TunedSystem &system : all)
    for (Setting &setting : system.settings) // settings refer to it
      setting.run = [systems, run = std::move(setting.run)] { return run(); };
  return all;
}

std::vector<std::string> mlir::braid::sim::settingsNotModelled() {
  return {"NCCL_BUFFSIZE, NCCL_NTHREADS, NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS: prices are those of NCCL's tuning "
          "model, which does "
          "not know them",
          "NCCL_IB_SPLIT_DATA_ON_QPS, NCCL_IB_TC, NCCL_IB_SL: how a connection's queue pairs share its bytes and its "
          "switch's queues"};
}
