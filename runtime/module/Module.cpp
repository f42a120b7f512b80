//===- Module.cpp - persistent operations for the sites of a compiled module --------------------------------------===//
#include "module/Module.h"
#include "reduce/Reduce.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace braid::runtime::module {

namespace {

/// Copies [outer][blocks][inner], `bytes` in all, to [blocks][outer][inner]: blocks in one piece each.
void toBlocks(char *to, const char *from, size_t outer, size_t blocks, size_t bytes) {
  size_t inner = bytes / (outer * blocks);
  for (size_t block = 0; block < blocks; ++block)
    for (size_t row = 0; row < outer; ++row)
      memcpy(to + (block * outer + row) * inner, from + (row * blocks + block) * inner, inner);
}
/// And back.
void fromBlocks(char *to, const char *from, size_t outer, size_t blocks, size_t bytes) {
  size_t inner = bytes / (outer * blocks);
  for (size_t block = 0; block < blocks; ++block)
    for (size_t row = 0; row < outer; ++row)
      memcpy(to + (row * blocks + block) * inner, from + (block * outer + row) * inner, inner);
}

bool isRoot(const SiteState &state) { return state.site.root == state.members.rank; }

/// Whether the collective reads this rank's tensors.
bool sends(const SiteState &state) {
  return (state.site.collective != BRAID_BROADCAST && state.site.collective != BRAID_SCATTER) || isRoot(state);
}

/// Whether it writes this rank's results: elsewhere than on the root nobody may touch them.
bool receives(const SiteState &state) {
  return (state.site.collective != BRAID_REDUCE && state.site.collective != BRAID_GATHER) || isRoot(state);
}

} // namespace

void Module::use(braid_comm *comm) {
  reset();
  world.comm = comm;
  check(braid_comm_rank(comm, &world.rank, &world.ranks), "rank");
}

Members &Module::all() {
  if (!world.comm) {
    braid_comm_options options = {};
    options.size = sizeof(options);
    check(braid_comm_create(&options, &world.comm), "communicator");
    owned = true;
    check(braid_comm_rank(world.comm, &world.rank, &world.ranks), "rank");
  }
  return world;
}

void Module::giveUp(const std::string &why) {
  std::set<braid_comm *> all{world.comm};
  for (auto &[ranks, members] : groups)
    all.insert(members.comm);
  all.erase(nullptr);
  for (braid_comm *comm : all)
    (void)braid_comm_abort(comm, why.c_str());
}

SiteState &Module::stateOf(const int64_t *words, const char *algorithm, const char *name) {
  auto known = sites.find(words);
  if (known == sites.end())
    known = sites.emplace(words, std::make_unique<SiteState>(Site(words, algorithm, name))).first;
  return *known->second;
}

void Module::describe(const int64_t *words, const char *algorithm, const char *name) {
  described.push_back(&stateOf(words, algorithm, name));
}

Members Module::membersOf(const Site &site) {
  Members &everyone = all();
  if (site.groups.empty())
    return everyone;
  for (const std::vector<int32_t> &group : site.groups)
    for (int32_t rank : group)
      if (rank >= everyone.ranks)
        fail(site.name + ": groups, expected ranks from 0 to " + std::to_string(everyone.ranks - 1) + ", got " +
             std::to_string(rank) + ": started with too few ranks");
  for (const std::vector<int32_t> &group : site.groups) {
    if (std::find(group.begin(), group.end(), everyone.rank) == group.end())
      continue;
    bool all = int32_t(group.size()) == everyone.ranks;
    for (int32_t index = 0; all && index < everyone.ranks; ++index)
      all = group[index] == index;
    if (all)
      return everyone;
    Members &members = groups[group];
    if (!members.comm) {
      check(braid_comm_subset(everyone.comm, group.data(), group.size(), &members.comm), site.name + ": communicator");
      check(braid_comm_rank(members.comm, &members.rank, &members.ranks), site.name + ": rank");
    }
    return members;
  }
  return {};
}

Call *Module::begin(SiteState &state) {
  if (!state.members.comm)
    state.members = membersOf(state.site);
  if (!state.members.comm)
    fail(state.site.name + ": groups, expected rank " + std::to_string(world.rank) +
         " in one of them, got none: started with too many ranks");
  state.pending.clear();
  if (idle.empty())
    return new Call{&state, nullptr};
  Call *call = idle.back();
  idle.pop_back();
  *call = {&state, nullptr};
  return call;
}

Operation &Module::operationFor(SiteState &state) {
  const std::vector<Tensor> &tensors = state.pending;
  for (auto &operation : state.operations)
    if (!operation->inFlight &&
        std::equal(operation->tensors.begin(), operation->tensors.end(), tensors.begin(), tensors.end(),
                   [](const Tensor &a, const Tensor &b) { return a.alike(b); })) {
      operation->tensors = tensors;
      bind(*operation);
      check(braid_op_rebind(operation->op, operation->buffers.data(), operation->buffers.size()), state.site.name);
      return *operation;
    }
  Operation &operation = *state.operations.emplace_back(std::make_unique<Operation>());
  operation.tensors = tensors;
  plan(state, operation);
  ++planned;
  return operation;
}

void Module::plan(SiteState &state, Operation &operation) {
  const Site &site = state.site;
  size_t element = sizeOf(braid_type(site.type));
  auto piece = [&](int64_t count, int64_t outer, bool used) -> char * {
    if (count == 0 || outer <= 1 || state.members.ranks == 1 || !used)
      return nullptr;
    if (site.memory == BRAID_MEMORY_DEVICE)
      fail(site.name + ": expected blocks in one piece in memory of a device, got a tensor that is cut along another "
                       "dimension than the first");
    auto *memory = static_cast<char *>(pool.allocate(state.members.comm, size_t(count) * element));
    if (!memory)
      fail(site.name + ": buffer of " + std::to_string(size_t(count) * element) + " bytes: " + braid_last_error());
    return memory;
  };
  for (const Tensor &tensor : operation.tensors) {
    operation.outgoing.push_back(piece(tensor.sendCount, tensor.sendOuter, sends(state)));
    operation.incoming.push_back(piece(tensor.receiveCount, tensor.receiveOuter, receives(state)));
  }
  bind(operation);
  braid_op_options options = {};
  options.size = sizeof(options);
  options.collective = braid_collective(site.collective);
  options.type = braid_type(site.type);
  options.reduction = braid_reduction(site.reduction);
  options.root = int32_t(site.root);
  options.peer = int32_t(site.peer);
  options.tag = int32_t(site.tag);
  options.tensors = operation.buffers.size();
  options.buffers = operation.buffers.data();
  options.pairs = site.pairs.size() / 2;
  options.pair_list = site.pairs.data();
  options.algorithm = site.algorithm.empty() ? nullptr : site.algorithm.c_str();
  options.channels = int32_t(site.channels);
  options.chunks = int32_t(site.chunks);
  options.name = site.name.c_str();
  options.accumulation = int32_t(site.accumulation);
  options.memory = int32_t(site.memory);
  options.engine = site.engineName();
  options.queue = site.algorithm.empty() ? 0 : 1; // a plan counts on one collective at a time
  check(braid_op_plan(state.members.comm, &options, &operation.op), site.name);
}

void Module::bind(Operation &operation) {
  operation.buffers.clear();
  for (size_t index = 0; index < operation.tensors.size(); ++index) {
    const Tensor &tensor = operation.tensors[index];
    char *send = operation.outgoing[index], *receive = operation.incoming[index];
    operation.buffers.push_back({send ? send : reinterpret_cast<char *>(tensor.send),
                                 receive ? receive : reinterpret_cast<char *>(tensor.receive), size_t(tensor.sendCount),
                                 size_t(tensor.receiveCount)});
  }
}

void Module::launch(Call &call) {
  SiteState &state = *call.state;
  Operation &operation = operationFor(state);
  call.operation = &operation;
  operation.inFlight = true;
  size_t element = sizeOf(braid_type(state.site.type));
  for (size_t index = 0; index < operation.tensors.size() && state.members.ranks > 1; ++index) {
    const Tensor &tensor = operation.tensors[index];
    size_t bytes = size_t(tensor.sendCount) * element;
    if (operation.outgoing[index] && carriesData())
      toBlocks(operation.outgoing[index], reinterpret_cast<const char *>(tensor.send), size_t(tensor.sendOuter),
               size_t(state.members.ranks), bytes);
    if (sends(state) &&
        (operation.outgoing[index] || !pool.reaches(state.members.comm, reinterpret_cast<void *>(tensor.send))))
      copied += int64_t(bytes);
  }
  check(braid_op_start(operation.op), state.site.name);
  flying.push_back(&call);
}

void Module::finish(Call &call) {
  SiteState &state = *call.state;
  Operation &operation = *call.operation;
  check(braid_op_wait(operation.op), state.site.name);
  size_t element = sizeOf(braid_type(state.site.type));
  for (size_t index = 0; index < operation.tensors.size(); ++index) {
    const Tensor &tensor = operation.tensors[index];
    size_t bytes = size_t(tensor.receiveCount) * element;
    if (!operation.incoming[index] || !carriesData())
      continue;
    fromBlocks(reinterpret_cast<char *>(tensor.receive), operation.incoming[index], size_t(tensor.receiveOuter),
               size_t(state.members.ranks), bytes);
    copied += int64_t(bytes);
  }
  operation.inFlight = false;
  flying.erase(std::find(flying.begin(), flying.end(), &call));
  idle.push_back(&call);
}

void *Module::allocate(int64_t bytes, const int64_t *words) {
  braid_comm *comm = nullptr;
  if (words == anySite) {
    comm = all().comm;
  } else if (words) { // never made here: that is for all members to do together
    auto found = sites.find(words);
    comm = found == sites.end() ? nullptr : found->second->members.comm;
  }
  void *memory = pool.allocate(comm, size_t(bytes));
  if (!memory)
    fail("buffer of " + std::to_string(bytes) + " bytes: " + (comm ? braid_last_error() : "no memory"));
  return memory;
}

void *Module::allocateOnDevice(int64_t bytes) {
  void *memory = pool.allocate(all().comm, size_t(bytes), BRAID_MEMORY_DEVICE);
  if (!memory)
    fail("buffer of " + std::to_string(bytes) + " bytes of the device: " + braid_last_error());
  return memory;
}

/// The compiler proves that nobody touches a buffer in flight. Who owns a buffer is only known here where it may be one of
/// several.
void Module::release(void *memory) {
  for (Call *call : flying)
    for (const braid_buffer &buffer : call->operation->buffers)
      if (pool.sameBlock(memory, buffer.send) || pool.sameBlock(memory, buffer.receive))
        fail(call->state->site.name + ": a buffer was freed while it is in flight");
  if (!pool.release(memory))
    std::free(memory);
}

void Module::reset() {
  for (auto &[words, state] : sites)
    for (auto &operation : state->operations)
      if (!operation->inFlight)
        check(braid_op_destroy(operation->op), state->site.name);
  sites.clear();
  described.clear();
  opened.clear();
  pool.forget();
  for (auto &[ranks, members] : groups)
    (void)braid_comm_destroy(members.comm);
  groups.clear();
  if (owned)
    (void)braid_comm_destroy(world.comm);
  owned = false;
  world = Members();
  for (Call *call : idle)
    delete call;
  idle.clear();
  flying.clear();
  planned = copied = 0;
}

} // namespace braid::runtime::module
