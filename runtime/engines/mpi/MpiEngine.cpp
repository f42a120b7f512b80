//===- MpiEngine.cpp - the engine "mpi": finds the module for this process's MPI, and connects it --------------------------===//
#include "core/Farewell.h"
#include "engines/Engines.h"
#include "engines/mpi/Module.h"
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace braid::runtime {

namespace {

struct Kind {
  const char *name, *symbol, *variable; ///< BRAID_MPI; one that only this MPI exports; one that its launcher sets
};
constexpr Kind kinds[] = {{"openmpi", "ompi_mpi_comm_world", "OMPI_COMM_WORLD_SIZE"},
                          {"mpich", "MPIR_Process", "PMI_SIZE"}};

/// Which MPI this process is of: the one asked for, the one that the program is linked to, the one that has started it.
Outcome whichMpi(std::string &name) {
  std::string known;
  const char *asked = std::getenv("BRAID_MPI");
  for (const Kind &kind : kinds) {
    known += (known.empty() ? "" : " or ") + std::string(kind.name);
    if (asked && std::string(asked) == kind.name)
      name = kind.name;
  }
  if (asked && *asked)
    return name.empty() ? Outcome(BRAID_INVALID, "BRAID_MPI: expected " + known + ", got '" + asked + "'") : Outcome();
  for (const Kind &kind : kinds)
    if (name.empty() && dlsym(RTLD_DEFAULT, kind.symbol))
      name = kind.name;
  for (const Kind &kind : kinds)
    if (const char *size = std::getenv(kind.variable); name.empty() && size && *size)
      name = kind.name;
  return name.empty() ? Outcome(BRAID_UNSUPPORTED, "expected a process that mpirun has started, or BRAID_MPI (" +
                                                       known + "), which says what MPI it is of, got neither")
                      : Outcome();
}

/// Opens the module of that MPI, once for the process; it stays, as MPI does.
Outcome openModule(mpi::Module *&module) {
  static std::mutex mutex;
  static mpi::Module *opened = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  module = opened;
  if (module)
    return {};
  std::string which;
  if (Outcome found = whichMpi(which); !found)
    return found;
  std::string library = "libbraid-engine-mpi-" + which + ".so", errors;
  for (const std::string &place : enginePlaces(library)) {
    // Global: the plugins of an MPI look for its symbols there.
    void *handle = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    auto open = handle ? reinterpret_cast<mpi::Open>(dlsym(handle, mpi::openName)) : nullptr;
    if (open) {
      opened = module = open(mpi::release);
      if (!module)
        return {BRAID_UNSUPPORTED, "expected " + place + " of this release, got one of another; build both together"};
      atFarewell([](bool good) { opened->end(good); });
      return {};
    }
    const char *error = dlerror();
    errors += (errors.empty() ? "" : "; ") + std::string(error ? error : place + " is no engine");
  }
  return {BRAID_UNSUPPORTED, "expected " + library + " beside the runtime, which a build with that MPI makes " +
                                 "(libopenmpi-dev, libmpich-dev), or in BRAID_ENGINE_PATH, got '" + errors + "'"};
}

/// What ranks tell each other: their places in MPI_COMM_WORLD.
Outcome compare(const EngineContext &context, const std::vector<std::string> &all, std::vector<int> &worldRanks) {
  std::vector<int> owner;
  for (int rank = 0; rank < context.size(); ++rank) {
    const std::string &told = all[size_t(rank)];
    size_t first = told.find(' '), second = told.find(' ', first + 1);
    if (second == std::string::npos)
      return {BRAID_MISMATCH, "expected a place in MPI_COMM_WORLD, got '" + told + "'"};
    int world = std::atoi(told.c_str()), size = std::atoi(told.c_str() + first);
    auto who = [&](int member) { return "rank " + std::to_string(context.members[size_t(member)]); };
    const std::string &others = all[0];
    if (told.substr(second) != others.substr(others.find(' ', others.find(' ') + 1)))
      return {BRAID_MISMATCH, "expected all ranks in one MPI job, got" +
                                  others.substr(others.find(' ', others.find(' ') + 1)) + " on " + who(0) + " and" +
                                  told.substr(second) + " on " + who(rank)};
    if (size < context.size())
      return {BRAID_INVALID, "expected " + std::to_string(context.size()) + " processes in the MPI job, got " +
                                 std::to_string(size) + "; start them all with one mpirun, each rank a process"};
    if (owner.size() < size_t(size))
      owner.resize(size_t(size), -1);
    if (world < 0 || world >= size || owner[size_t(world)] >= 0)
      return {BRAID_INVALID,
              "expected ranks that are different processes of one MPI job, got " + who(rank) +
                  (world >= 0 && world < size ? " and " + who(owner[size_t(world)]) + " which both are" : "") +
                  " rank " + std::to_string(world) + " in MPI_COMM_WORLD"};
    owner[size_t(world)] = rank;
    worldRanks.push_back(world);
  }
  return {};
}

} // namespace

Outcome makeMpiEngine(const EngineContext &context, std::unique_ptr<Engine> &engine) {
  mpi::Module *module = nullptr;
  mpi::Place place;
  Outcome done = openModule(module);
  if (done)
    done = module->start(place);
  // What one of them is refused is the outcome of all: nobody waits in MPI for who does not come.
  done = context.exchange.agree(context.key + "/started", context.members, done, context.deadline);
  std::vector<std::string> all;
  if (done)
    done = context.exchange.allgather(
        context.key + "/places", context.members,
        std::to_string(place.rank) + " " + std::to_string(place.ranks) + " " + place.library, context.deadline, all);
  std::vector<int> worldRanks;
  if (done)
    done = compare(context, all, worldRanks);
  int tag = 0;
  for (char letter : context.key)
    tag = (tag * 31 + static_cast<unsigned char>(letter)) & 0x7fff; // MPI_TAG_UB is at least this
  if (done)
    done = module->connect(worldRanks, tag, engine);
  return done;
}

} // namespace braid::runtime
