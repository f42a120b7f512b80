//===- Islands.cpp - several engines in one communicator ---------------------------------------------------------------===//
#include "engines/islands/Islands.h"
#include "core/Communicator.h"
#include "engines/Engines.h"
#include "engines/islands/Compose.h"
#include <algorithm>
#include <cstring>

namespace braid::runtime::islands {

namespace {

class Composite;

class IslandsEngine : public Engine {
public:
  explicit IslandsEngine(const Layout &layout) : layout(layout) {}
  ~IslandsEngine() override { failParts(); }
  const char *name() const override { return "islands"; }
  Outcome plan(const Request &request, std::unique_ptr<EngineOperation> &operation) override;
  void abort() override { aborted = true; }
  Outcome fault() override {
    for (const std::unique_ptr<Communicator> &part : parts)
      if (part)
        if (Outcome reported = part->innerFault(); !reported)
          return reported;
    return {};
  }
  /// Nothing of what they have in flight will be awaited.
  void failParts() {
    for (const std::unique_ptr<Communicator> &part : parts)
      if (part && aborted)
        part->endInner();
  }

  const Layout layout;
  std::unique_ptr<Communicator> parts[Everybody + 1]; ///< by Who; of leaders: null elsewhere
  std::vector<Composite *> running;                   ///< collectives, in the order of their launches
  bool aborted = false;
};

class Composite : public EngineOperation {
public:
  Composite(IslandsEngine &engine, Request request) : engine(engine), request(std::move(request)) {}

  ~Composite() override {
    engine.failParts();
    for (Part &part : parts)
      if (part.operation)
        (void)part.comm->destroy(part.operation); // fails with its communicator alone, which then has it
    engine.running.erase(std::remove(engine.running.begin(), engine.running.end(), this), engine.running.end());
  }

  Outcome plan() {
    program = compose(request, engine.layout);
    size = request.elementBytes;
    bool converts = request.accumulation != request.type;
    if (converts)
      size = sizeOf(request.accumulation);
    scratch.resize(program.scratch.size());
    for (size_t i = 0; i < scratch.size(); ++i)
      scratch[i].resize(program.scratch[i] * size);
    operands.resize(request.tensors.size());
    results.resize(request.tensors.size());
    bind();
    for (const Step &step : program.steps) {
      parts.emplace_back();
      if (!step.copies)
        if (Outcome planned = planPart(step, parts.back()); !planned)
          return planned;
    }
    return {};
  }

  Outcome rebind(const std::vector<Tensor> &tensors) override {
    request.tensors = tensors;
    bind();
    Outcome done;
    for (size_t i = 0; i < parts.size() && done; ++i)
      if (parts[i].operation && program.steps[i].collective != BRAID_BARRIER) {
        braid_buffer buffer = bufferOf(program.steps[i]);
        done = parts[i].comm->rebind(*parts[i].operation, &buffer, 1);
      }
    return done;
  }

  Outcome launch() override {
    next = 0;
    if (!request.pointToPoint())
      engine.running.push_back(this);
    for (size_t i = 0; i < request.tensors.size(); ++i) {
      size_t sent = request.operandBytes(request.tensors[i]);
      if (operands[i].empty() || !sent)
        continue;
      if (request.accumulation != request.type)
        convert(request.accumulation, operands[i].data(), request.type, request.tensors[i].send,
                sent / request.elementBytes);
      else
        std::memcpy(operands[i].data(), request.tensors[i].send, sent);
    }
    return {};
  }

  Outcome progress(bool &done) override {
    if (!request.pointToPoint() && engine.running.front() != this)
      return {};
    for (; next < parts.size(); ++next) {
      const Step &step = program.steps[next];
      if (step.copies) {
        execute(step);
        continue;
      }
      bool ended = false;
      if (Outcome went = parts[next].comm->driveInner(*parts[next].operation, ended); !went || !ended)
        return went;
    }
    if (!request.pointToPoint())
      engine.running.erase(engine.running.begin());
    finish();
    done = true;
    return {};
  }

  std::string waitsFor() const override {
    if (!request.pointToPoint() && (engine.running.empty() || engine.running.front() != this))
      return "waits for an earlier collective";
    return next < parts.size() && parts[next].operation
               ? parts[next].operation->request.title() + ": " + parts[next].operation->waitsFor()
               : "";
  }

private:
  struct Part {
    Communicator *comm = nullptr;
    Operation *operation = nullptr;
  };

  /// Copies stand for operands that overlap results, and for tensors that are converted.
  void bind() {
    bool converts = request.accumulation != request.type;
    for (size_t i = 0; i < request.tensors.size(); ++i) {
      const Tensor &tensor = request.tensors[i];
      size_t sent = request.operandBytes(tensor), received = request.resultBytes(tensor);
      bool overlap = sent && received && tensor.send < tensor.receive + received && tensor.receive < tensor.send + sent;
      operands[i].resize(converts || overlap ? sent / request.elementBytes * size : 0);
      results[i].resize(converts ? received / request.elementBytes * size : 0);
    }
  }

  char *address(Place place) {
    if (place.buffer < 0)
      return nullptr;
    size_t tensor = size_t(place.buffer) / 2, tensors = request.tensors.size();
    char *begin = tensor >= tensors ? scratch[size_t(place.buffer) - 2 * tensors].data()
                  : place.buffer % 2
                      ? results[tensor].empty() ? request.tensors[tensor].receive : results[tensor].data()
                  : !operands[tensor].empty() ? operands[tensor].data()
                                              : const_cast<char *>(request.tensors[tensor].send); // it is only read
    return begin ? begin + place.at * size : nullptr;
  }

  braid_buffer bufferOf(const Step &step) {
    return {address(step.send), address(step.receive), step.sendCount, step.receiveCount};
  }

  Outcome planPart(const Step &step, Part &part) {
    part.comm = engine.parts[step.who].get();
    braid_buffer buffer = bufferOf(step);
    std::string name = "part of " + request.title();
    braid_op_options options = {};
    options.size = sizeof options;
    options.collective = step.collective;
    options.type = request.accumulation;
    options.reduction = request.reduction == BRAID_AVERAGE ? BRAID_SUM : request.reduction;
    options.root = step.root;
    options.peer = step.peer;
    options.tag = step.tag;
    options.tensors = step.collective == BRAID_BARRIER ? 0 : 1;
    options.buffers = &buffer;
    options.pairs = step.pairs.size() / 2;
    options.pair_list = step.pairs.data();
    options.send_counts = step.sendCounts.empty() ? nullptr : step.sendCounts.data();
    options.receive_counts = step.receiveCounts.empty() ? nullptr : step.receiveCounts.data();
    options.name = name.c_str();
    return part.comm->plan(options, part.operation);
  }

  void execute(const Step &step) {
    if (const char *from = address(step.send))
      std::memcpy(address(step.receive), from, step.sendCount * size);
    else
      std::memset(address(step.receive), 0, step.sendCount * size);
  }

  void finish() {
    for (size_t i = 0; i < request.tensors.size() && request.reduces(); ++i) {
      const Tensor &tensor = request.tensors[i];
      size_t elements = request.resultBytes(tensor) / request.elementBytes;
      if (!elements)
        continue;
      char *result = address({int(2 * i + 1), 0});
      if (request.reduction == BRAID_AVERAGE)
        divide(request.accumulation, result, elements, request.ranks);
      if (request.accumulation != request.type)
        convert(request.type, tensor.receive, request.accumulation, result, elements);
    }
  }

  IslandsEngine &engine;
  Request request;
  Program program;
  size_t size = 1; ///< bytes of an element on its way
  std::vector<std::vector<char>> scratch, operands, results;
  std::vector<Part> parts; ///< of each step
  size_t next = 0;
};

Outcome IslandsEngine::plan(const Request &request, std::unique_ptr<EngineOperation> &operation) {
  if (!request.spelled.empty() && request.spelled != "default")
    return {BRAID_UNSUPPORTED,
            "expected no algorithm, or 'default', for a collective on several islands, got '" + request.spelled + "'"};
  auto made = std::make_unique<Composite>(*this, request);
  Outcome planned = made->plan();
  if (planned)
    operation = std::move(made);
  return planned;
}

} // namespace

Outcome make(Communicator &comm, const Layout &layout, std::unique_ptr<Engine> &engine) {
  auto made = std::make_unique<IslandsEngine>(layout);
  // Everybody makes these in one order: its island, the leaders, all.
  Outcome done =
      comm.makeInner(layout.neighbours(), layout.islands[size_t(layout.mine())].engine, made->parts[Neighbours]);
  std::vector<int> leaders, all;
  for (const Island &island : layout.islands)
    leaders.push_back(island.ranks[0]);
  for (int rank = 0; rank < layout.ranks(); ++rank)
    all.push_back(rank);
  // Who is refused something is here all the same, so that it is the outcome of all.
  done = comm.agreeOnInner("islands", done);
  if (!done)
    return done;
  if (layout.leads())
    done = comm.makeInner(leaders, braidEngine, made->parts[Leaders]);
  done = comm.agreeOnInner("leaders", done);
  if (done)
    done = comm.makeInner(all, braidEngine, made->parts[Everybody]);
  if (done)
    engine = std::move(made);
  return done;
}

} // namespace braid::runtime::islands
