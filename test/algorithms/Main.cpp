//===- Main.cpp - promises about algorithms, for the bars --------------------------------------------------------===//
//
//   algorithm_checks SUBCOMMAND [--control]      the figure is the last line; status 0 if the promise holds
//
// With --control the same check gets broken variants, and the status is 0 if it rejects them.
//===------------------------------------------------------------------------------------------------------------===//
#include "test/algorithms/Checks.h"
#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
  bool control = argc > 2 && std::strcmp(argv[argc - 1], "--control") == 0;
  if (argc > 1 && std::strcmp(argv[1], "prove") == 0)
    return braid::test::prove(control);
  if (argc > 1 && std::strcmp(argv[1], "one_switch") == 0)
    return braid::test::oneSwitch(control);
  if (argc > 1 && std::strcmp(argv[1], "in_network") == 0)
    return braid::test::inNetwork(control);
  if (argc > 3 && std::strcmp(argv[1], "teccl") == 0)
    return braid::test::teccl(argv[2], argv[3], control);
  std::fprintf(stderr, "usage: algorithm_checks prove|one_switch|in_network|(teccl EDGES SCHEDULES) [--control]\n");
  return 2;
}
