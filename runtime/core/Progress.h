//===- Progress.h - the progress thread, for operations that nobody waits for -------------------------------------===//
//
// Who waits drives progress itself. But an algorithm of several steps that is started, left alone under a computation and
// awaited late would do its later steps only then. So a communicator learns which operations are used like that (their
// wait came late and found them unfinished), and from then on a thread drives those until somebody waits. It sleeps while
// nothing arrives. Transports on a virtual clock have none: there the computation itself gives progress its turns.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_PROGRESS_H
#define BRAID_RUNTIME_CORE_PROGRESS_H

#include "core/Exchange.h"
#include <condition_variable>

namespace braid::runtime {

class Communicator;

class ProgressThread {
public:
  explicit ProgressThread(Communicator &comm) : comm(comm) {}
  ~ProgressThread();
  Outcome start(Exchange &exchange);
  /// There is something to drive. The communicator's mutex is held.
  void wake();

private:
  void run();
  Communicator &comm;
  std::condition_variable wanted;
  bool awake = false, stop = false; ///< under the communicator's mutex
  std::thread thread;
};

} // namespace braid::runtime

#endif
