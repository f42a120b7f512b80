//===- Module.h - what a module for one MPI offers to the runtime ----------------------------------------------------===//
//
// MPI has no binary interface of its own: Open MPI's handles are pointers, MPICH's are numbers. So all that includes mpi.h is compiled
// once for each of them into a library (libbraid-engine-mpi-openmpi.so, libbraid-engine-mpi-mpich.so), which the runtime opens when
// somebody asks for the engine. Nothing else needs MPI.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_MPI_MODULE_H
#define BRAID_RUNTIME_ENGINES_MPI_MODULE_H

#include "engines/Engine.h"

namespace braid::runtime::mpi {

/// This process in its MPI job.
struct Place {
  std::string library; ///< "Open MPI v4.1.4"
  int rank = 0, ranks = 1;
};

class Module {
public:
  /// Initialises MPI unless the program has. Once for each process; then it only tells the place.
  virtual Outcome start(Place &place) = 0;
  /// An engine of the processes with these ranks in MPI_COMM_WORLD, of which all call it at once, with one `tag`.
  virtual Outcome connect(const std::vector<int> &ranks, int tag, std::unique_ptr<Engine> &engine) = 0;
  /// The process ends. Finalises MPI if `start` has initialised it and nothing has failed.
  virtual void end(bool good) = 0;

protected:
  ~Module() = default;
};

/// The one symbol of the library. `release`: the runtime's, which shares classes with it; null if they are not of one release.
using Open = Module *(*)(uint32_t release);
constexpr const char *openName = "braid_engine_mpi";
constexpr uint32_t release = 1;

} // namespace braid::runtime::mpi

#endif
