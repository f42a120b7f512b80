//===- Trace.h - a profiler's trace: events, and what they measured -------------------------------------------------===//
//
// Both profilers write Chrome trace events, whose times are in microseconds whatever `displayTimeUnit` says (that is how a
// viewer shows them; JAX writes "ns"). A reader for each turns its events into samples; what follows is one.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_SIM_PROFILE_TRACE_H
#define BRAID_SIM_PROFILE_TRACE_H

#include "braid/passes/MeasuredOps.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace mlir::braid::sim {

/// A complete event (ph X), in seconds.
struct TraceEvent {
  StringRef name, category;
  const llvm::json::Object *args = nullptr;   ///< null: none
  std::pair<std::string, std::string> thread; ///< process, thread
  double begin = 0, end = 0;
  StringRef text(StringRef key) const;    ///< an argument that is a string, else ""
  std::string value(StringRef key) const; ///< an argument that is a string or a number, else ""
};

struct Trace {
  llvm::json::Value json = nullptr;                                   ///< holds the names
  std::vector<TraceEvent> events;                                     ///< as in the file
  std::map<std::pair<std::string, std::string>, std::string> threads; ///< names
};

/// JSON, or JSON compressed by gzip. An error or "".
std::string readTrace(const std::string &path, Trace &trace);

/// The time of each event that none of the others on its thread takes from it. Events of a thread may nest; where they overlap
/// otherwise, time is of the one that began last. `parents`: the event around each, -1: none.
std::vector<double> selfTimes(const std::vector<const TraceEvent *> &events, std::vector<int> *parents = nullptr);

/// One execution of something.
struct Sample {
  std::string label;
  std::vector<std::vector<SourcePlace>> parts;
  std::string device, step; ///< step "": nothing says which
  double seconds = 0;
  bool collective = false;
};

struct Measurements {
  std::vector<Sample> samples;
  std::string what;               ///< "XLA, jit_step"
  std::vector<std::string> notes; ///< what was left out, and why
};

/// Instructions of a compiled XLA module, by name.
struct HloModule {
  std::string name;
  struct Instruction {
    std::string opcode;
    std::vector<std::vector<SourcePlace>> parts;
  };
  std::map<std::string, Instruction> instructions;
};
/// The text that `jitted.lower(...).compile().as_text()` gives, or XLA dumps. An error or "".
std::string readHlo(const std::string &path, HloModule &hlo);

/// Whether the trace is this profiler's; then an error or "".
bool isXla(const Trace &trace);
std::string readXla(const Trace &trace, const HloModule *hlo, StringRef moduleName, Measurements &into);
bool isKineto(const Trace &trace);
std::string readKineto(const Trace &trace, Measurements &into);

/// A collective, by the name of an HLO operation or of a kernel.
bool namesCollective(StringRef name);

} // namespace mlir::braid::sim

#endif
