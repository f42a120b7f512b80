//===- Chakra.cpp - Chakra execution traces, as JSON, in and out ----------------------------------------------------===//
//
// Two spellings are read: `workload_graph`, which ASTRA-sim 2 reads and which is written here, and what protobuf's JSON makes
// of the schema (a list of nodes with `attr`, as chakra_jsonizer prints it). Names of fields: mlcommons/chakra,
// schema/protobuf/et_def.proto and src/feeder/JSONNode.cpp.
//
//   {"workload_graph": [{"Id": 3, "Name": "grads", "NodeType": 7, "is_cpu_op": false, "data_deps": [2],
//                        "comm_type": 0, "comm_size": 4096, "tensor_size": 4096, "pg_name": "dp"}]}
//
// A trace is one rank's. comm_size is what a rank gives (operand), runtime is in us. Nodes of processors (is_cpu_op) and of
// metadata are contracted: who waited for one waits for what it waited for. A node of memory takes the time that it states.
//===------------------------------------------------------------------------------------------------------------===//
#include "Workload.h"
#include "braid/dialect/BraidOps.h"
#include "braid/dialect/Groups.h"
#include "braid/passes/JsonText.h"
#include "braid/passes/LocationText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace json = llvm::json;

namespace {

enum NodeType { Metadata = 1, Load = 2, Store = 3, Compute = 4, Send = 5, Receive = 6, Collective = 7 };

/// CollectiveCommType of the schema.
constexpr std::pair<int, CollectiveKind> kCommTypes[] = {
    {0, CollectiveKind::AllReduce}, {1, CollectiveKind::Reduce},        {2, CollectiveKind::AllGather},
    {3, CollectiveKind::Gather},    {4, CollectiveKind::Scatter},       {5, CollectiveKind::Broadcast},
    {6, CollectiveKind::AllToAll},  {7, CollectiveKind::ReduceScatter}, {8, CollectiveKind::ReduceScatter},
    {9, CollectiveKind::Barrier}};

struct TraceNode {
  int64_t id = 0;
  int type = 0;
  std::string name, processGroup;
  bool ofProcessor = false;
  double micros = 0;
  int64_t commType = -1, commSize = 0;
  std::vector<int64_t> waits;
};

class TraceReader {
public:
  explicit TraceReader(StringRef file) : file(file) {}

  LogicalResult read(StringRef text, std::vector<TraceNode> &nodes) {
    llvm::Expected<json::Value> parsed = parseJson(text);
    if (!parsed)
      return error("", llvm::toString(parsed.takeError()));
    const json::Array *list = parsed->getAsArray();
    if (const json::Object *object = parsed->getAsObject())
      for (const char *key : {"workload_graph", "node", "nodes"})
        if (const json::Array *found = object->getArray(key))
          list = found;
    if (!list)
      return error("", "expected \"workload_graph\": [nodes], or a list of nodes");
    for (const json::Value &value : *list) {
      const json::Object *object = value.getAsObject();
      if (!object)
        return error("node " + std::to_string(nodes.size()), "expected an object");
      if (object->get("version") && !object->get("id") && !object->get("Id"))
        continue; // GlobalMetadata, the first message of a stream
      nodes.emplace_back();
      if (failed(node(*object, nodes.back())))
        return failure();
    }
    if (nodes.empty())
      return error("", "expected nodes, got none");
    return success();
  }
  LogicalResult error(const Twine &where, const Twine &what) {
    llvm::errs() << file << ": error: " << where << (where.isTriviallyEmpty() || where.str().empty() ? "" : ": ")
                 << what << "\n";
    return failure();
  }

private:
  /// Protobuf's JSON writes 64-bit numbers as strings.
  static std::optional<double> number(const json::Value *value) {
    if (!value)
      return std::nullopt;
    if (std::optional<double> direct = value->getAsNumber())
      return direct;
    double parsed;
    if (std::optional<StringRef> text = value->getAsString())
      if (!text->getAsDouble(parsed))
        return parsed;
    return std::nullopt;
  }
  static const json::Value *any(const json::Object &object, ArrayRef<const char *> keys) {
    for (const char *key : keys)
      if (const json::Value *value = object.get(key))
        return value;
    return nullptr;
  }

  LogicalResult node(const json::Object &object, TraceNode &node) {
    std::optional<double> id = number(any(object, {"Id", "id"}));
    if (!id)
      return error("a node", "expected a number \"Id\" or \"id\"");
    node.id = int64_t(*id);
    std::string where = "node " + std::to_string(node.id);
    if (const json::Value *name = any(object, {"Name", "name"}))
      if (std::optional<StringRef> text = name->getAsString())
        node.name = text->str();
    const json::Value *type = any(object, {"NodeType", "type"});
    static const std::map<StringRef, int> types = {
        {"METADATA_NODE", Metadata}, {"MEM_LOAD_NODE", Load},     {"MEM_STORE_NODE", Store},     {"COMP_NODE", Compute},
        {"COMM_SEND_NODE", Send},    {"COMM_RECV_NODE", Receive}, {"COMM_COLL_NODE", Collective}};
    if (std::optional<double> code = number(type))
      node.type = int(*code);
    else if (type && type->getAsString() && types.count(*type->getAsString()))
      node.type = types.at(*type->getAsString());
    if (node.type < Metadata || node.type > Collective)
      return error(where, "expected a type from 1 (METADATA_NODE) to 7 (COMM_COLL_NODE)");
    node.micros = number(any(object, {"runtime", "durationMicros", "duration_micros"})).value_or(0);
    for (const char *key : {"data_deps", "dataDeps", "ctrl_deps", "ctrlDeps"})
      if (const json::Array *waits = object.getArray(key))
        for (const json::Value &value : *waits) {
          std::optional<double> other = number(&value);
          if (!other)
            return error(where, Twine(key) + ": expected numbers of nodes");
          node.waits.push_back(int64_t(*other));
        }
    take(object, node);
    if (const json::Array *attributes = object.getArray("attr"))
      for (const json::Value &attribute : *attributes)
        if (const json::Object *pair = attribute.getAsObject())
          if (std::optional<StringRef> name = pair->getString("name"))
            for (const auto &[key, value] : *pair)
              if (StringRef(key) != "name" && StringRef(key) != "doc_string" && StringRef(key) != "docString")
                take(json::Object{{name->str(), value}}, node);
    if (node.micros < 0 || node.commSize < 0)
      return error(where, "expected a time and a size that are not negative");
    if (node.type == Collective && node.commType < 0)
      return error(where, "expected a \"comm_type\"");
    return success();
  }
  void take(const json::Object &object, TraceNode &node) {
    if (const json::Value *value = object.get("is_cpu_op")) {
      node.ofProcessor = number(value).value_or(0) != 0;
      if (std::optional<bool> flag = value->getAsBoolean())
        node.ofProcessor = *flag;
    }
    if (std::optional<double> value = number(object.get("comm_type")))
      node.commType = int64_t(*value);
    if (std::optional<double> value = number(object.get("comm_size")))
      node.commSize = int64_t(*value);
    for (const char *key : {"pg_name", "pg", "process_group"})
      if (std::optional<StringRef> text = object.getString(key))
        node.processGroup = text->str();
      else if (std::optional<double> value = number(object.get(key)))
        node.processGroup = std::to_string(int64_t(*value));
  }

  StringRef file;
};

} // namespace

/// --groups FILE: {"dp": [[0, 2], [1, 3]], ...}: all groups of each name, so that every rank finds itself.
static LogicalResult readGroups(MLIRContext *context, const std::string &file,
                                std::map<std::string, std::pair<GroupsAttrInterface, int64_t>> &groups) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> text = openInputFile(file, &message);
  if (!text) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  llvm::Expected<json::Value> parsed = parseJson(text->getBuffer());
  const json::Object *object = parsed ? parsed->getAsObject() : nullptr;
  std::string broken = parsed ? "" : llvm::toString(parsed.takeError());
  for (auto &[name, value] : object ? *object : json::Object()) {
    SmallVector<int64_t> flat;
    int64_t size = -1;
    const json::Array *rows = value.getAsArray();
    for (const json::Value &row : rows ? *rows : json::Array()) {
      const json::Array *ids = row.getAsArray();
      if (!ids || ids->empty() || (size >= 0 && int64_t(ids->size()) != size))
        rows = nullptr;
      if (!rows)
        break;
      size = int64_t(ids->size());
      for (const json::Value &id : *ids)
        flat.push_back(id.getAsInteger().value_or(-1));
    }
    llvm::SmallDenseSet<int64_t> once;
    for (int64_t id : flat)
      if (id < 0 || id >= int64_t(flat.size()) || !once.insert(id).second)
        rows = nullptr;
    if (!rows || flat.empty()) {
      broken =
          name.str() + ": expected groups of one size in which each rank from 0 on stands once, like [[0, 1], [2, 3]]";
      break;
    }
    Attribute attribute = GroupsAttr::get(context, flat, size);
    groups[name.str()] = {compressGroups(cast<GroupsAttrInterface>(attribute)), size};
  }
  if (!broken.empty() || !object) {
    llvm::errs() << file << ": error: " << (broken.empty() ? "expected an object: group -> lists of ranks" : broken)
                 << "\n";
    return failure();
  }
  return success();
}

FailureOr<Workload> mlir::braid::sim::readChakra(MLIRContext *context, StringRef file, StringRef text,
                                                 const ReadOptions &options) {
  TraceReader reader(file);
  std::vector<TraceNode> nodes;
  if (failed(reader.read(text, nodes)))
    return failure();
  std::map<std::string, std::pair<GroupsAttrInterface, int64_t>> groups;
  if (!options.groups.empty() && failed(readGroups(context, options.groups, groups)))
    return failure();
  std::map<int64_t, int> place;
  for (auto [number, node] : llvm::enumerate(nodes))
    if (!place.try_emplace(node.id, int(number)).second)
      return reader.error("node " + std::to_string(node.id),
                          "expected an id of its own, got one that another node has");

  // Depth first: what a node waits for comes before it; a node in progress that is met again is a cycle.
  Workload result;
  std::vector<std::vector<int>> given(nodes.size()); // nodes of the result that stand for it
  std::vector<char> state(nodes.size(), 0);
  int left = 0;
  for (int root = 0; root < int(nodes.size()); ++root) {
    std::vector<std::pair<int, size_t>> stack;
    if (!state[root])
      stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[at, next] = stack.back();
      const TraceNode &node = nodes[at];
      std::string where = "node " + std::to_string(node.id);
      state[at] = 1;
      if (next < node.waits.size()) {
        auto found = place.find(node.waits[next++]);
        if (found == place.end())
          return reader.error(where,
                              "waits for node " + std::to_string(node.waits[next - 1]) + ", which is not in the trace");
        if (state[found->second] == 1)
          return reader.error(where, "expected a graph without cycles, got one through node " +
                                         std::to_string(nodes[found->second].id));
        if (!state[found->second])
          stack.push_back({found->second, 0});
        continue;
      }
      std::vector<int> operands;
      for (int64_t wait : node.waits)
        for (int given : given[place[wait]])
          if (!llvm::is_contained(operands, given))
            operands.push_back(given);
      bool contracted = node.ofProcessor || node.type == Metadata || (node.type != Collective && node.micros == 0);
      if (node.type == Send || node.type == Receive) {
        ++left;
        contracted = true;
      }
      if (node.type == Collective) {
        auto kind = llvm::find_if(kCommTypes, [&](auto pair) { return pair.first == node.commType; });
        if (kind == std::end(kCommTypes))
          return reader.error(where, "comm_type: expected 0 to 9, got " + std::to_string(node.commType));
        CollectiveKind known = kind->second;
        if (known != CollectiveKind::AllReduce && known != CollectiveKind::AllGather &&
            known != CollectiveKind::AllToAll && known != CollectiveKind::ReduceScatter &&
            known != CollectiveKind::Broadcast)
          return reader.error(where,
                              "comm_type " + std::to_string(node.commType) +
                                  ": expected an all_reduce, all_gather, broadcast, all_to_all or reduce_scatter");
        WorkloadNode made;
        made.name = node.name;
        made.collective = known;
        int64_t ranks = options.parallelism.ranks;
        if (auto found = groups.find(node.processGroup); found != groups.end())
          std::tie(made.groups, made.groupSize) = found->second;
        else if (!groups.empty())
          return reader.error(where, "process group '" + node.processGroup + "': expected one of --groups");
        else if (ranks < 1)
          return reader.error(where,
                              "process group '" + node.processGroup + "': expected its ranks (--groups), or --ranks");
        else
          std::tie(made.groups, made.groupSize) = std::pair(groupsAlong(context, {1, ranks}, {1}), ranks);
        made.bytes = known == CollectiveKind::AllGather ? node.commSize * made.groupSize : node.commSize;
        made.operands = operands;
        contracted = made.groupSize == 1 || made.bytes == 0;
        if (!contracted)
          result.nodes.push_back(std::move(made));
      } else if (!contracted) {
        result.nodes.push_back(
            {node.name, node.micros / 1e6 * options.computeScale, std::nullopt, 0, {}, 1, {}, operands});
      }
      given[at] = contracted ? operands : std::vector<int>{int(result.nodes.size()) - 1};
      state[at] = 2;
      stack.pop_back();
    }
  }
  if (left)
    result.notes.push_back(std::to_string(left) +
                           " sends and receives are left out: one rank's trace does not say their pairs");
  return result;
}

FailureOr<json::Value> mlir::braid::sim::writeChakra(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function || !llvm::hasSingleElement(function.getBody()))
    return emitError(placeOf(module), "expected a function @main of one block, which a trace can list");
  json::Array nodes;
  llvm::DenseMap<Operation *, int64_t> ids; // and what stands for an operation without time: its first operand's node
  std::map<std::string, int> groupNames;
  auto waits = [&](Operation &op) {
    std::vector<int64_t> all;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && ids.count(source) && !llvm::is_contained(all, ids[source]))
          all.push_back(ids[source]);
    });
    return json::Array(all);
  };
  for (Operation &op : function.getBody().front()) {
    auto compute = dyn_cast<ComputeOp>(op);
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!compute && !collective) {
      if (op.getNumRegions() || isa<func::CallOp>(op) || !op.isRegistered())
        return op.emitOpError(
            "expected braid.compute and collectives (braid-skeleton, braid-sim import write them), which a trace "
            "can list");
      continue;
    }
    int64_t id = int64_t(nodes.size());
    std::string name;
    if (auto named = dyn_cast<NameLoc>(op.getLoc()))
      name = named.getName().str();
    if (compute) {
      nodes.push_back(json::Object{{"Id", id},
                                   {"Name", compute.getName().str()},
                                   {"NodeType", int(Compute)},
                                   {"is_cpu_op", false},
                                   {"runtime", std::round(compute.getSeconds() * 1e12) / 1e6},
                                   {"data_deps", waits(op)}});
    } else {
      auto kind = llvm::find_if(kCommTypes, [&](auto pair) { return pair.second == collective.getCollectiveKind(); });
      if (kind == std::end(kCommTypes))
        return op.emitOpError("has no comm_type in a Chakra trace");
      int64_t bytes = 0;
      for (Value operand : op.getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && type.hasStaticShape())
          bytes += type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
        else
          return op.emitOpError("operands, expected static shapes, got ") << operand.getType();
      std::string text;
      llvm::raw_string_ostream(text) << collective.getGroupsAttr();
      int group = groupNames.try_emplace(text, int(groupNames.size())).first->second;
      nodes.push_back(json::Object{{"Id", id},
                                   {"Name", name.empty() ? op.getName().stripDialect().str() : name},
                                   {"NodeType", int(Collective)},
                                   {"is_cpu_op", false},
                                   {"comm_type", kind->first},
                                   {"comm_size", bytes},
                                   {"tensor_size", bytes},
                                   {"pg_name", std::to_string(group)},
                                   {"data_deps", waits(op)}});
    }
    ids[&op] = id;
  }
  json::Object names;
  function.walk([&](CollectiveOpInterface collective) {
    std::string text;
    llvm::raw_string_ostream(text) << collective.getGroupsAttr();
    auto found = groupNames.find(text);
    if (found == groupNames.end() || names.get(std::to_string(found->second)))
      return;
    json::Array rows;
    for (const SmallVector<int64_t> &row : expandGroups(collective.getGroupsAttr(), rankCountOf(module)))
      rows.push_back(json::Array(row));
    names[std::to_string(found->second)] = std::move(rows);
  });
  return json::Value(json::Object{{"workload_graph", std::move(nodes)}, {"process_groups", std::move(names)}});
}
