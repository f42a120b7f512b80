//===- Step.h - one rank's run of the entry function, step after step ---------------------------------*- C++ -*-===//
#ifndef BRAID_RUN_STEP_H
#define BRAID_RUN_STEP_H

#include "Compile.h"
#include "braid/runtime/braid_module.h"
#include <functional>
#include <map>

namespace braid::run {

struct RunOptions {
  int steps = 1;
  std::map<unsigned, std::string> data;    ///< argument -> what it holds; wins over braid.data
  std::map<unsigned, unsigned> carry;      ///< result -> the argument that it is in the next step
  std::map<unsigned, std::string> outputs; ///< result -> file, after the last step
  bool allRanks = false;                   ///< all ranks print, not only rank 0
  int64_t elements = 8;                    ///< printed of each result
  bool time = false;                       ///< print the median time of a step
  bool memory = false;                     ///< print what the last step copied and allocated
  // Of the loaded runtime: arguments lie where peers reach them, results are given back.
  decltype(&braid_module_alloc) allocate = nullptr;
  decltype(&braid_module_free) release = nullptr;
  decltype(&braid_module_copied) copied = nullptr;
  decltype(&braid_module_allocated) allocated = nullptr;
  std::function<void()> afterCall; ///< after each call of the function, if there is one
  /// On an emulated clock: called before each execution and after the last one, with its number; all ranks leave it at one
  /// time, which it gives. A step then takes as long as on its slowest rank. Null: this rank's time in the machine's.
  std::function<std::string(int step, double &begin)> beginStep;
  int leadIn = 0;    ///< of these, the first, whose times do not count
  std::string times; ///< file for the time of each step, rank 0; empty: none
};

/// Runs all steps on this rank. Returns an error or "".
std::string runSteps(Program &program, const RunOptions &options, int rank, int ranks);

} // namespace braid::run

#endif
