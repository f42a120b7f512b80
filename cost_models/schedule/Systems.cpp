//===- Systems.cpp - data-parallel training systems by name ------------------------------------------------------===//
#include "braid/cost_models/Systems.h"
#include "schedule/Search.h"

using namespace braid::cost;

const char *braid::cost::name(System system) {
  switch (system) {
  case System::Fsdp:
    return "fsdp";
  case System::Zero1:
    return "zero-1";
  case System::Zero2:
    return "zero-2";
  case System::Zero3:
    return "zero-3";
  case System::SingleProcess:
    break;
  }
  return "single-process";
}

std::optional<System> braid::cost::parseSystem(const std::string &text) {
  for (System system : allSystems)
    if (text == name(system))
      return system;
  return std::nullopt;
}

/// The fastest of several sizes, the smaller of equals.
static Result<SystemStep> wellWrapped(const Program &program, const Pricer &pricer, FsdpOptions options) {
  std::optional<SystemStep> best;
  Seconds time;
  for (int64_t mebibytes : {0, 1, 4, 16, 64, 256, 1024}) {
    options.unit = {mebibytes << 20};
    Result<SystemStep> step = fsdpStep(program, pricer, options);
    if (!step)
      return step;
    Seconds total = playWithoutNoise(step->program, step->schedule, pricer).total;
    if (!best || total < time) {
      time = total;
      best = std::move(*step);
    }
  }
  return *best;
}

Result<SystemStep> braid::cost::systemStep(const Program &program, const Pricer &pricer, System system,
                                           const SystemOptions &options) {
  if (system == System::Fsdp)
    return options.fsdp ? fsdpStep(program, pricer, *options.fsdp) : wellWrapped(program, pricer, {});
  if (system == System::SingleProcess)
    return singleProcessStep(program, pricer, options.singleProcess);
  int stage = 1 + int(system) - int(System::Zero1);
  ZeroOptions zero;
  zero.stage = stage;
  zero.overlap = stage == 3;
  return zeroStep(program, pricer, options.zero[stage - 1].value_or(zero));
}

Result<SystemResult> braid::cost::runSystem(const Program &program, const Pricer &pricer, System system,
                                            const SystemOptions &systems, const PlanOptions &options) {
  Result<SystemStep> step = systemStep(program, pricer, system, systems);
  if (!step)
    return step.error();
  ListOptions rules;
  rules.inFlight = 1 << 30; // the systems have limits of their own
  std::string broken = verifySchedule(step->program, step->schedule, rules, &pricer);
  if (!broken.empty())
    return Error{"expected a schedule that passes the verifier, got: " + broken, ""};
  SystemResult result{std::move(*step), {}, {}};
  result.result.rule = result.step.how;
  result.result.schedule = result.step.schedule;
  PlanOptions measured = options;
  measured.sampling = affordable(result.step.program, options.sampling);
  measure(result.result, result.step.program, pricer, measured);
  result.bound = lowerBound(result.step.program, pricer);
  return result;
}
