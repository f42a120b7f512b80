//===- ModuleCalls.cpp - persistent operations for the sites of a compiled module -------------------------------===//
//
// The ranks of a communicator must plan the same operations in the same order, so what is planned anew may not depend on
// addresses: an allocator gives one rank the old address and another one a new one. An operation therefore belongs to a
// site and the sizes of its tensors, and works on buffers of its own, which the transport can reach; tensors are copied in
// at the start and out at the end. A second execution of a site before the first has ended gets a second operation.
//
// Dimensions: the runtime moves blocks that lie in one piece. Where the program cuts or concatenates along another
// dimension than the first, the copy brings the blocks into one piece, or back.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/braid_module.h"

#include "braid/runtime/braid_rt.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

braid_module_error errorHandler = nullptr;

[[noreturn]] void fail(const std::string &message) {
  if (errorHandler)
    errorHandler(message.c_str());
  fprintf(stderr, "braid: %s\n", message.c_str());
  fflush(stderr);
  _exit(70);
}

void check(braid_status status, const std::string &what) {
  if (status == BRAID_OK)
    return;
  const char *why = braid_last_error();
  fail(what + ": " + (why && *why ? why : "status " + std::to_string(status)));
}

size_t bytesOf(int64_t type) {
  switch (type) {
  case BRAID_I16:
  case BRAID_U16:
  case BRAID_F16:
  case BRAID_BF16:
    return 2;
  case BRAID_I32:
  case BRAID_U32:
  case BRAID_F32:
    return 4;
  case BRAID_I64:
  case BRAID_U64:
  case BRAID_F64:
    return 8;
  default:
    return 1;
  }
}

/// Copies [outer][blocks][inner], `bytes` in all, to [blocks][outer][inner]: blocks in one piece each.
void toBlocks(char *to, const char *from, size_t outer, size_t blocks, size_t bytes) {
  if (outer <= 1 || blocks <= 1)
    return void(memcpy(to, from, bytes));
  size_t inner = bytes / (outer * blocks);
  for (size_t block = 0; block < blocks; ++block)
    for (size_t row = 0; row < outer; ++row)
      memcpy(to + (block * outer + row) * inner, from + (row * blocks + block) * inner, inner);
}
/// And back.
void fromBlocks(char *to, const char *from, size_t outer, size_t blocks, size_t bytes) {
  if (outer <= 1 || blocks <= 1)
    return void(memcpy(to, from, bytes));
  size_t inner = bytes / (outer * blocks);
  for (size_t block = 0; block < blocks; ++block)
    for (size_t row = 0; row < outer; ++row)
      memcpy(to + (row * blocks + block) * inner, from + (block * outer + row) * inner, inner);
}

struct Tensor {
  int64_t send, receive, sendCount, receiveCount, sendOuter, receiveOuter;
  bool inPlace() const { return send == receive && send != 0; }
  /// Whether one operation serves both.
  bool alike(const Tensor &other) const {
    return sendCount == other.sendCount && receiveCount == other.receiveCount && sendOuter == other.sendOuter &&
           receiveOuter == other.receiveOuter && inPlace() == other.inPlace();
  }
};

/// A communicator and this rank's place in it.
struct Members {
  braid_comm *comm = nullptr;
  int32_t rank = 0, ranks = 1;
};

/// The words of a site, by name.
struct Site {
  explicit Site(const int64_t *words)
      : number(words[1]), collective(words[2]), type(words[3]), reduction(words[4]), root(words[5]), peer(words[6]),
        tag(words[7]), channels(words[8]), chunks(words[9]) {
    if (words[0] != 1)
      fail("module: site words of version " + std::to_string(words[0]) + ", expected 1: compiled by another release");
    const int64_t *next = words + 13;
    const int64_t *ids = next + words[10];
    for (int64_t group = 0; group < words[10]; ++group) {
      groups.emplace_back(ids, ids + next[group]);
      ids += next[group];
    }
    for (int64_t pair = 0; pair < 2 * words[12]; ++pair)
      pairs.push_back(int32_t(ids[pair]));
  }
  int64_t number, collective, type, reduction, root, peer, tag, channels, chunks;
  std::vector<std::vector<int32_t>> groups;
  std::vector<int32_t> pairs;
};

/// One planned operation with its buffers.
struct Operation {
  std::vector<Tensor> tensors;            ///< of the execution in flight, or the last one
  std::vector<char *> outgoing, incoming; ///< per tensor; one buffer for both in place; null: nothing sent or received
  braid_op *op = nullptr;
  bool inFlight = false;
};

struct SiteState {
  explicit SiteState(const int64_t *words) : site(words) {}
  Site site;
  std::string algorithm, name;
  Members members;
  std::vector<std::unique_ptr<Operation>> operations;
  std::vector<Tensor> pending; ///< tensors of the call that has begun
};

/// What a call is between begin and finish.
struct Call {
  SiteState *state;
  Operation *operation;
};

class Module {
public:
  void use(braid_comm *comm) {
    reset();
    world.comm = comm;
    check(braid_comm_rank(comm, &world.rank, &world.ranks), "rank");
  }
  Members &all() {
    if (!world.comm) {
      braid_comm_options options = {};
      options.size = sizeof(options);
      check(braid_comm_create(&options, &world.comm), "communicator");
      owned = true;
      check(braid_comm_rank(world.comm, &world.rank, &world.ranks), "rank");
    }
    return world;
  }
  SiteState &stateOf(const int64_t *words, const char *algorithm, const char *name) {
    std::unique_ptr<SiteState> &state = sites[words];
    if (!state) {
      state = std::make_unique<SiteState>(words);
      state->algorithm = algorithm ? algorithm : "";
      state->name = name ? name : "site " + std::to_string(state->site.number);
      state->members = membersOf(*state);
    }
    return *state;
  }
  Operation &operationFor(SiteState &state);
  Call *newCall(SiteState &state) {
    if (idle.empty())
      return new Call{&state, nullptr};
    Call *call = idle.back();
    idle.pop_back();
    *call = {&state, nullptr};
    return call;
  }
  void done(Call *call) { idle.push_back(call); }
  void reset();
  int64_t planned = 0;

private:
  Members membersOf(const SiteState &state);
  void plan(SiteState &state, Operation &operation);
  void forget(SiteState &state, Operation &operation);

  Members world;
  bool owned = false;
  std::map<std::vector<int32_t>, Members> groups;
  std::map<const int64_t *, std::unique_ptr<SiteState>> sites;
  std::vector<Call *> idle;
};

Module &module() {
  static Module instance;
  return instance;
}

Members Module::membersOf(const SiteState &state) {
  Members &everyone = all();
  const Site &site = state.site;
  if (site.groups.empty())
    return everyone;
  for (const std::vector<int32_t> &group : site.groups)
    for (int32_t rank : group)
      if (rank >= everyone.ranks)
        fail(state.name + ": groups, expected ranks from 0 to " + std::to_string(everyone.ranks - 1) + ", got " +
             std::to_string(rank) + ": started with too few ranks");
  for (const std::vector<int32_t> &group : site.groups) {
    for (int32_t rank : group) {
      if (rank != everyone.rank)
        continue;
      bool all = int32_t(group.size()) == everyone.ranks;
      for (int32_t index = 0; all && index < everyone.ranks; ++index)
        all = group[index] == index;
      if (all)
        return everyone;
      Members &members = groups[group];
      if (!members.comm) {
        check(braid_comm_subset(everyone.comm, group.data(), group.size(), &members.comm),
              state.name + ": communicator");
        check(braid_comm_rank(members.comm, &members.rank, &members.ranks), state.name + ": rank");
      }
      return members;
    }
  }
  fail(state.name + ": groups, expected rank " + std::to_string(everyone.rank) +
       " in one of them, got none: started with too many ranks");
}

Operation &Module::operationFor(SiteState &state) {
  const std::vector<Tensor> &tensors = state.pending;
  for (auto &operation : state.operations)
    if (!operation->inFlight &&
        std::equal(operation->tensors.begin(), operation->tensors.end(), tensors.begin(), tensors.end(),
                   [](const Tensor &a, const Tensor &b) { return a.alike(b); })) {
      operation->tensors = tensors;
      return *operation;
    }
  Operation &operation = *state.operations.emplace_back(std::make_unique<Operation>());
  operation.tensors = tensors;
  plan(state, operation);
  ++planned;
  return operation;
}

void Module::forget(SiteState &state, Operation &operation) {
  check(braid_op_destroy(operation.op), state.name);
  for (size_t index = 0; index < operation.tensors.size(); ++index) {
    if (operation.outgoing[index])
      braid_free(state.members.comm, operation.outgoing[index]);
    if (operation.incoming[index] && operation.incoming[index] != operation.outgoing[index])
      braid_free(state.members.comm, operation.incoming[index]);
  }
}

void Module::plan(SiteState &state, Operation &operation) {
  const Site &site = state.site;
  size_t element = bytesOf(site.type);
  std::vector<braid_buffer> buffers;
  auto allocate = [&](int64_t count) -> char * {
    if (count == 0)
      return nullptr;
    char *memory = static_cast<char *>(braid_alloc(state.members.comm, count * element));
    if (!memory)
      fail(state.name + ": buffer of " + std::to_string(count * element) + " bytes: " + braid_last_error());
    return memory;
  };
  for (const Tensor &tensor : operation.tensors) {
    operation.outgoing.push_back(allocate(tensor.sendCount));
    operation.incoming.push_back(tensor.inPlace() ? operation.outgoing.back() : allocate(tensor.receiveCount));
    buffers.push_back(
        {operation.outgoing.back(), operation.incoming.back(), size_t(tensor.sendCount), size_t(tensor.receiveCount)});
  }
  braid_op_options options = {};
  options.size = sizeof(options);
  options.collective = braid_collective(site.collective);
  options.type = braid_type(site.type);
  options.reduction = braid_reduction(site.reduction);
  options.root = int32_t(site.root);
  options.peer = int32_t(site.peer);
  options.tag = int32_t(site.tag);
  options.tensors = buffers.size();
  options.buffers = buffers.data();
  options.pairs = site.pairs.size() / 2;
  options.pair_list = site.pairs.data();
  options.algorithm = state.algorithm.empty() ? nullptr : state.algorithm.c_str();
  options.channels = int32_t(site.channels);
  options.chunks = int32_t(site.chunks);
  options.name = state.name.c_str();
  check(braid_op_plan(state.members.comm, &options, &operation.op), state.name);
}

void Module::reset() {
  for (auto &[words, state] : sites)
    for (auto &operation : state->operations)
      if (!operation->inFlight)
        forget(*state, *operation);
  sites.clear();
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
  planned = 0;
}

Call *callOf(int64_t word) { return reinterpret_cast<Call *>(word); }

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

extern "C" {

int64_t braid_module_begin(int64_t site, int64_t algorithm, int64_t name) {
  SiteState &state = module().stateOf(reinterpret_cast<const int64_t *>(site),
                                      reinterpret_cast<const char *>(algorithm), reinterpret_cast<const char *>(name));
  state.pending.clear();
  return reinterpret_cast<int64_t>(module().newCall(state));
}

void braid_module_tensor(int64_t call, int64_t send, int64_t receive, int64_t send_count, int64_t receive_count,
                         int64_t send_outer, int64_t receive_outer) {
  callOf(call)->state->pending.push_back({send, receive, send_count, receive_count, send_outer, receive_outer});
}

void braid_module_launch(int64_t word) {
  Call *call = callOf(word);
  SiteState &state = *call->state;
  Operation &operation = module().operationFor(state);
  call->operation = &operation;
  operation.inFlight = true;
  size_t element = bytesOf(state.site.type), ranks = size_t(state.members.ranks);
  for (size_t index = 0; index < operation.tensors.size(); ++index) {
    const Tensor &tensor = operation.tensors[index];
    if (operation.outgoing[index] && sends(state))
      toBlocks(operation.outgoing[index], reinterpret_cast<const char *>(tensor.send), tensor.sendOuter, ranks,
               tensor.sendCount * element);
  }
  check(braid_op_start(operation.op), state.name);
}

void braid_module_finish(int64_t word) {
  Call *call = callOf(word);
  SiteState &state = *call->state;
  Operation &operation = *call->operation;
  check(braid_op_wait(operation.op), state.name);
  size_t element = bytesOf(state.site.type), ranks = size_t(state.members.ranks);
  for (size_t index = 0; index < operation.tensors.size(); ++index) {
    const Tensor &tensor = operation.tensors[index];
    if (operation.incoming[index] && receives(state))
      fromBlocks(reinterpret_cast<char *>(tensor.receive), operation.incoming[index], tensor.receiveOuter, ranks,
                 tensor.receiveCount * element);
  }
  operation.inFlight = false;
  module().done(call);
}

int64_t braid_module_rank(void) { return module().all().rank; }

void braid_module_use(braid_comm *comm) { module().use(comm); }
void braid_module_on_error(braid_module_error handler) { errorHandler = handler; }
int64_t braid_module_planned(void) { return module().planned; }
void braid_module_reset(void) { module().reset(); }
}
