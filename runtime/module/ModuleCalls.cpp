//===- ModuleCalls.cpp - the C interface of compiled modules ------------------------------------------------------===//
#include "braid/runtime/braid_module.h"

#include "core/Api.h"
#include "core/RankLocal.h"
#include "module/BusyKernel.h"
#include "module/Module.h"
#include "module/Recording.h"
#include "reduce/Reduce.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace braid::runtime::module {

namespace {

braid_module_error errorHandler = nullptr;

braid_module_kernel kernel = BRAID_MODULE_SLEEP;

Module &module() {
  void *&mine = rankLocal();
  if (!mine)
    mine = new Module();
  return *static_cast<Module *>(mine);
}

Recording &recording() {
  static Recording instance;
  return instance;
}

/// A collective begins or is awaited: no computation meanwhile.
void stopMark() {
  if (recording().on())
    recording().mark(module().all().comm, -1);
}

void record(const SiteState &state, const Operation &operation) {
  braid_module_event event = {};
  event.mark = -1;
  check(braid_op_times(operation.op, &event.begin, &event.end), state.site.name);
  event.name = state.site.name.c_str();
  const Members &everyone = module().all();
  if (state.members.comm != everyone.comm)
    for (const std::vector<int32_t> &group : state.site.groups)
      if (std::find(group.begin(), group.end(), everyone.rank) != group.end()) {
        event.ranks = group.data();
        event.members = int64_t(group.size());
      }
  event.tensors = int64_t(operation.tensors.size());
  for (const Tensor &tensor : operation.tensors)
    event.bytes += tensor.sendCount * int64_t(sizeOf(braid_type(state.site.type)));
  recording().collective(event);
}

Call &callOf(int64_t word) { return *reinterpret_cast<Call *>(word); }
const int64_t *wordsOf(int64_t word) { return reinterpret_cast<const int64_t *>(word); }
const char *textOf(int64_t word) { return reinterpret_cast<const char *>(word); }

} // namespace

[[noreturn]] void fail(const std::string &message) {
  if (errorHandler)
    errorHandler(message.c_str());
  fprintf(stderr, "braid: %s\n", message.c_str());
  fflush(stderr);
  module().giveUp(message);
  _exit(70);
}

void check(braid_status status, const std::string &what) {
  if (status == BRAID_OK)
    return;
  const char *last = braid_last_error();
  std::string why = last && *last ? last : "status " + std::to_string(status);
  fail(why.find(what) == std::string::npos ? what + ": " + why : why); // operations say their names themselves
}

} // namespace braid::runtime::module

using namespace braid::runtime::module;

extern "C" {

int64_t braid_module_open(int64_t key) { return module().open(key); }
void braid_module_site(int64_t site, int64_t algorithm, int64_t name) {
  module().describe(wordsOf(site), textOf(algorithm), textOf(name));
}
void braid_module_agree(void) { module().agree(); }

int64_t braid_module_begin(int64_t site, int64_t algorithm, int64_t name) {
  Module &it = module();
  stopMark();
  return reinterpret_cast<int64_t>(it.begin(it.stateOf(wordsOf(site), textOf(algorithm), textOf(name))));
}
void braid_module_tensor(int64_t call, int64_t send, int64_t receive, int64_t send_count, int64_t receive_count,
                         int64_t send_outer, int64_t receive_outer) {
  callOf(call).state->pending.push_back({send, receive, send_count, receive_count, send_outer, receive_outer});
}
void braid_module_launch(int64_t call) { module().launch(callOf(call)); }
void braid_module_finish(int64_t word) {
  stopMark();
  Call &call = callOf(word);
  const SiteState &state = *call.state;
  const Operation &operation = *call.operation;
  module().finish(call);
  if (recording().on())
    record(state, operation);
}
void braid_module_mark(int64_t mark) {
  if (recording().on())
    recording().mark(module().all().comm, mark);
}
void braid_module_record(int32_t on) { recording().turn(on != 0); }
int64_t braid_module_events(const braid_module_event **events) {
  *events = recording().events.data();
  return int64_t(recording().events.size());
}
void braid_module_compute(int64_t seconds, int64_t name) {
  double duration;
  memcpy(&duration, &seconds, sizeof duration);
  braid_comm *comm = module().all().comm;
  const char *what = name ? textOf(name) : "compute";
  double slowed = 0;
  check(kernel == BRAID_MODULE_BUSY ? braid::runtime::busyKernel(comm, duration)
                                    : braid::runtime::compute(comm, duration, &slowed),
        what);
  recording().slowedBy(slowed);
}
void braid_module_require(int64_t holds, int64_t what) {
  if (!holds)
    fail("rank " + std::to_string(module().all().rank) + ": " + textOf(what));
}
int64_t braid_module_rank(void) { return module().all().rank; }

void *braid_module_alloc(int64_t bytes, int64_t site) { return module().allocate(bytes, wordsOf(site)); }
void *braid_module_alloc_device(int64_t bytes) { return module().allocateOnDevice(bytes); }
void braid_module_free(void *memory) { module().release(memory); }

void braid_module_use(braid_comm *comm) { module().use(comm); }
void braid_module_on_error(braid_module_error handler) { errorHandler = handler; }
int64_t braid_module_planned(void) { return module().planned; }
int64_t braid_module_copied(void) { return module().copied; }
int64_t braid_module_allocated(void) { return int64_t(module().pool.fresh); }
void braid_module_compute_by(braid_module_kernel by) { kernel = by; }
void braid_module_reset(void) { module().reset(); }
}
