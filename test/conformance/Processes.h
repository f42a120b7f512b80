//===- Processes.h - runs a function on N ranks that are processes ----------------------------------------------------===//
//
// Forked from this one, which must have no other threads. They meet in memory that they inherit, so that the slice tests
// what differs between threads and processes, the transport, without the bootstrap.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_PROCESSES_H
#define BRAID_TEST_CONFORMANCE_PROCESSES_H

#include "core/Api.h"
#include <atomic>
#include <cstring>
#include <functional>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace braid::test {

/// A board in shared memory on which each (key, rank) is written once.
struct Board {
  struct Note {
    std::atomic<int> ready;
    int rank;
    char key[120], text[250];
    unsigned bytes;
  };
  static constexpr int notes = 4096, reports = 16;
  std::atomic<int> used;
  Note note[notes];
  char report[reports][1000]; ///< of each rank: what is wrong
  uint64_t result[reports];
};

class BoardExchange : public runtime::Exchange {
public:
  BoardExchange(Board &board, int me, int count) : board(board), me(me), count(count) {}
  int rank() const override { return me; }
  int ranks() const override { return count; }
  bool sameHost(int, int) const override { return true; }
  runtime::Outcome allgather(const std::string &key, const std::vector<int> &members, const std::string &mine,
                             double deadline, std::vector<std::string> &all) override {
    Board::Note &note = board.note[board.used++];
    note.rank = me;
    std::strncpy(note.key, key.c_str(), sizeof note.key - 1);
    note.bytes = unsigned(mine.size());
    std::memcpy(note.text, mine.data(), mine.size());
    note.ready.store(1, std::memory_order_release);
    all.assign(members.size(), {});
    time_t limit = time(nullptr) + time_t(deadline) + 1;
    for (size_t i = 0; i < members.size(); ++i)
      for (int at = 0;;) {
        Board::Note &other = board.note[at];
        if (at < board.used && other.ready.load(std::memory_order_acquire)) {
          if (other.rank == members[i] && key == other.key) {
            all[i].assign(other.text, other.bytes);
            break;
          }
          ++at;
          continue;
        }
        if (time(nullptr) > limit)
          return {BRAID_TIMEOUT, "exchange: nothing from rank " + std::to_string(members[i])};
        sched_yield();
      }
    return {};
  }

private:
  Board &board;
  int me, count;
};

/// Runs `body` on each rank with a communicator; returns what is wrong, per rank first come. `results`: of each rank.
inline std::string runProcesses(int count, const runtime::CommunicatorOptions &options,
                                const std::function<std::string(int, braid_comm *, uint64_t &)> &body,
                                std::vector<uint64_t> &results) {
  void *memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return "no memory for the board";
  Board &board = *static_cast<Board *>(memory);
  std::vector<pid_t> children;
  pid_t parent = getpid();
  for (int rank = 0; rank < count; ++rank) {
    pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent)
        _exit(1);
      braid_comm *comm = nullptr;
      std::string problem =
          runtime::createInProcess(std::make_shared<BoardExchange>(board, rank, count), options, &comm).text;
      if (problem.empty())
        problem = body(rank, comm, board.result[rank]);
      std::strncpy(board.report[rank], problem.c_str(), sizeof board.report[rank] - 1);
      if (problem.empty() && braid_comm_destroy(comm))
        std::strncpy(board.report[rank], braid_last_error(), sizeof board.report[rank] - 1);
      _exit(0);
    }
    children.push_back(child);
  }
  std::string problem;
  for (int rank = 0; rank < count; ++rank) {
    int status = 0;
    waitpid(children[size_t(rank)], &status, 0);
    if (status != 0 && problem.empty())
      problem = "rank " + std::to_string(rank) + ": the process ended with status " + std::to_string(status);
  }
  for (int rank = 0; rank < count && problem.empty(); ++rank)
    if (board.report[rank][0])
      problem = "rank " + std::to_string(rank) + ": " + board.report[rank];
  results.assign(board.result, board.result + count);
  munmap(memory, sizeof(Board));
  return problem;
}

} // namespace braid::test

#endif
