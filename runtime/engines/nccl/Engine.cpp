//===- Engine.cpp - NCCL runs whole collectives ---------------------------------------------------------------------===//
//
//   the program's stream     kernel A --ready--.                                 .--landed-- kernel B
//   the group's stream                          copies of operands, a group of calls
//                            arm (start)         launch ... issue ... progress     handOver (wait)
//
// A communicator that does not block may still be at the group before: what was launched is issued in its turn, and the event that says that
// results are there is recorded when NCCL has put its kernels into the stream. A wait returns when that event has come, so that an error, or a
// peer that does not come, is that wait's.
//
// Sends and receives that were started before somebody waits are one group call, since NCCL's may wait for each other else; where nobody
// waits they are kept back for some turns only.
//===------------------------------------------------------------------------------------------------------------===//
#include "engines/Engines.h"
#include "engines/nccl/Calls.h"
#include "engines/nccl/Group.h"
#include <algorithm>
#include <deque>

namespace braid::runtime {

namespace nccl {

using cuda::Current;

namespace {

class NcclOperation;

class NcclEngine : public Engine {
public:
  explicit NcclEngine(std::unique_ptr<Group> made) : group(std::move(made)) {}

  const char *name() const override { return "nccl"; }
  bool takes(braid_memory) const override { return true; } // memory of the host is refused by plan, in a sentence
  int device() const override { return group->device; }
  Outcome plan(const Request &request, std::unique_ptr<EngineOperation> &operation) override;
  void abort() override { group->abort(); }
  Outcome fault() override {
    bool still;
    return group->look(still);
  }

  void launch(NcclOperation &operation) { launched.push_back(&operation); }
  void forget(const NcclOperation &operation);
  /// Issues what was launched. `wanted`: somebody waits, so sends and receives go too.
  Outcome pump(bool wanted);

  const std::unique_ptr<Group> group;

private:
  Outcome issue();
  Outcome issued();

  std::deque<NcclOperation *> launched;
  std::vector<NcclOperation *> issuing; ///< NCCL is at it
  int keptBack = 0;                     ///< turns
};

class NcclOperation : public EngineOperation {
public:
  NcclOperation(NcclEngine &engine, const Request &request) : request(request), engine(engine), group(*engine.group) {}
  ~NcclOperation() override;

  Outcome open();
  Outcome rebind(const std::vector<Tensor> &tensors) override;
  Outcome arm(void *programs) override;
  Outcome launch() override;
  Outcome progress(bool &done) override;
  void wanted() override { isWanted = true; }
  Outcome handOver(void *programs) override;
  std::string waitsFor() const override;

  enum State { Idle, Launched, Issued, Running } state = Idle;
  Request request;
  Calls calls;
  cuda::Event ready = nullptr, landed = nullptr;
  bool pointToPoint() const { return request.pointToPoint(); }

private:
  Outcome bind();
  Outcome look() const;

  NcclEngine &engine;
  Group &group;
  cuda::Address scratch = 0;
  size_t scratchSize = 0;
  bool isWanted = false;
};

Outcome NcclEngine::plan(const Request &request, std::unique_ptr<EngineOperation> &operation) {
  if (Outcome known = readAlgorithm(request.spelled); !known)
    return known;
  auto made = std::make_unique<NcclOperation>(*this, request);
  Outcome done = made->open();
  if (done)
    operation = std::move(made);
  return done;
}

void NcclEngine::forget(const NcclOperation &operation) {
  launched.erase(std::remove(launched.begin(), launched.end(), &operation), launched.end());
  issuing.erase(std::remove(issuing.begin(), issuing.end(), &operation), issuing.end());
}

Outcome NcclEngine::pump(bool wanted) {
  Outcome done;
  while (done) {
    if (!issuing.empty()) {
      bool still = false;
      done = group->look(still);
      if (done && still)
        return {};
      if (done)
        done = issued();
      continue;
    }
    if (launched.empty())
      return {};
    auto collective = std::find_if(launched.begin(), launched.end(), [](auto *each) { return !each->pointToPoint(); });
    if (launched.front()->pointToPoint() && !wanted && collective == launched.end() && ++keptBack < 64)
      return {};
    keptBack = 0;
    auto end = launched.front()->pointToPoint() ? collective : launched.begin() + 1;
    issuing.assign(launched.begin(), end);
    launched.erase(launched.begin(), end);
    done = issue();
  }
  return done;
}

/// One group call of what is at hand: a collective, or sends and receives.
Outcome NcclEngine::issue() {
  const Library &nccl = group->nccl;
  const cuda::Driver &driver = group->driver;
  Current current(driver, group->context);
  Outcome done = current.outcome();
  for (NcclOperation *each : issuing) {
    if (done)
      done =
          driver.check(driver.cuStreamWaitEvent(group->stream, each->ready, 0), "waiting for the stream of the start");
    for (const DeviceCopy &copy : each->calls.before)
      if (done)
        done = driver.check(
            copy.from ? driver.cuMemcpyAsync(reinterpret_cast<cuda::Address>(copy.to),
                                             reinterpret_cast<cuda::Address>(copy.from), copy.bytes, group->stream)
                      : driver.cuMemsetD8Async(reinterpret_cast<cuda::Address>(copy.to), 0, copy.bytes, group->stream),
            "copying " + std::to_string(copy.bytes) + " bytes of the device");
  }
  if (!done || !group->comm())
    return done ? Outcome(BRAID_ABORTED, "the communicator is gone") : done;
  done = nccl.check(nccl.ncclGroupStart(), "ncclGroupStart");
  if (!done)
    return done;
  for (NcclOperation *each : issuing)
    for (const Call &call : each->calls.calls)
      if (done)
        done = nccl.check(nccl::issue(nccl, each->calls, call, group->comm(), group->stream), each->request.title(),
                          group->comm());
  Outcome ended =
      nccl.check(nccl.ncclGroupEnd(), "ncclGroupEnd", group->comm()); // also after an error: groups are counted
  return done ? ended : done;
}

/// NCCL has put its kernels into the stream.
Outcome NcclEngine::issued() {
  Current current(group->driver, group->context);
  Outcome done = current.outcome();
  for (NcclOperation *each : issuing) {
    if (done)
      done =
          group->driver.check(group->driver.cuEventRecord(each->landed, group->stream), "an event after the results");
    each->state = NcclOperation::Running;
  }
  issuing.clear();
  return done;
}

NcclOperation::~NcclOperation() {
  engine.forget(*this);
  if (state != Idle)
    --group.inFlight;
  Current current(group.driver, group.context);
  if (state != Idle) // it was aborted: its memory is used until its stream has come to an end
    group.driver.cuStreamSynchronize(group.stream);
  for (cuda::Event event : {ready, landed})
    if (event)
      group.driver.cuEventDestroy_v2(event);
  if (scratch)
    group.driver.cuMemFree_v2(scratch);
}

Outcome NcclOperation::open() {
  Outcome done = readCalls(request, group.nccl, calls);
  if (!done)
    return done;
  Current current(group.driver, group.context);
  done = current.outcome();
  for (cuda::Event *event : {&ready, &landed})
    if (done)
      done = group.driver.check(group.driver.cuEventCreate(event, cuda::eventDisableTiming), "an event");
  return done ? bind() : done;
}

/// Each buffer is what it was said to be, and of this rank's device.
Outcome NcclOperation::look() const {
  for (size_t i = 0; i < request.tensors.size(); ++i) {
    const Tensor &tensor = request.tensors[i];
    auto check = [&](const void *at, size_t bytes, const char *which) -> Outcome {
      if (!bytes)
        return {};
      unsigned kind = 0;
      int device = 0;
      auto address = reinterpret_cast<cuda::Address>(at);
      const cuda::Driver &driver = group.driver;
      bool known = driver.cuPointerGetAttribute(&kind, cuda::pointerMemoryType, address) == cuda::success &&
                   driver.cuPointerGetAttribute(&device, cuda::pointerDevice, address) == cuda::success;
      bool ofDevice = request.memory == BRAID_MEMORY_DEVICE;
      if (known && (kind == cuda::memoryDevice) == ofDevice && (!ofDevice || device == group.device))
        return {};
      return {BRAID_INVALID, "tensor " + std::to_string(i) + ": expected " + which + " in " +
                                 (ofDevice ? "memory of device " + std::to_string(group.device) + ", this rank's"
                                           : "pinned memory of the host") +
                                 ", got " +
                                 (!known                       ? "memory that the driver does not know"
                                  : kind != cuda::memoryDevice ? "memory of the host"
                                                               : "memory of device " + std::to_string(device))};
    };
    Outcome done = check(tensor.send, request.operandBytes(tensor), "an operand");
    if (done)
      done = check(tensor.receive, request.resultBytes(tensor), "a result");
    if (!done)
      return done;
  }
  return {};
}

Outcome NcclOperation::rebind(const std::vector<Tensor> &tensors) {
  std::vector<Tensor> before = std::exchange(request.tensors, tensors);
  Outcome done = bind();
  if (!done)
    request.tensors = std::move(before);
  return done;
}

Outcome NcclOperation::bind() {
  Outcome done = look();
  Current current(group.driver, group.context);
  size_t bytes = scratchBytes(request);
  if (done && bytes > scratchSize) {
    cuda::Address more = 0;
    done = group.driver.check(group.driver.cuMemAlloc_v2(&more, bytes), std::to_string(bytes) + " bytes of scratch");
    if (done) {
      if (scratch)
        group.driver.cuMemFree_v2(scratch);
      scratch = more;
      scratchSize = bytes;
    }
  }
  if (done)
    makeCalls(request, group.nccl, reinterpret_cast<char *>(scratch), group.barrier, calls);
  return done;
}

Outcome NcclOperation::arm(void *programs) {
  Current current(group.driver, group.context);
  Outcome done = current.outcome();
  isWanted = false;
  return done ? group.driver.check(group.driver.cuEventRecord(ready, programs), "an event in the stream of the start")
              : done;
}

Outcome NcclOperation::launch() {
  state = Launched;
  ++group.inFlight;
  engine.launch(*this);
  return {};
}

Outcome NcclOperation::progress(bool &done) {
  done = false;
  Outcome pumped = engine.pump(isWanted);
  if (!pumped || state != Running)
    return pumped;
  Current current(group.driver, group.context);
  cuda::Result result = group.driver.cuEventQuery(landed);
  if (result == cuda::notReady)
    return {};
  done = true;
  state = Idle;
  --group.inFlight;
  return group.driver.check(result, "an event after the results");
}

Outcome NcclOperation::handOver(void *programs) {
  Current current(group.driver, group.context);
  Outcome done = current.outcome();
  return done ? group.driver.check(group.driver.cuStreamWaitEvent(programs, landed, 0), "the stream of the wait")
              : done;
}

std::string NcclOperation::waitsFor() const {
  return state == Running ? "NCCL has not ended it, or the device has not done what comes before it in its stream"
                          : "NCCL has not begun it: it connects ranks, or is at the operation before";
}

} // namespace

} // namespace nccl

Outcome makeNcclEngine(const EngineContext &context, std::unique_ptr<Engine> &engine) {
  auto *parent = static_cast<nccl::NcclEngine *>(context.parent);
  std::unique_ptr<nccl::Group> group;
  Outcome done = nccl::Group::connect(context, parent ? parent->group.get() : nullptr, context.inParent, group);
  if (done)
    engine = std::make_unique<nccl::NcclEngine>(std::move(group));
  return done;
}

} // namespace braid::runtime
