//===- Ranks.h - runs a function on N ranks that are threads of this process --------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_RANKS_H
#define BRAID_TEST_CONFORMANCE_RANKS_H

#include "core/Api.h"
#include "core/InProcessExchange.h"
#include "transports/Clock.h"
#include <functional>
#include <optional>
#include <thread>
#include <vector>

namespace braid::test {

/// Ranks with a communicator each, made together. A rank's function returns an empty string or what is wrong; so does run.
class Ranks {
public:
  Ranks(int count, runtime::CommunicatorOptions options) : comms(size_t(count)), outside(size_t(count)) {
    exchanges = runtime::inProcessExchanges(count);
    problem = each([&](int rank) -> std::string {
      std::string text = runtime::createInProcess(exchanges[size_t(rank)], options, &comms[size_t(rank)]).text;
      leave(rank);
      return text;
    });
  }
  ~Ranks() {
    outside.clear();
    for (braid_comm *comm : comms)
      delete comm;
  }

  const std::string &failed() const { return problem; }
  braid_comm *comm(int rank) { return comms[size_t(rank)]; }
  int size() const { return int(comms.size()); }

  std::string run(const std::function<std::string(int rank, braid_comm *comm)> &body) {
    return each([&](int rank) {
      outside[size_t(rank)].reset();
      std::string text = body(rank, comms[size_t(rank)]);
      leave(rank);
      return text;
    });
  }

private:
  /// A rank that has nothing to do does not hold up the time of the others (a virtual clock).
  void leave(int rank) {
    if (comms[size_t(rank)])
      if (runtime::Clock *clock = comms[size_t(rank)]->comm->transport().clock())
        outside[size_t(rank)].emplace(*clock);
  }

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
  std::vector<std::optional<runtime::Clock::Outside>> outside;
  std::string problem;
};

} // namespace braid::test

#endif
