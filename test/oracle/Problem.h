//===- Problem.h - a block as integers, and what a solution is ----------------------------------------------------===//
//
// The oracle's own reading of the execution model in Schedule.h, with one collective in flight per fabric:
//
//   kernels      one after another
//   collectives  one after another on each fabric; one begins when the stream stands between kernels, for its start is an event
//                of the stream, and so is the wait for the one before: no kernel is under way at that instant
//   a bucket     begins when all operands of its members are there; their readers run when it has ended
//   an end       when everything has ended
//
// Times are whole numbers of `unit` seconds: a millionth of the sum of everything, rounded to the nearest.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_ORACLE_PROBLEM_H
#define BRAID_TEST_ORACLE_PROBLEM_H

#include "braid/cost_models/Schedule.h"
#include <map>

namespace braid::oracle {

struct Item {
  bool kernel = true;
  int duration = 0; ///< of a kernel, and of a collective alone
  int fabric = 0;   ///< of a collective
  std::vector<int> operands, readers;
  int group = -1; ///< of collectives that may share buckets; -1: it has a bucket of its own
  int place = 0;  ///< in its group
};

struct Problem {
  std::vector<Item> items; ///< of each task
  struct Group {
    std::vector<int> members;
    std::vector<int> durations; ///< by the set of members, bit by place; the cheapest algorithm of each
  };
  std::vector<Group> groups;
  double unit = 0;             ///< seconds
  bool beginsAnywhere = false; ///< wrong on purpose: collectives begin while kernels run

  /// Of the program's only block, which has neither barriers nor nested blocks.
  Problem(const cost::Program &program, const cost::Pricer &pricer);
};

struct Solution {
  std::vector<int> begin;  ///< of each task: of its bucket
  std::vector<int> leader; ///< of each collective: the first of its bucket
  int end = 0;
};

/// Duration of the bucket that `leader` leads.
int durationOf(const Problem &problem, const Solution &solution, int leader);

/// For Braid's verifier and player. Waits stand where something needs them.
cost::Schedule scheduleOf(const Problem &problem, const Solution &solution);

} // namespace braid::oracle

#endif
