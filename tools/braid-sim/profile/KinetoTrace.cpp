//===- KinetoTrace.cpp - what torch.profiler writes -----------------------------------------------------------------===//
//
// Kernels (cat "kernel", "gpu_memcpy", "gpu_memset") are known by the operator that launched them: "External id" is the same in
// both; a kernel without one has a "correlation" with the call that launched it (cat "cuda_runtime"). The operator has a name,
// a "Call stack" if the profiler recorded stacks (with_stack), and other operators, Python functions and record_function
// ranges around it. Backward operators run without a Python stack, with the "Sequence number" of their forward one. Without
// kernels, operators (cat "cpu_op") are what takes time. Names: pytorch/kineto, libkineto/src/output_json.cpp; pytorch,
// torch/csrc/profiler/collection.cpp.
//===------------------------------------------------------------------------------------------------------------===//
#include "Trace.h"
#include "braid/cost_models/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <unordered_map>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

static bool isOperator(const TraceEvent &event) {
  return event.category == "cpu_op" || event.category == "Operator"; // the latter before PyTorch 1.11
}
static bool isKernel(const TraceEvent &event) {
  return llvm::is_contained({"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}, event.category);
}
static bool isLaunch(const TraceEvent &event) {
  return llvm::is_contained({"cuda_runtime", "cuda_driver", "Runtime"}, event.category);
}
static bool isStep(const TraceEvent &event) { return event.name.starts_with("ProfilerStep#"); }

/// "model.py(12): forward" as "model.py:12", or "".
static std::string lineOf(StringRef frame) {
  auto [file, rest] = frame.trim().rsplit('(');
  StringRef line = rest.take_while(llvm::isDigit);
  return file.empty() || line.empty() || !rest.drop_front(line.size()).starts_with(")") ? ""
                                                                                        : (file + ":" + line).str();
}

namespace {

class KinetoReader {
public:
  explicit KinetoReader(const Trace &trace);
  void read(Measurements &into) const;

private:
  /// Where an operator comes from, the innermost first; lines before names.
  std::vector<SourcePlace> placesOf(int op) const;
  std::vector<SourcePlace> framesOf(int op) const;
  int operatorOf(const TraceEvent &kernel) const;
  std::string stepAt(double time, bool device) const;

  const Trace &trace;
  std::vector<const TraceEvent *> host; ///< operators and what is around them
  std::vector<int> parents;
  std::unordered_map<std::string, int> byExternal, bySequence;
  std::unordered_map<std::string, std::string> externalOfLaunch; ///< by correlation
  std::vector<const TraceEvent *> kernels, steps, deviceSteps;
};

KinetoReader::KinetoReader(const Trace &trace) : trace(trace) {
  for (const TraceEvent &event : trace.events) {
    if (isKernel(event))
      kernels.push_back(&event);
    else if (isStep(event))
      (event.category == "gpu_user_annotation" ? deviceSteps : steps).push_back(&event);
    else if (isOperator(event) || event.category == "python_function" || event.category == "user_annotation")
      host.push_back(&event);
    if (isLaunch(event))
      if (std::string id = event.value("External id"); !id.empty())
        externalOfLaunch[event.value("correlation")] = id;
  }
  selfTimes(host, &parents);
  for (auto [index, event] : llvm::enumerate(host))
    if (isOperator(*event))
      if (std::string id = event->value("External id"); !id.empty())
        byExternal[id] = int(index);
  for (auto [index, event] : llvm::enumerate(host))
    if (std::string number = event->value("Sequence number"); isOperator(*event) && !number.empty())
      if (!framesOf(int(index)).empty())
        bySequence.emplace(number, int(index));
}

std::vector<SourcePlace> KinetoReader::framesOf(int op) const {
  std::vector<SourcePlace> lines;
  for (int at = op; at >= 0; at = parents[at]) {
    SmallVector<StringRef> frames;
    host[at]->text("Call stack").split(frames, ';', -1, /*KeepEmpty=*/false);
    if (host[at]->category == "python_function")
      frames.push_back(host[at]->name);
    for (StringRef frame : frames)
      if (std::string line = lineOf(frame); !line.empty())
        lines.push_back({"", line});
  }
  return lines;
}

std::vector<SourcePlace> KinetoReader::placesOf(int op) const {
  std::vector<SourcePlace> places = framesOf(op);
  if (places.empty())
    if (auto forward = bySequence.find(host[op]->value("Sequence number")); forward != bySequence.end())
      places = framesOf(forward->second);
  for (int at = op; at >= 0; at = parents[at])
    if (host[at]->category != "python_function")
      places.push_back({host[at]->name.str(), ""});
  return places;
}

int KinetoReader::operatorOf(const TraceEvent &kernel) const {
  std::string id = kernel.value("External id");
  if (id.empty() || !byExternal.count(id))
    if (auto launch = externalOfLaunch.find(kernel.value("correlation")); launch != externalOfLaunch.end())
      id = launch->second;
  auto found = byExternal.find(id);
  return found == byExternal.end() ? -1 : found->second;
}

std::string KinetoReader::stepAt(double time, bool device) const {
  for (const TraceEvent *step : device ? deviceSteps : steps)
    if (step->begin <= time && time < step->end)
      return step->name.str();
  return "";
}

void KinetoReader::read(Measurements &into) const {
  int outside = 0;
  double lost = 0;
  auto add = [&](int op, std::string label, std::string device, std::string step, double seconds) {
    Sample one{std::move(label), {}, std::move(device), std::move(step), seconds, false};
    if (!steps.empty() && one.step.empty()) { // between steps, or where the profiler was switched on
      ++outside;
      lost += seconds;
      return;
    }
    one.collective = namesCollective(one.label);
    for (int at = op; at >= 0; at = parents[at])
      one.collective |= namesCollective(host[at]->name);
    if (op >= 0) {
      one.parts = {placesOf(op)};
      // One operator at two places is two.
      one.label += " of " + host[op]->name.str() + (one.parts[0][0].line.empty() ? "" : " at " + one.parts[0][0].line);
    }
    into.samples.push_back(std::move(one));
  };
  for (const TraceEvent *kernel : kernels) {
    int op = operatorOf(*kernel);
    std::string step = op >= 0 ? stepAt(host[op]->begin, false) : stepAt(kernel->begin, true);
    add(op, kernel->name.str(), kernel->value("device"), step, kernel->end - kernel->begin);
  }
  if (kernels.empty()) {
    std::vector<const TraceEvent *> operators;
    std::vector<int> places;
    for (auto [index, event] : llvm::enumerate(host))
      if (isOperator(*event)) {
        operators.push_back(event);
        places.push_back(int(index));
      }
    for (auto [op, event, seconds] : llvm::zip(places, operators, selfTimes(operators)))
      add(op, "self time", event->thread.first, stepAt(event->begin, false), seconds);
  }
  into.what = kernels.empty() ? "Kineto, operators" : "Kineto, kernels";
  if (outside)
    into.notes.push_back(llvm::formatv("left out: {0} events, {1}, outside of the profiler's steps", outside,
                                       ::braid::cost::toString(::braid::cost::Seconds{lost})));
}

} // namespace

bool mlir::braid::sim::isKineto(const Trace &trace) {
  return llvm::any_of(trace.events, [](const TraceEvent &event) { return isOperator(event) || isKernel(event); });
}

std::string mlir::braid::sim::readKineto(const Trace &trace, Measurements &into) {
  KinetoReader(trace).read(into);
  return "";
}
