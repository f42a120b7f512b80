//===- Process.cpp - MPI in this process ------------------------------------------------------------------------------===//
#include "engines/mpi/module/Process.h"
#include "engines/mpi/module/Collective.h"
#include <algorithm>

namespace braid::runtime::mpi {

Outcome check(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return {};
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    length = 0;
  std::string what(text, size_t(length));
  for (char &letter : what) // MPICH's have several lines
    letter = letter == '\n' ? ' ' : letter;
  return {BRAID_SYSTEM, std::string(call) + ": " + (what.empty() ? "error " + std::to_string(code) : what)};
}

Process &Process::get() {
  static auto *process = new Process(); // MPI ends after everything else
  return *process;
}

Outcome Process::notFinalised() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  return finalised
             ? Outcome(
                   BRAID_INVALID,
                   "expected MPI to be there as long as the communicator, got a process that has called MPI_Finalize")
             : Outcome();
}

Outcome Process::start(Place &where) {
  std::lock_guard<std::mutex> lock(mutex);
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (Outcome there = notFinalised(); !there)
    return there;
  if (!started) {
    if (initialised) {
      if (Outcome asked = check(MPI_Query_thread(&level), "MPI_Query_thread"); !asked)
        return asked;
    } else {
      if (Outcome made = check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
          !made)
        return made;
      ours = true;
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // a program's own is its own
    }
    int isMain = 0;
    MPI_Is_thread_main(&isMain);
    mainThread = isMain ? std::this_thread::get_id() : std::thread::id();
    MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &place.ranks);
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    place.library = std::string(text, size_t(length));
    place.library.resize(
        std::min(place.library.find_first_of(",\n"), place.library.size())); // "Open MPI v4.1.4, package: ..."
    started = true;
  }
  where = place;
  return {};
}

bool Process::mayCall(std::thread::id home) const {
  std::thread::id me = std::this_thread::get_id();
  if (level == MPI_THREAD_MULTIPLE || (ours && level == MPI_THREAD_SERIALIZED))
    return true;
  // What the program has initialised for one thread at a time it may be calling now: not beside it.
  return level == MPI_THREAD_SERIALIZED ? me == home : me == mainThread;
}

Outcome Process::connect(const std::vector<int> &ranks, int tag, std::unique_ptr<Engine> &engine) {
  if (!mayCall(std::this_thread::get_id()))
    return {BRAID_INVALID,
            "expected MPI initialised with MPI_THREAD_SERIALIZED or more, or a communicator that is made by the "
            "main thread, got another thread"};
  auto held = guard();
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  Outcome done = check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  if (done) // in this order: its rank i is the engine's rank i, wherever mpirun has put it
    done = check(MPI_Group_incl(world, int(ranks.size()), ranks.data(), &group), "MPI_Group_incl");
  if (done)
    done = check(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm), "MPI_Comm_create_group");
  if (done)
    done = check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (group != MPI_GROUP_NULL)
    MPI_Group_free(&group);
  if (world != MPI_GROUP_NULL)
    MPI_Group_free(&world);
  if (done)
    engine = std::make_unique<MpiEngine>(*this, comm);
  return done;
}

void Process::progress() {
  int some = 0;
  if (failed || !started || !mayCall(mainThread))
    return;
  auto held = guard();
  if (notFinalised())
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &some, MPI_STATUS_IGNORE);
}

void Process::end(bool good) {
  std::lock_guard<std::mutex> lock(mutex);
  if (started && ours && good && !failed && notFinalised())
    MPI_Finalize();
}

} // namespace braid::runtime::mpi

extern "C" __attribute__((visibility("default"))) braid::runtime::mpi::Module *braid_engine_mpi(uint32_t release) {
  return release == braid::runtime::mpi::release ? &braid::runtime::mpi::Process::get() : nullptr;
}
