//===- Ranks.h - runs a function on N ranks that are threads of this process --------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_RANKS_H
#define BRAID_TEST_CONFORMANCE_RANKS_H

#include "core/Api.h"
#include "core/InProcessExchange.h"
#include <functional>
#include <thread>
#include <vector>

namespace braid::test {

/// Ranks with a communicator each, made together. A rank's function returns an empty string or what is wrong; so does run.
class Ranks {
public:
  Ranks(int count, runtime::CommunicatorOptions options) : comms(size_t(count)) {
    exchanges = runtime::inProcessExchanges(count);
    problem = each([&](int rank) -> std::string {
      return runtime::createInProcess(exchanges[size_t(rank)], options, &comms[size_t(rank)]).text;
    });
  }
  ~Ranks() {
    for (braid_comm *comm : comms)
      delete comm;
  }

  const std::string &failed() const { return problem; }
  braid_comm *comm(int rank) { return comms[size_t(rank)]; }
  int size() const { return int(comms.size()); }

  std::string run(const std::function<std::string(int rank, braid_comm *comm)> &body) {
    return each([&](int rank) { return body(rank, comms[size_t(rank)]); });
  }

private:
  template <typename Body> std::string each(Body body) {
    std::vector<std::string> problems(comms.size());
    std::vector<std::thread> threads;
    for (size_t rank = 1; rank < comms.size(); ++rank)
      threads.emplace_back([&, rank] { problems[rank] = body(int(rank)); });
    problems[0] = body(0);
    for (std::thread &thread : threads)
      thread.join();
    for (size_t rank = 0; rank < problems.size(); ++rank)
      if (!problems[rank].empty())
        return "rank " + std::to_string(rank) + ": " + problems[rank];
    return {};
  }

  std::vector<std::shared_ptr<runtime::Exchange>> exchanges;
  std::vector<braid_comm *> comms;
  std::string problem;
};

} // namespace braid::test

#endif
