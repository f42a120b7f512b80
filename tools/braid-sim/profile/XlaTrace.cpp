//===- XlaTrace.cpp - what jax.profiler.trace and other XLA profilers write -----------------------------------------===//
//
// Operations are events with the argument hlo_op (processors, GPUs), or those on a track "XLA Ops" (TPUs). Recorded with JAX
// 0.10.2: a processor's trace has hlo_op, hlo_module, run_id and device_ordinal, so that names and lines come from the
// compiled module (HLO text). GPUs and TPUs have tf_op and source, too. Names of arguments and tracks: openxla/xla,
// xla/tsl/profiler/utils/xplane_schema.cc.
//
// Tracks that XLA derives from others ("XLA Ops", "Framework Ops", "Source code", ...) show the same time once more: a process
// with streams is read from its streams.
//===------------------------------------------------------------------------------------------------------------===//
#include "Trace.h"
#include "braid/cost_models/Units.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

namespace {

constexpr StringRef opTrack = "XLA Ops", moduleTrack = "XLA Modules", streamTrack = "Stream #";

class XlaReader {
public:
  XlaReader(const Trace &trace, const HloModule *hlo) : trace(trace), hlo(hlo) {}

  /// Operations, each once.
  std::vector<const TraceEvent *> operations();
  std::string moduleOf(const TraceEvent &event) const;
  Sample sample(const TraceEvent &event, double seconds) const;
  /// A loop or branch, whose time is that of what runs inside of it, on whatever thread.
  bool holdsOthers(const TraceEvent &event) const;

private:
  StringRef track(const TraceEvent &event) const {
    auto found = trace.threads.find(event.thread);
    return found == trace.threads.end() ? StringRef() : StringRef(found->second);
  }
  /// The execution of a module that an event of its device lies in.
  const TraceEvent *runAround(const TraceEvent &event) const;

  const Trace &trace;
  const HloModule *hlo;
  std::map<std::string, std::vector<const TraceEvent *>> runs; ///< of a process, by their begin
};

std::vector<const TraceEvent *> XlaReader::operations() {
  std::set<std::string> withStreams, withOpTrack;
  for (const TraceEvent &event : trace.events) {
    if (track(event) == moduleTrack)
      runs[event.thread.first].push_back(&event);
    if (track(event).starts_with(streamTrack) && !event.text("hlo_op").empty())
      withStreams.insert(event.thread.first);
    if (track(event).starts_with(opTrack))
      withOpTrack.insert(event.thread.first);
  }
  for (auto &[process, events] : runs)
    llvm::sort(events, [](auto *a, auto *b) { return std::tie(a->begin, a->end) < std::tie(b->begin, b->end); });
  std::vector<const TraceEvent *> found;
  for (const TraceEvent &event : trace.events) {
    bool counts = !event.text("hlo_op").empty();
    if (withStreams.count(event.thread.first))
      counts &= track(event).starts_with(streamTrack);
    else if (withOpTrack.count(event.thread.first))
      counts = track(event).starts_with(opTrack);
    if (counts)
      found.push_back(&event);
  }
  return found;
}

const TraceEvent *XlaReader::runAround(const TraceEvent &event) const {
  auto found = runs.find(event.thread.first);
  if (found == runs.end())
    return nullptr;
  auto after = llvm::upper_bound(found->second, event.begin, [](double at, auto *run) { return at < run->begin; });
  return after == found->second.begin() || (*std::prev(after))->end <= event.begin ? nullptr : *std::prev(after);
}

std::string XlaReader::moduleOf(const TraceEvent &event) const {
  if (StringRef module = event.text("hlo_module"); !module.empty())
    return module.str();
  const TraceEvent *run = runAround(event);
  return run ? run->name.split('(').first.str() : ""; // "jit_step(123456)"
}

bool XlaReader::holdsOthers(const TraceEvent &event) const {
  StringRef op = event.text("hlo_op").empty() ? event.name : event.text("hlo_op");
  if (hlo)
    if (auto found = hlo->instructions.find(op.str()); found != hlo->instructions.end())
      return found->second.opcode == "while" || found->second.opcode == "conditional";
  return op == "while" || op.starts_with("while.") || op == "conditional" || op.starts_with("conditional.");
}

Sample XlaReader::sample(const TraceEvent &event, double seconds) const {
  Sample one;
  StringRef op = event.text("hlo_op");
  one.label = op.empty() ? event.name.str() : op.str();
  one.device = event.thread.first + " " + event.value("device_ordinal");
  one.step = event.value("run_id");
  if (const TraceEvent *run = one.step.empty() ? runAround(event) : nullptr)
    one.step = llvm::formatv("{0:f9}", run->begin);
  one.seconds = seconds;
  one.collective =
      namesCollective(one.label) || namesCollective(event.name) || namesCollective(event.text("hlo_category"));
  if (hlo)
    if (auto found = hlo->instructions.find(one.label); found != hlo->instructions.end()) {
      one.parts = found->second.parts;
      one.collective |= namesCollective(found->second.opcode);
      return one;
    }
  // tf_op is "NAME:TYPE"; source "FILE:LINE".
  StringRef name = event.text("tf_op");
  if (size_t colon = name.rfind(':'); colon != StringRef::npos && !name.drop_front(colon).contains('/'))
    name = name.take_front(colon);
  if (name.empty() || name == "XlaModule")
    name = event.text("name");
  if (SourcePlace place{name.str(), event.text("source").str()}; !place.name.empty() || !place.line.empty())
    one.parts.push_back({place});
  return one;
}

} // namespace

bool mlir::braid::sim::isXla(const Trace &trace) {
  return llvm::any_of(trace.events, [](const TraceEvent &event) { return !event.text("hlo_op").empty(); }) ||
         llvm::any_of(trace.threads, [](auto &thread) { return thread.second == opTrack; });
}

std::string mlir::braid::sim::readXla(const Trace &trace, const HloModule *hlo, StringRef moduleName,
                                      Measurements &into) {
  XlaReader reader(trace, hlo);
  std::vector<const TraceEvent *> operations = reader.operations();
  std::vector<double> self = selfTimes(operations);
  // Of several programs in the trace, the one that is asked for.
  std::map<std::string, double> modules;
  for (auto [event, seconds] : llvm::zip(operations, self))
    modules[reader.moduleOf(*event)] += seconds;
  std::string module = hlo ? hlo->name : moduleName.str();
  if (hlo && !modules.count(module)) {
    std::string names;
    for (auto &[name, seconds] : modules)
      names += (names.empty() ? "" : ", ") + name;
    return "--hlo: expected the compiled text of a module that the trace has (" + names + "), got that of " + module;
  }
  bool all = !modules.count(module);
  bool placed = false;
  double around = 0;
  for (auto [event, seconds] : llvm::zip(operations, self)) {
    if (!all && reader.moduleOf(*event) != module)
      continue;
    if (reader.holdsOthers(*event)) {
      around += seconds;
      continue;
    }
    into.samples.push_back(reader.sample(*event, seconds));
    placed |= !into.samples.back().parts.empty();
  }
  if (!placed && !hlo)
    return "expected operations with a name (tf_op) or a line (source), got hlo_op alone, as processors record it: "
           "give the "
           "compiled program with --hlo, as jitted.lower(...).compile().as_text() prints it";
  into.what = "XLA";
  for (auto &[name, seconds] : modules)
    if (!all && name != module)
      into.notes.push_back("left out: " + (name.empty() ? std::string("what is of no module") : "module " + name) +
                           ", " + cost::toString(cost::Seconds{seconds}));
  if (around > 0)
    into.notes.push_back("left out: loops and branches, " + cost::toString(cost::Seconds{around}) +
                         " beside what runs inside of them");
  if (!all)
    into.what += ", " + module;
  return "";
}
