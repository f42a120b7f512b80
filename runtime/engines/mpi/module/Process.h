//===- Process.h - MPI in this process: who may call it, its errors, types and operations -------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_MPI_PROCESS_H
#define BRAID_RUNTIME_ENGINES_MPI_PROCESS_H

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "engines/mpi/Module.h"
#include <mpi.h>
#include <mutex>
#include <thread>

namespace braid::runtime::mpi {

/// "MPI_Iallreduce: invalid communicator", or that it worked.
Outcome check(int code, const char *call);

/// MPI's name for the bytes of an element. Types that MPI does not know travel as unsigned integers of their size.
MPI_Datatype datatypeOf(braid_type type);
/// MPI's own operation where it does what Arithmetic.h says, else one that runs the runtime's loops (small floats, bool, sums of small integers, and the least
/// and greatest of floats, where a NaN counts). Of an average: its sum. Made once.
Outcome operationOf(braid_type type, braid_reduction reduction, MPI_Op &operation);

class Process : public Module {
public:
  static Process &get();
  Outcome start(Place &place) override;
  Outcome connect(const std::vector<int> &ranks, int tag, std::unique_ptr<Engine> &engine) override;
  void progress() override;
  void end(bool good) override;

  /// Unless the program has called MPI_Finalize, after which any call would end the process.
  static Outcome notFinalised();
  /// Whether this thread may call MPI; `home`: the one that has made the communicator.
  bool mayCall(std::thread::id home) const;
  /// Held while MPI is called, where it can't be by two threads at once.
  std::unique_lock<std::mutex> guard() {
    return level == MPI_THREAD_MULTIPLE ? std::unique_lock<std::mutex>() : std::unique_lock<std::mutex>(mutex);
  }
  bool failed = false; ///< a communicator has: MPI_Finalize may wait for ever

private:
  std::mutex mutex;
  bool started = false, ours = false; ///< ours: initialised here
  int level = MPI_THREAD_SINGLE;
  std::thread::id mainThread;
  Place place;
};

} // namespace braid::runtime::mpi

#endif
