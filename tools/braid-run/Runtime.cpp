//===- Runtime.cpp - loads the runtime --------------------------------------------------------------------------===//
#include "Runtime.h"

#include <algorithm>
#include <dlfcn.h>
#include <type_traits>

namespace braid::run {

std::string Runtime::load(const std::string &path) {
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return dlerror();
  bool all = true;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    all &= function != nullptr;
  };
  find(create, "braid_comm_create");
  find(rank, "braid_comm_rank");
  find(destroy, "braid_comm_destroy");
  find(abort, "braid_comm_abort");
  find(lastError, "braid_last_error");
  find(now, "braid_now");
  find(plan, "braid_op_plan");
  find(start, "braid_op_start");
  find(wait, "braid_op_wait");
  find(forget, "braid_op_destroy");
  find(step, "braid_step");
  find(runFibers, "braid_run_fibers");
  find(computeBy, "braid_module_compute_by");
  find(use, "braid_module_use");
  find(reset, "braid_module_reset");
  find(allocate, "braid_module_alloc");
  find(release, "braid_module_free");
  find(copied, "braid_module_copied");
  find(allocated, "braid_module_allocated");
  find(mark, "braid_module_mark");
  find(record, "braid_module_record");
  find(events, "braid_module_events");
  return all ? "" : path + ": not Braid's runtime, or of another release";
}

std::string Runtime::collective(braid_comm *comm, braid_collective kind, const void *send, void *receive, size_t count,
                                size_t received) const {
  braid_buffer buffer = {send, receive, count, received};
  braid_op_options options = {};
  options.size = sizeof(options);
  options.collective = kind;
  options.type = BRAID_U8;
  options.tensors = 1;
  options.buffers = &buffer;
  options.name = "what was recorded";
  braid_op *op = nullptr;
  if (plan(comm, &options, &op) != BRAID_OK || start(op) != BRAID_OK || wait(op) != BRAID_OK || forget(op) != BRAID_OK)
    return lastError();
  return "";
}

std::string Runtime::gather(braid_comm *comm, const std::string &mine, std::vector<std::string> &all) const {
  int32_t me = 0, ranks = 1;
  (void)rank(comm, &me, &ranks);
  uint64_t size = mine.size();
  std::vector<uint64_t> sizes(ranks);
  std::string error = collective(comm, BRAID_ALL_GATHER, &size, sizes.data(), sizeof(size), sizeof(size) * ranks);
  if (!error.empty())
    return error;
  size_t most = *std::max_element(sizes.begin(), sizes.end());
  std::string padded = mine, joined(me == 0 ? most * ranks : 0, 0);
  padded.resize(most);
  error = collective(comm, BRAID_GATHER, padded.data(), joined.data(), most, joined.size());
  for (int32_t other = 0; error.empty() && me == 0 && other < ranks; ++other)
    all.push_back(joined.substr(other * most, sizes[other]));
  return error;
}

} // namespace braid::run
