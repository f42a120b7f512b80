//===- Runtime.h - the functions of the runtime that braid-run calls itself ---------------------------*- C++ -*-===//
#ifndef BRAID_RUN_RUNTIME_H
#define BRAID_RUN_RUNTIME_H

#include "braid/runtime/braid_module.h"
#include "braid/runtime/braid_rt.h"
#include <string>
#include <vector>

namespace braid::run {

/// libbraid_rt.so is loaded, not linked: a compiled module must find the same one.
struct Runtime {
  void *library = nullptr;
  decltype(&braid_comm_create) create = nullptr;
  decltype(&braid_comm_rank) rank = nullptr;
  decltype(&braid_comm_destroy) destroy = nullptr;
  decltype(&braid_comm_abort) abort = nullptr;
  decltype(&braid_last_error) lastError = nullptr;
  decltype(&braid_now) now = nullptr;
  decltype(&braid_op_plan) plan = nullptr;
  decltype(&braid_op_start) start = nullptr;
  decltype(&braid_op_wait) wait = nullptr;
  decltype(&braid_op_destroy) forget = nullptr;
  decltype(&braid_step) step = nullptr;
  decltype(&braid_run_fibers) runFibers = nullptr;
  decltype(&braid_module_compute_by) computeBy = nullptr;
  decltype(&braid_module_use) use = nullptr;
  decltype(&braid_module_reset) reset = nullptr;
  decltype(&braid_module_alloc) allocate = nullptr;
  decltype(&braid_module_free) release = nullptr;
  decltype(&braid_module_copied) copied = nullptr;
  decltype(&braid_module_allocated) allocated = nullptr;
  decltype(&braid_module_mark) mark = nullptr;
  decltype(&braid_module_record) record = nullptr;
  decltype(&braid_module_events) events = nullptr;

  /// An error or "".
  std::string load(const std::string &path);

  /// The texts of all ranks, in their order, on rank 0; elsewhere nothing. Called by all.
  std::string gather(braid_comm *comm, const std::string &mine, std::vector<std::string> &all) const;

private:
  std::string collective(braid_comm *comm, braid_collective kind, const void *send, void *receive, size_t count,
                         size_t received) const;
};

} // namespace braid::run

#endif
