//===- Record.h - what ranks have written down --------------------------------------------------------*- C++ -*-===//
//
// A rank's record is text, a line for each event, in the order of their ends:
//
//   h HOST                                                   first line: the machine
//   s TIME                                                   a step begins
//   m MARK BEGIN END SLOWED                                  computation, and how much of it an emulated fabric has added
//   c BEGIN END TENSORS BYTES RANK,RANK,...,|- NAME          a collective; -: among all ranks
//   n TIME GROWTH PORT COUNTER                               last: what a port has counted since the first step
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUN_RECORD_H
#define BRAID_RUN_RECORD_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace braid::run {

struct Computed {
  int mark;
  double begin, end; ///< seconds
  double slowed;     ///< of these, added by an emulated fabric
};

struct Flown {
  std::string name;
  double begin, end;
  int64_t tensors, bytes;
  std::vector<int> ranks; ///< empty: all
};

struct Step {
  double begin;
  std::vector<Computed> computed;
  std::vector<Flown> flown;
};

struct Counted {
  double time, growth;
  std::string name; ///< "mlx5_0/1 hw_counters/out_of_sequence"
};

struct Record {
  std::string host;
  std::vector<Counted> counted;
  std::vector<Step> steps;
};

/// False: not a record.
bool readRecord(llvm::StringRef text, Record &record);

/// A row of the module's table of marks.
struct Mark {
  std::string key, kernel, name, operation;
};
struct Marks {
  std::string program; ///< hash
  std::vector<Mark> rows;
};
bool readMarks(llvm::StringRef json, Marks &marks);

/// Chrome trace events with the processes, tracks and names of a predicted timeline, of the steps from `first` on. `hosts`: of each
/// rank. An error or "".
std::string writeTimeline(const std::vector<Record> &records, const Marks &marks, const std::vector<int> &hosts,
                          int first, const std::string &path);

/// The profile that the planner reads (passes/analysis/ComputeProfile.h). `source`: where it was recorded, as JSON members. An
/// error or "".
std::string writeProfile(const std::vector<Record> &records, const Marks &marks, int first, const std::string &source,
                         const std::string &path);

} // namespace braid::run

#endif
