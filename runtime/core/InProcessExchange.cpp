//===- InProcessExchange.cpp - ranks that are threads of one process meet here ------------------------------------===//
#include "core/InProcessExchange.h"
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

namespace braid::runtime {

namespace {

/// What has been given for each key, until all members have read it.
struct Meeting {
  struct Table {
    std::map<int, std::string> given;
    size_t read = 0;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Table> tables;
};

class InProcessExchange : public Exchange {
public:
  InProcessExchange(std::shared_ptr<Meeting> meeting, int me, int count)
      : meeting(std::move(meeting)), me(me), count(count) {}

  int rank() const override { return me; }
  int ranks() const override { return count; }
  bool sameHost(int, int) const override { return true; }

  Outcome allgather(const std::string &key, const std::vector<int> &members, const std::string &mine, double deadline,
                    std::vector<std::string> &all) override {
    std::unique_lock<std::mutex> lock(meeting->mutex);
    Meeting::Table &table = meeting->tables[key];
    table.given[me] = mine;
    meeting->changed.notify_all();
    auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(deadline);
    while (table.given.size() < members.size())
      if (meeting->changed.wait_until(lock, limit) == std::cv_status::timeout && table.given.size() < members.size()) {
        std::string missing;
        for (int member : members)
          if (!table.given.count(member))
            missing += (missing.empty() ? "" : ", ") + std::to_string(member);
        return {BRAID_TIMEOUT, "exchange of '" + key + "': nothing from rank " + missing};
      }
    all.clear();
    for (int member : members)
      all.push_back(table.given[member]);
    if (++table.read == members.size())
      meeting->tables.erase(key);
    return {};
  }

private:
  std::shared_ptr<Meeting> meeting;
  int me, count;
};

} // namespace

std::vector<std::shared_ptr<Exchange>> inProcessExchanges(int ranks) {
  auto meeting = std::make_shared<Meeting>();
  std::vector<std::shared_ptr<Exchange>> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(std::make_shared<InProcessExchange>(meeting, rank, ranks));
  return all;
}

} // namespace braid::runtime
