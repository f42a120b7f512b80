//===- EngineTest.cpp - engines: who takes whole collectives -------------------------------------------------------===//
//
// By a double for ranks that are threads: it adds 32-bit integers when all ranks have launched their n-th operation, as engines do that
// match operations by their order.
//===------------------------------------------------------------------------------------------------------------===//
#include "engines/Engines.h"
#include "test/unit/PlannedOps.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <map>
#include <mutex>

using namespace braid;
using namespace braid::runtime;
using namespace braid::test;

namespace {

/// Where the double's ranks meet.
struct Table {
  std::mutex mutex;
  std::map<std::string, std::vector<std::vector<int32_t>>> given; ///< by engine and number: operands
  std::atomic<int> aborted{0}, launched{0};
  std::string fault;
  bool stuck = false; ///< nothing ever ends
} table;

class DoubleEngine : public Engine {
public:
  DoubleEngine(const EngineContext &context) : key(context.key), ranks(context.size()) {}
  const char *name() const override { return "double"; }
  Outcome plan(const Request &request, std::unique_ptr<EngineOperation> &operation) override {
    if (request.collective != BRAID_ALL_REDUCE || request.type != BRAID_I32)
      return {BRAID_UNSUPPORTED, "expected an all_reduce of i32; engine 'braid' has the others"};
    operation = std::make_unique<Sum>(*this, request.tensors[0]);
    return {};
  }
  void abort() override { ++table.aborted; }
  Outcome fault() override {
    std::lock_guard<std::mutex> lock(table.mutex);
    return table.fault.empty() ? Outcome() : Outcome(BRAID_SYSTEM, table.fault);
  }

private:
  struct Sum : EngineOperation {
    Sum(DoubleEngine &engine, Tensor tensor) : engine(engine), tensor(tensor) {}
    Outcome rebind(const std::vector<Tensor> &tensors) override {
      tensor = tensors[0];
      return {};
    }
    Outcome launch() override {
      std::lock_guard<std::mutex> lock(table.mutex);
      place = engine.key + "#" + std::to_string(engine.count++);
      auto *operand = reinterpret_cast<const int32_t *>(tensor.send);
      table.given[place].emplace_back(operand, operand + tensor.count);
      ++table.launched;
      return {};
    }
    Outcome progress(bool &done) override {
      std::lock_guard<std::mutex> lock(table.mutex);
      auto &all = table.given[place];
      done = int(all.size()) == engine.ranks && !table.stuck;
      for (size_t i = 0; done && i < tensor.count; ++i) {
        auto *result = reinterpret_cast<int32_t *>(tensor.receive);
        result[i] = 0;
        for (const std::vector<int32_t> &operand : all)
          result[i] += i < operand.size() ? operand[i] : -1000000; // another operation's
      }
      return {};
    }
    DoubleEngine &engine;
    Tensor tensor;
    std::string place;
  };
  std::string key;
  int ranks, count = 0;
};

CommunicatorOptions withEngine(const std::string &engine, double deadline = 20) {
  addEngine("double", [](const EngineContext &context, std::unique_ptr<Engine> &made) -> Outcome {
    made = std::make_unique<DoubleEngine>(context);
    return {};
  });
  table.given.clear();
  table.fault.clear();
  table.stuck = false;
  table.aborted = table.launched = 0;
  CommunicatorOptions options = impatient(deadline);
  options.engine = engine;
  return options;
}

/// Of both ranks.
std::string problemsOf(CommunicatorOptions first, CommunicatorOptions second) {
  auto exchanges = inProcessExchanges(2);
  std::string text[2];
  braid_comm *comms[2] = {};
  std::thread other([&] { text[1] = createInProcess(exchanges[1], second, &comms[1]).text; });
  text[0] = createInProcess(exchanges[0], first, &comms[0]).text;
  other.join();
  for (braid_comm *comm : comms)
    delete comm;
  return text[0] + "; " + text[1];
}

} // namespace

TEST_CASE("an operation is run by the engine that it names, or by the communicator's", "[engine]") {
  Ranks ranks(3, withEngine("double")); // braid is always there
  std::string problem = ranks.run([](int rank, braid_comm *comm) -> std::string {
    std::string problem = sumOfOne(comm, rank + 1, 6); // the first: the double
    int32_t mine = rank, sum = 0, other = 10 * rank, otherSum = 0;
    braid_buffer buffer = {&mine, &sum, 1, 1}, elsewhere = {&other, &otherSum, 1, 1};
    braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "ours");
    options.engine = "braid";
    braid_op *op = nullptr;
    if (problem.empty())
      problem = plan(comm, options, op);
    if (problem.empty())
      problem = startAndWait(op);
    if (problem.empty() && sum != 3)
      problem = "expected 3, got " + std::to_string(sum);
    braid_op_destroy(op);
    options.engine = "double";
    if (problem.empty())
      problem = plan(comm, options, op);
    if (problem.empty() && braid_op_rebind(op, &elsewhere, 1))
      problem = braid_last_error();
    for (int round = 0; round < 3 && problem.empty(); ++round)
      problem = startAndWait(op);
    braid_op_destroy(op);
    if (problem.empty() && otherSum != 30)
      problem = "expected 30, got " + std::to_string(otherSum);
    if (problem.empty() && braid_comm_agree(comm, 7)) // its own all_gather, which the double has not
      problem = braid_last_error();
    return problem;
  });
  CHECK(problem == "");
  CHECK(table.launched == 3 * 4);
}

TEST_CASE("a subset connects engines of its own", "[engine]") {
  Ranks ranks(3, withEngine("double"));
  CHECK(ranks.run([](int rank, braid_comm *comm) -> std::string {
    if (rank == 1)
      return "";
    const int32_t some[] = {2, 0};
    braid_comm *few = nullptr;
    if (braid_comm_subset(comm, some, 2, &few))
      return braid_last_error();
    std::string problem = sumOfOne(few, rank + 1, 4);
    if (braid_comm_destroy(few))
      problem += braid_last_error();
    return problem;
  }) == "");
}

TEST_CASE("operations are launched in the order of their starts, also past one that ranks still agree about",
          "[engine]") {
  Ranks ranks(2, withEngine("double"));
  CHECK(ranks.run([](int rank, braid_comm *comm) -> std::string {
    int32_t one = 1, two[2] = {5, 6}, oneSum = 0, twoSum[2] = {};
    braid_buffer buffers[] = {{&one, &oneSum, 1, 1}, {two, twoSum, 2, 2}};
    braid_op *known = nullptr, *fresh = nullptr;
    std::string problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffers[0], 1, "known"), known);
    if (problem.empty())
      problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffers[1], 1, "fresh"), fresh);
    if (problem.empty())
      problem = startAndWait(known); // ranks have agreed on it; on the other one only rank 0 has been asked
    if (problem.empty() &&
        (braid_op_start(fresh) || braid_op_start(known) || braid_op_wait(fresh) || braid_op_wait(known)))
      problem = braid_last_error();
    braid_op_destroy(known);
    braid_op_destroy(fresh);
    if (problem.empty() && (oneSum != 2 || twoSum[0] != 10 || twoSum[1] != 12))
      problem = "rank " + std::to_string(rank) + ": results of another operation";
    return problem;
  }) == "");
}

TEST_CASE("engines that are not there are refused by name, with the way out", "[engine]") {
  std::string both = problemsOf(withEngine("dobule"), withEngine("dobule"));
  INFO(both);
  CHECK(contains(both, "rank 0: engine: expected one of braid, double"));
  CHECK(contains(both, "got 'dobule'"));
  both = problemsOf(withEngine("double,double"), withEngine("double,double"));
  CHECK(contains(both, "engine: expected each engine once, got 'double,double'"));
  CommunicatorOptions emulated = withEngine("double");
  emulated.transport = "sizes";
  both = problemsOf(emulated, emulated);
  INFO(both);
  CHECK(contains(both, "engine 'double': expected a transport of the machine, got 'sizes': an emulated fabric"));

  Ranks ranks(1, withEngine("double"));
  int32_t data[2] = {};
  braid_buffer buffer = {data, data, 1, 1};
  braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "x");
  options.engine = "mpi";
  braid_op *op = nullptr;
  std::string text = plan(ranks.comm(0), options, op);
  INFO(text);
  CHECK(contains(text,
                 "rank 0: all_reduce 'x': expected an engine that the communicator was made with, 'braid', 'double', "
                 "got 'mpi'; name it in braid_comm_options.engine, or in BRAID_ENGINE, on all ranks"));
  options.engine = nullptr;
  options.collective = BRAID_ALL_GATHER;
  CHECK(braid_op_plan(ranks.comm(0), &options, &op) == BRAID_UNSUPPORTED);
  CHECK(contains(braid_last_error(), "engine 'double': expected an all_reduce of i32; engine 'braid' has the others"));
  options.collective = BRAID_ALL_REDUCE;
  options.helpers = 1;
  CHECK(braid_op_plan(ranks.comm(0), &options, &op) == BRAID_INVALID); // of one rank
}

TEST_CASE("ranks that name different engines are told so", "[engine]") {
  std::string both = problemsOf(withEngine("double"), withEngine(""));
  INFO(both);
  CHECK(contains(both,
                 "rank 0: communicator: expected version 1, transport '', engine double on all ranks, got version "
                 "1, transport '' on rank 1"));
  CHECK(contains(both, "rank 1: communicator: expected"));

  Ranks ranks(2, withEngine("braid,double"));
  std::vector<std::string> problems(2);
  ranks.run([&](int rank, braid_comm *comm) -> std::string {
    int32_t mine = 1, sum = 0;
    braid_buffer buffer = {&mine, &sum, 1, 1};
    braid_op_options options = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "x");
    options.engine = rank ? "double" : "braid";
    braid_op *op = nullptr;
    problems[size_t(rank)] = plan(comm, options, op);
    if (op)
      problems[size_t(rank)] = startAndWait(op);
    return "";
  });
  INFO(problems[0]);
  CHECK(contains(problems[0] + problems[1], "by engine double on rank 1"));
  for (const std::string &problem : problems)
    CHECK(problem != "");
}

TEST_CASE("what an engine reports ends all ranks, and they end it", "[engine]") {
  Ranks ranks(2, withEngine("double"));
  table.stuck = true;
  std::vector<std::string> problems(2);
  ranks.run([&](int rank, braid_comm *comm) -> std::string {
    int32_t mine = 1, sum = 0;
    braid_buffer buffer = {&mine, &sum, 1, 1};
    braid_op *op = nullptr;
    std::string &problem = problems[size_t(rank)];
    problem = plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "x"), op);
    if (problem.empty() && braid_op_start(op))
      problem = braid_last_error();
    if (rank == 0) {
      std::lock_guard<std::mutex> lock(table.mutex);
      table.fault = "the library's remote error";
    }
    if (problem.empty() && braid_op_wait(op))
      problem = braid_last_error();
    return "";
  });
  for (const std::string &problem : problems) {
    INFO(problem);
    CHECK(contains(problem, "engine 'double': the library's remote error"));
  }
  CHECK(table.aborted >= 2);
}

TEST_CASE("an engine's operation that does not end is given up at the deadline", "[engine]") {
  Ranks ranks(2, withEngine("double", 0.3));
  table.stuck = true;
  std::string problem = ranks.run([](int, braid_comm *comm) { return sumOfOne(comm, 1, 2); });
  INFO(problem);
  CHECK(contains(problem, "all_reduce 'one': engine 'double' has not ended it within 0.3 s"));
}

TEST_CASE("who waits for an engine's operation misses the rank that has left", "[engine]") {
  auto exchanges = inProcessExchanges(2);
  CommunicatorOptions options = withEngine("double", 60);
  table.stuck = true;
  std::string problem;
  std::thread other([&] {
    braid_comm *comm = nullptr;
    if (!createInProcess(exchanges[1], options, &comm))
      return;
    int32_t mine = 1, sum = 0;
    braid_buffer buffer = {&mine, &sum, 1, 1};
    braid_op *op = nullptr;
    if (plan(comm, optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "one"), op).empty() && braid_op_start(op) == BRAID_OK) {
      int32_t done = 0; // until it has told what it starts, and been told
      while (table.launched < 2 && braid_op_test(op, &done) == BRAID_OK)
        std::this_thread::yield();
    }
    delete comm; // a rank that ends in good order says no more than that
    delete op;
  });
  braid_comm *comm = nullptr;
  REQUIRE(createInProcess(exchanges[0], options, &comm));
  double begin = seconds();
  problem = sumOfOne(comm, 1, 2);
  other.join();
  INFO(problem);
  CHECK(contains(problem, "rank 1 has left"));
  CHECK(seconds() - begin < 20);
  delete comm;
}
