//===- DeepSpeedConfig.cpp - DeepSpeed's JSON as options of a policy --------------------------------------------===//
#include "DeepSpeedConfig.h"
#include "braid/passes/JsonText.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace json = llvm::json;
using llvm::StringRef;

namespace {

enum class Meaning {
  Modelled,
  Memory,    ///< where things lie, or how they are loaded: no effect on what is sent
  Unknown,   ///< it has an effect that is not modelled: a remark
  Forbidden, ///< it sends other bytes: an error unless it is off
};

struct Key {
  const char *name;
  Meaning meaning;
  bool stage3 = false; ///< has an effect in stage 3 only
};

constexpr Key keys[] = {
    {"stage", Meaning::Modelled},
    {"overlap_comm", Meaning::Modelled},
    {"reduce_scatter", Meaning::Modelled},
    {"reduce_bucket_size", Meaning::Modelled},
    {"allgather_bucket_size", Meaning::Modelled},
    {"stage3_prefetch_bucket_size", Meaning::Modelled, true},
    {"stage3_max_live_parameters", Meaning::Modelled, true},
    {"stage3_max_reuse_distance", Meaning::Modelled, true},
    {"stage3_param_persistence_threshold", Meaning::Modelled, true},
    {"stage3_model_persistence_threshold", Meaning::Modelled, true},
    {"contiguous_gradients", Meaning::Memory},
    {"load_from_fp32_weights", Meaning::Memory},
    {"elastic_checkpoint", Meaning::Memory},
    {"sub_group_size", Meaning::Memory},
    {"ignore_unused_parameters", Meaning::Memory},
    {"override_module_apply", Meaning::Memory, true},
    {"pipeline_loading_checkpoint", Meaning::Memory, true},
    {"memory_efficient_linear", Meaning::Memory, true},
    {"stage3_gather_16bit_weights_on_model_save", Meaning::Memory, true},
    {"stage3_gather_fp16_weights_on_model_save", Meaning::Memory, true},
    {"use_multi_rank_bucket_allreduce", Meaning::Memory},
    {"log_trace_cache_warnings", Meaning::Memory},
    {"enable_sanity_checks", Meaning::Memory},
    {"save_muon_momentum_buffer_in_memory", Meaning::Memory, true},
    {"round_robin_gradients", Meaning::Unknown},
    {"allgather_sequential", Meaning::Unknown, true},
    {"stage3_module_granularity_threshold", Meaning::Unknown, true},
    {"cpu_offload_use_pin_memory", Meaning::Unknown},
    {"mics_hierarchical_params_gather", Meaning::Forbidden, true},
    {"stage3_use_all_reduce_for_fetch_params", Meaning::Forbidden, true},
    {"legacy_stage1", Meaning::Forbidden},
    {"cpu_offload", Meaning::Forbidden},
    {"cpu_offload_param", Meaning::Forbidden, true},
    {"offload_param", Meaning::Forbidden, true},
    {"offload_optimizer", Meaning::Forbidden},
    {"zero_hpz_partition_size", Meaning::Forbidden, true},
    {"zero_quantized_weights", Meaning::Forbidden, true},
    {"zero_quantized_nontrainable_weights", Meaning::Forbidden, true},
    {"zero_quantized_gradients", Meaning::Forbidden, true},
    {"zeropp_loco_param", Meaning::Forbidden, true},
    {"mics_shard_size", Meaning::Forbidden, true},
    {"allgather_partitions", Meaning::Forbidden},
};

class Reader {
public:
  Reader(const std::string &path, std::vector<std::string> &remarks) : path(path), remarks(remarks) {}

  cost::Result<cost::ZeroOptions> read() {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      return cost::Error{"cannot read it: " + file.getError().message(), path};
    llvm::Expected<json::Value> value = parseJson((*file)->getBuffer());
    if (!value)
      return cost::Error{"expected JSON: " + llvm::toString(value.takeError()), path};
    const json::Object *root = value->getAsObject();
    const json::Value *zero = root ? root->get("zero_optimization") : nullptr;
    if (!zero)
      return cost::Error{"expected an object with the key \"zero_optimization\"", path};
    // What stands outside of the section and changes what is sent. (Null is absent.)
    for (StringRef key : {"communication_data_type", "sparse_gradients", "gradient_accumulation_steps"})
      if (const json::Value *value = root->get(key);
          value && value->kind() != json::Value::Null && value->getAsBoolean() != false && value->getAsNumber() != 1.0)
        remarks.push_back(
            (key + ": " + text(*value) + ": its effect is not modelled, the program's types and gradients are").str());
    cost::ZeroOptions options;
    if (std::optional<bool> old = zero->getAsBoolean()) { // the format of the first versions
      if (!*old)
        return fail("", "expected an object with a stage of 1 to 3, got false");
      return options;
    }
    section = zero->getAsObject();
    if (!section)
      return fail("", "expected an object");
    readAll(options);
    if (!error.empty())
      return cost::Error{error, path};
    return options;
  }

private:
  cost::Error fail(StringRef key, const llvm::Twine &what) {
    return {("zero_optimization" + (key.empty() ? "" : "." + key) + ": " + what).str(), path};
  }
  void wrong(StringRef key, const llvm::Twine &what) {
    if (error.empty())
      error = fail(key, what).message;
  }

  /// The value of a key; null: absent, or left to the system that starts DeepSpeed.
  const json::Value *valueOf(StringRef key) {
    const json::Value *value = section->get(key);
    if (!value && key.consume_front("stage3_"))
      value = section->get(key); // DeepSpeed takes both names
    if (value && value->getAsString() == StringRef("auto")) {
      remarks.push_back(
          ("zero_optimization." + key + ": auto is resolved by who starts DeepSpeed; its default is taken").str());
      return nullptr;
    }
    return value;
  }
  int64_t number(StringRef key, int64_t otherwise) {
    const json::Value *value = valueOf(key);
    if (!value)
      return otherwise;
    std::optional<double> given = value->getAsNumber();
    if (!given || !(*given >= 0) || *given != std::floor(*given))
      return wrong(key, "expected a whole number that is not negative, got " + text(*value)), otherwise;
    return *given >= 9.2e18 ? INT64_MAX : int64_t(*given);
  }
  bool flag(StringRef key, bool otherwise) {
    const json::Value *value = valueOf(key);
    if (!value || value->kind() == json::Value::Null)
      return otherwise;
    std::optional<bool> given = value->getAsBoolean();
    if (!given)
      wrong(key, "expected true or false, got " + text(*value));
    return given.value_or(otherwise);
  }
  static std::string text(const json::Value &value) { return llvm::formatv("{0}", value).str(); }

  void readAll(cost::ZeroOptions &options) {
    int64_t stage = number("stage", 0);
    if (error.empty() && (stage < 1 || stage > 3))
      wrong("stage",
            "expected 1, 2 or 3, got " + llvm::Twine(stage) +
                (stage == 0 ? ": without ZeRO, gradients are all-reduced (policies ddp-25mib, one-bucket)" : ""));
    if (!error.empty())
      return;
    options.stage = int(stage);
    checkKeys(options.stage);
    options.overlap = flag("overlap_comm", options.stage == 3);
    options.reduceScatter = flag("reduce_scatter", true);
    options.reduceBucket = number("reduce_bucket_size", options.reduceBucket);
    options.gatherBucket = number("allgather_bucket_size", options.gatherBucket);
    if (options.stage < 3)
      return;
    options.prefetchBucket = number("stage3_prefetch_bucket_size", options.prefetchBucket);
    options.maxLive = number("stage3_max_live_parameters", options.maxLive);
    options.reuseDistance = number("stage3_max_reuse_distance", 1'000'000'000);
    options.persistence = number("stage3_param_persistence_threshold", 100'000);
    options.modelPersistence = number("stage3_model_persistence_threshold", INT64_MAX);
    if (options.prefetchBucket > 0 && options.maxLive < options.prefetchBucket)
      remarks.push_back("zero_optimization.stage3_max_live_parameters: " + std::to_string(options.maxLive) +
                        " is less than stage3_prefetch_bucket_size, " + std::to_string(options.prefetchBucket) +
                        ": that much is never prefetched");
  }

  static const Key *find(StringRef name) {
    for (const Key &key : keys)
      if (name == key.name || ("stage3_" + name).str() == key.name)
        return &key;
    return nullptr;
  }

  void checkKeys(int stage) {
    for (const auto &[name, value] : *section) {
      StringRef given = name;
      const Key *key = find(given);
      if (!key) {
        const Key *nearest = &keys[0];
        for (const Key &other : keys)
          if (given.edit_distance(other.name) < given.edit_distance(nearest->name))
            nearest = &other;
        bool near = given.edit_distance(nearest->name) <= 4;
        wrong(given, "expected a key of DeepSpeed, got this one" +
                         (near ? "; did you mean \"" + std::string(nearest->name) + "\"?" : std::string()));
        continue;
      }
      if (key->stage3 && stage < 3)
        remarks.push_back(("zero_optimization." + given + ": it has no effect in stage " + llvm::Twine(stage)).str());
      else if (key->meaning == Meaning::Unknown)
        remarks.push_back(("zero_optimization." + given + ": its effect is not modelled").str());
      else if (key->meaning == Meaning::Forbidden && !isOff(given, value))
        wrong(given,
              given == "allgather_partitions"
                  ? "expected true, got " + text(value) + ": parameters that are broadcast one by one are not modelled"
                  : "expected it off, got " + text(value) + ": the bytes that it sends are not modelled");
    }
  }

  static bool isOff(StringRef key, const json::Value &value) {
    if (key == "allgather_partitions")
      return value.getAsBoolean() == true; // off would be a series of broadcasts
    if (key == "zero_hpz_partition_size")
      return value.getAsNumber() == 1.0;
    if (key == "mics_shard_size")
      return value.getAsNumber() == -1.0;
    if (const json::Object *device = value.getAsObject())
      return device->getString("device") == StringRef("none");
    return value.kind() == json::Value::Null || value.getAsBoolean() == false;
  }

  const std::string &path;
  std::vector<std::string> &remarks;
  const json::Object *section = nullptr;
  std::string error;
};

} // namespace

cost::Result<cost::ZeroOptions> mlir::braid::sim::readDeepSpeedConfig(const std::string &path,
                                                                      std::vector<std::string> &remarks) {
  return Reader(path, remarks).read();
}
