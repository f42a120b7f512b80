//===- RuntimeLibrary.h - the runtime's C ABI, loaded -------------------------------------------------------*- C++ -*-===//
#ifndef BRAID_BENCH_RUNTIMELIBRARY_H
#define BRAID_BENCH_RUNTIMELIBRARY_H

#include "braid/runtime/braid_rt.h"
#include <string>

namespace braid::bench {

/// The functions of libbraid_rt.so that are measured here.
struct RuntimeLibrary {
  decltype(&braid_last_error) lastError = nullptr;
  decltype(&braid_comm_create) create = nullptr;
  decltype(&braid_comm_rank) rank = nullptr;
  decltype(&braid_comm_destroy) destroy = nullptr;
  decltype(&braid_now) now = nullptr;
  decltype(&braid_alloc) alloc = nullptr;
  decltype(&braid_free) free = nullptr;
  decltype(&braid_op_plan) plan = nullptr;
  decltype(&braid_op_start) start = nullptr;
  decltype(&braid_op_wait) wait = nullptr;
  decltype(&braid_op_destroy) destroyOp = nullptr;

  /// `path`, else BRAID_RT_LIBRARY, else lib/libbraid_rt.so beside this program's folder. Returns an error or "".
  std::string load(std::string path);
};

} // namespace braid::bench

#endif
