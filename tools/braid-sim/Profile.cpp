//===- Profile.cpp - braid-sim profile: a profiler's trace as a compute profile -------------------------------------===//
//
//   braid-sim profile program.mlir --trace step.trace.json.gz --hlo step.hlo.txt --cluster CLUSTER.yaml -o compute.json
//   braid-sim compare program.mlir --cluster CLUSTER.yaml --compute-profile compute.json
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "LoadModule.h"
#include "Subcommands.h"
#include "braid/passes/MeasuredOps.h"
#include "mlir/IR/Diagnostics.h"
#include "profile/Trace.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

namespace {

double median(std::vector<double> values) {
  llvm::sort(values);
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct Summary {
  std::vector<MeasuredOp> computation, collectives;
  size_t steps = 1, devices = 1;
};

/// Of each operation: the median, over the steps of all devices in which it ran, of its time in a step. Where nothing says which
/// step a sample is of, a device's are spread over `steps`.
Summary summarise(Measurements &measured, int steps) {
  bool marked = llvm::any_of(measured.samples, [](const Sample &one) { return !one.step.empty(); });
  std::map<std::string, std::pair<const Sample *, std::map<std::pair<std::string, std::string>, double>>> operations;
  std::set<std::string> devices;
  std::map<std::string, std::set<std::string>> stepsOf;
  int outside = 0;
  double lost = 0;
  for (const Sample &one : measured.samples) {
    if (marked && one.step.empty()) {
      ++outside;
      lost += one.seconds;
      continue;
    }
    auto &[first, times] = operations[one.label];
    first = first ? first : &one;
    times[{one.device, one.step}] += one.seconds;
    devices.insert(one.device);
    stepsOf[one.device].insert(one.step);
  }
  Summary summary;
  summary.devices = devices.size();
  summary.steps = marked ? 0 : steps;
  for (auto &[device, mine] : stepsOf)
    summary.steps = marked ? std::max(summary.steps, mine.size()) : summary.steps;
  for (auto &[label, operation] : operations) {
    std::vector<double> times;
    for (auto &[step, seconds] : operation.second)
      times.push_back(marked ? seconds : seconds / steps);
    (operation.first->collective ? summary.collectives : summary.computation)
        .push_back({label, {median(times)}, operation.first->parts});
  }
  if (!marked)
    measured.notes.push_back(llvm::formatv("nothing in the trace says where a step begins: all of it counts as {0} "
                                           "step{1} (--steps)",
                                           steps, steps == 1 ? "" : "s"));
  if (outside)
    measured.notes.push_back(
        llvm::formatv("left out: {0} events, {1}, of no step", outside, cost::toString(cost::Seconds{lost})));
  return summary;
}

cost::Seconds total(const std::vector<MeasuredOp> &ops) {
  cost::Seconds sum;
  for (const MeasuredOp &op : ops)
    sum += op.time;
  return sum;
}

std::string percent(cost::Seconds part, cost::Seconds all) {
  return llvm::formatv("{0:f1} %", all.value > 0 ? 100 * (part / all) : 0.0);
}

void report(llvm::raw_ostream &os, const Measurements &measured, const Summary &summary, const MatchedOps &matched) {
  cost::Seconds all = total(summary.computation), lost;
  for (const MeasuredOp *op : matched.unmatched)
    lost += op->time;
  os << measured.what << ": " << summary.steps << " step" << (summary.steps == 1 ? "" : "s") << " on "
     << summary.devices << " device" << (summary.devices == 1 ? "" : "s") << ", computation of " << cost::toString(all)
     << " a step\n"
     << "matched: " << summary.computation.size() - matched.unmatched.size() << " of " << summary.computation.size()
     << " operations, " << percent(all - lost, all) << " of the time, at " << matched.locations.size()
     << " locations of the program\n";
  if (!matched.unmatched.empty()) {
    os << "not matched: " << matched.unmatched.size() << ", " << cost::toString(lost) << ", the longest:\n";
    for (const MeasuredOp *op : llvm::ArrayRef(matched.unmatched).take_front(5)) {
      os << "  " << cost::toString(op->time) << "  " << op->label;
      const SourcePlace *place = op->parts.empty() || op->parts[0].empty() ? nullptr : &op->parts[0][0];
      if (!place)
        os << ": the trace does not say where it comes from";
      else
        os << ": " << place->name << (place->name.empty() || place->line.empty() ? "" : " at ") << place->line;
      os << "\n";
    }
  }
  if (!summary.collectives.empty())
    os << "collectives, which are no computation: " << summary.collectives.size() << ", "
       << cost::toString(total(summary.collectives)) << "\n";
  if (matched.measuredKernels < matched.kernels)
    os << "without a measurement: " << matched.kernels - matched.measuredKernels << " of the program's "
       << matched.kernels << " kernels, " << percent(matched.roofline - matched.measuredRoofline, matched.roofline)
       << " of the roofline's time, which they keep\n";
  for (const std::string &note : measured.notes)
    os << "note: " << note << "\n";
}

} // namespace

int mlir::braid::sim::runProfile(int argc, char **argv) {
  namespace cl = llvm::cl;
  cl::OptionCategory category("braid-sim profile");
  cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("<program.mlir>"), cl::cat(category));
  cl::opt<std::string> tracePath(
      "trace", cl::Required, cl::cat(category),
      cl::desc(
          "what jax.profiler.trace (*.trace.json.gz) or torch.profiler (Kineto) wrote; compressed or not; required"));
  cl::opt<std::string> hloPath(
      "hlo", cl::cat(category),
      cl::desc("the compiled program as text, where the trace names instructions only; default: none"));
  cl::opt<std::string> cluster(
      "cluster", cl::cat(category),
      cl::desc("cluster file (YAML), by whose roofline operations share a time; default: the module's braid.cluster"));
  cl::opt<int> steps("steps", cl::init(1), cl::cat(category),
                     cl::desc("how many steps a trace holds that does not mark them; default: 1"));
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("profile to write; default: standard output"),
                              cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "a profiler's trace as a compute profile of a program\n");
  auto wrong = [](const llvm::Twine &what) {
    llvm::errs() << "error: " << what << "\n";
    return 1;
  };
  if (steps < 1)
    return wrong("--steps: expected 1 or more, got " + Twine(steps.getValue()));
  if (std::string error = ::braid::command::checkOutputs(
          {{"-o", output}},
          {{"the program", input}, {"--trace", tracePath}, {"--hlo", hloPath}, {"--cluster", cluster}});
      !error.empty())
    return wrong(error);
  FailureOr<ParsedModule> parsed = importProgram(input);
  if (failed(parsed))
    return 1;

  Trace trace;
  if (std::string error = readTrace(tracePath, trace); !error.empty())
    return wrong(error);
  HloModule hlo;
  if (!hloPath.empty())
    if (std::string error = readHlo(hloPath, hlo); !error.empty())
      return wrong(error);
  Measurements measured;
  if (isXla(trace)) {
    if (std::string error =
            readXla(trace, hloPath.empty() ? nullptr : &hlo, parsed->module->getName().value_or(""), measured);
        !error.empty())
      return wrong(tracePath + ": " + error);
  } else if (!isKineto(trace)) {
    return wrong(tracePath +
                 ": expected operations of XLA (hlo_op) or kernels or operators of Kineto (cat kernel, cpu_op), "
                 "got a trace without any");
  } else if (!hloPath.empty()) {
    return wrong("--hlo: expected it with a trace of XLA, got one of Kineto");
  } else {
    readKineto(trace, measured);
  }
  Summary summary = summarise(measured, steps);
  if (total(summary.computation).value <= 0)
    return wrong(tracePath + ": expected computation that takes time, got none");
  ProgramDiagnostics handler(*parsed->sources, parsed->context.get(), input);
  FailureOr<MatchedOps> matched = matchMeasured(*parsed->module, cluster, summary.computation);
  if (failed(matched))
    return 1;
  bool toStandardOutput = output == "-";
  report(toStandardOutput || matched->locations.empty() ? llvm::errs() : llvm::outs(), measured, summary, *matched);
  if (matched->locations.empty())
    return wrong(tracePath +
                 ": expected measurements of this program, got none whose name or line it has (are its locations "
                 "kept? braid_jax export --locations)");

  llvm::json::Object locations;
  for (auto &[key, time] : matched->locations)
    locations[key] = llvm::formatv("{0:f6} us", time.value * 1e6).str();
  std::string text =
      llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{{"locations", std::move(locations)}})).str();
  if (toStandardOutput) {
    llvm::outs() << text;
    return 0;
  }
  std::string error = ::braid::command::writeFile(output, text);
  return error.empty() ? 0 : wrong(error);
}
