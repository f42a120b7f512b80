//===- EndingsTest.cpp - how the ranks of a job ended ---------------------------------------------------------------===//
#include "../../tools/command/Endings.h"
#include <catch2/catch.hpp>
#include <csignal>

using braid::command::Endings;

namespace {

// What waitpid gives on Linux.
constexpr int exited(int status) { return status << 8; }

} // namespace

TEST_CASE("Nobody failed", "[endings]") {
  Endings all;
  all.add(0, exited(0));
  CHECK(all.status() == 0);
  CHECK(all.text().empty());
}

TEST_CASE("Who was killed is the cause, whoever is seen first", "[endings]") {
  Endings all;
  for (int rank = 0; rank < 64; ++rank)
    if (rank != 3)
      all.add(rank, exited(70));
  all.add(3, SIGSEGV);
  CHECK(all.status() == 139);
  CHECK(all.text() == "rank 3 was killed by signal 11; ranks 0-2, 4-63 ended with status 70");
}

TEST_CASE("The first of the causes, and of the failures", "[endings]") {
  Endings killed;
  killed.add(2, SIGKILL);
  killed.add(0, SIGSEGV);
  killed.add(1, SIGKILL);
  CHECK(killed.status() == 137);
  CHECK(killed.text() == "ranks 1, 2 were killed by signal 9; rank 0 was killed by signal 11");
  Endings failed;
  failed.add(5, exited(3));
  failed.add(1, SIGABRT); // an uncaught error: what a program does to itself
  failed.add(4, SIGKILL, /*forced=*/true);
  failed.add(0, exited(70));
  CHECK(failed.status() == 3);
  CHECK(failed.text() ==
        "rank 5 ended with status 3; rank 1 was killed by signal 6; rank 0 ended with status 70; rank 4 did not "
        "end in time and was ended");
}
