//===- FiberRanks.cpp - braid_run_fibers: all ranks of a job in one thread ----------------------------------------===//
#include "core/Api.h"
#include "transports/emulated/Fibers.h"
#include <cstdlib>
#include <map>

namespace braid::runtime {

namespace {

/// Fibers meet here: who waits lets the others have their turn.
class FiberExchange : public Exchange {
public:
  struct Table {
    std::vector<int> members;
    std::map<int, std::string> given;
    size_t read = 0;
  };
  using Tables = std::map<std::string, Table>;

  FiberExchange(std::shared_ptr<Tables> tables, Fibers &fibers, int me, int count)
      : tables(std::move(tables)), fibers(fibers), me(me), count(count) {}

  int rank() const override { return me; }
  int ranks() const override { return count; }
  bool sameHost(int, int) const override { return true; }

  Outcome allgather(const std::string &key, const std::vector<int> &members, const std::string &mine, double,
                    std::vector<std::string> &all) override {
    Table &table = (*tables)[key];
    table.members = members;
    table.given[me] = mine;
    while (table.given.size() < members.size()) {
      if (!fibers.othersReady()) // they wait for this one, or have ended
        return {BRAID_TIMEOUT, "exchange of '" + key + "': the other ranks do not come; " + whoWaits()};
      fibers.yield();
    }
    all.clear();
    for (int member : members)
      all.push_back(table.given[member]);
    if (++table.read == members.size())
      tables->erase(key);
    return {};
  }

private:
  /// "rank 0 waits among ranks 0, 1; rank 1 waits among ranks 1, 2".
  std::string whoWaits() const {
    std::string text;
    for (const auto &[key, table] : *tables) {
      if (table.given.size() == table.members.size())
        continue;
      for (const auto &[rank, value] : table.given) {
        text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " waits among ranks ";
        for (size_t i = 0; i < table.members.size(); ++i)
          text += (i ? ", " : "") + std::to_string(table.members[i]);
      }
    }
    return text;
  }

  std::shared_ptr<Tables> tables;
  Fibers &fibers;
  int me, count;
};

} // namespace

Outcome runFibers(int ranks, const CommunicatorOptions &options, braid_rank_body body, void *context) {
  const char *set = std::getenv("BRAID_EMULATED_CLOCK");
  std::string clock = !options.clock.empty() ? options.clock : set && *set ? set : "wall";
  if ((options.transport != "emulated+in-process" && options.transport != "emulated+sizes") || clock != "virtual")
    return {BRAID_INVALID,
            "fibers: expected transport emulated+in-process or emulated+sizes on the virtual clock, got '" +
                options.transport + "' on the " + clock + " clock"};
  Fibers fibers(ranks);
  auto tables = std::make_shared<FiberExchange::Tables>();
  Outcome failure;
  int returned = 0;
  fibers.run([&](int rank) {
    auto exchange = std::make_shared<FiberExchange>(tables, fibers, rank, ranks);
    braid_comm *comm = nullptr;
    Outcome made = createInProcess(exchange, options, &comm);
    if (made && body(comm, context) != 0)
      made = {BRAID_ABORTED, "rank " + std::to_string(rank) + ": its body failed"};
    if (!made && failure)
      failure = made;
    if (!made && comm)
      (void)comm->comm->abort(made.text);
    ++returned;
    delete comm;
  });
  if (failure && returned < ranks)
    return {BRAID_SYSTEM, "fibers: " + std::to_string(ranks - returned) + " of " + std::to_string(ranks) +
                              " ranks are blocked, and no message is under way"};
  return failure;
}

} // namespace braid::runtime
