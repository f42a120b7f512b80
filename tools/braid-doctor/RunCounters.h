//===- RunCounters.h - what the ports of a job count in a run ------------------------------------------------*- C++ -*-===//
//
// One rank of each host reads the counters of the ports that the job uses before it is connected, and again at the end, and tells
// what has grown, with advice. They are the port's: other jobs on it count, too.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DOCTOR_RUNCOUNTERS_H
#define BRAID_DOCTOR_RUNCOUNTERS_H

#include "Counters.h"

namespace braid::doctor {

class RunCounters {
public:
  /// Reads them for the first time, if this process is the first rank of its host and `transport` is a real one. Those of recorded
  /// hosts if BRAID_HOST_ROOT says so: BEFORE:AFTER, or one folder for both (see Tree.h).
  explicit RunCounters(const std::string &transport);
  /// Reads them again, once; what is asked for below is until then.
  void end();

  struct Growth {
    std::string port;  ///< "mlx5_0/1"
    std::string wrong; ///< why there are no counts, or ""
    Counts counts;     ///< grown
  };
  const std::vector<Growth> &growths() const { return grown; }
  const std::string &host() const { return name; }

  /// A line for each counter that has grown, with advice, and one for all that have not, of each port.
  std::string text() const;
  /// An object of JSON for each port, with commas between them.
  std::string json() const;
  /// Tells text() on standard error as the program's words, once; at the end too, whatever that is.
  void tell(const char *program);

private:
  struct Before {
    Port port;
    Counts counts;
  };
  std::string name, rootAfter, wrongRoot;
  std::vector<Before> before;
  std::vector<Growth> grown;
  bool ended = false, told = false;
};

} // namespace braid::doctor

#endif
