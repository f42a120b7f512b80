//===- Make.cpp - "emulated+shm" and its like, by name ----------------------------------------------------------===//
//
// A job has one emulation, whose links all of its communicators share: the communicator of all ranks makes it, the others find
// it in a table of this process. Its memory is an anonymous file (memfd) of the first rank, which the others open through /proc:
// it has no name that could be left behind.
//
// The options `clock` (wall, the default, or virtual) and `job` (the number of the job whose draws apply) come from the
// environment, BRAID_EMULATED_CLOCK and BRAID_EMULATED_JOB, where the program has not set them.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Transports.h"
#include "transports/emulated/Emulated.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::runtime {

namespace {

std::mutex seatsLock;
/// By the exchange of a rank, which its communicators share.
std::map<const Exchange *, std::weak_ptr<EmulatedSeat>> seats;

/// A file of the region, and its mapping, for as long as the emulation lives.
struct Region {
  int file = -1;
  void *memory = MAP_FAILED;
  size_t bytes = 0;
  ~Region() {
    if (memory != MAP_FAILED)
      munmap(memory, bytes);
    if (file >= 0)
      close(file);
  }
};

Outcome systemError(const std::string &what) {
  return {BRAID_SYSTEM, "emulated: " + what + ": " + std::strerror(errno)};
}

Outcome readSettings(const TransportContext &context, EmulatedProfile &profile, EmulationOptions &options,
                     uint64_t &job) {
  if (context.profile.empty())
    return {BRAID_INVALID,
            "emulated: profile: expected that of a cluster, as braid-sim emit-profile writes it, got none"};
  bool text = context.profile[context.profile.find_first_not_of(" \n\t")] == '{';
  std::string error =
      text ? EmulatedProfile::parse(context.profile, profile) : EmulatedProfile::read(context.profile, profile);
  if (!error.empty())
    return {BRAID_INVALID, "emulated: profile: " + error + " (expected what braid-sim emit-profile writes)"};
  const char *clock = std::getenv("BRAID_EMULATED_CLOCK");
  std::string named = !context.clock.empty() ? context.clock : clock && *clock ? clock : "wall";
  if (named != "wall" && named != "virtual")
    return {BRAID_INVALID, std::string(context.clock.empty() ? "BRAID_EMULATED_CLOCK" : "clock") +
                               ": expected wall or virtual, got '" + named + "'"};
  options.time = named == "wall" ? EmulatedTime::Wall : EmulatedTime::Virtual;
  options.seed = context.seed ? context.seed : 1;
  job = context.job;
  const char *given = std::getenv("BRAID_EMULATED_JOB");
  std::string number = given ? given : "";
  if (job == 0 && number != "") {
    auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), job);
    if (wrong != std::errc() || end != number.data() + number.size())
      return {BRAID_INVALID,
              "BRAID_EMULATED_JOB: expected a number from 0 to 18446744073709551615, got '" + number + "'"};
  }
  return {};
}

/// Maps the region that rank 0 has told of. `own`: this is rank 0, whose file it is.
Outcome openRegion(const std::string &told, bool own, Region &region) {
  int process = 0, file = -1;
  if (std::sscanf(told.c_str(), "%d %d", &process, &file) != 2 || process <= 0 || file < 0)
    return {BRAID_MISMATCH, "emulated: expected process and descriptor of rank 0, got '" + told + "'"};
  std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  if (!own)
    region.file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status = {};
  if (region.file < 0 || fstat(region.file, &status) != 0)
    return systemError(path);
  if (size_t(status.st_size) != region.bytes)
    return {BRAID_MISMATCH, "emulated: expected " + std::to_string(region.bytes) + " bytes to share, got " +
                                std::to_string(status.st_size) + "; do the ranks have the same profile?"};
  region.memory = mmap(nullptr, region.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region.file, 0);
  if (region.memory == MAP_FAILED)
    return systemError("mapping " + std::to_string(region.bytes) + " bytes");
  return {};
}

/// All ranks of the job: maps one region.
Outcome makeSeat(const TransportContext &context, std::shared_ptr<EmulatedSeat> &seat) {
  EmulatedProfile profile;
  EmulationOptions options;
  uint64_t job = 0;
  if (Outcome read = readSettings(context, profile, options, job); !read)
    return read;
  if (context.size() != context.exchange.ranks())
    return {BRAID_INVALID, "emulated: expected a first communicator of all " +
                               std::to_string(context.exchange.ranks()) + " ranks, got one of " +
                               std::to_string(context.size())};
  if (profile.ranks != context.size())
    return {BRAID_INVALID,
            "emulated: expected a profile of " + std::to_string(context.size()) +
                " ranks, as the job has, got one of " + std::to_string(profile.ranks) +
                " (braid-sim emit-profile --placement host:gpu,... makes one of fewer than its cluster's)"};
  auto region = std::make_shared<Region>();
  region->bytes = Emulation::regionBytes(profile, options);
  std::string mine;
  Outcome problem;
  if (context.me == 0) {
    region->file = memfd_create("braid-emulated", MFD_CLOEXEC);
    if (region->file < 0 || ftruncate(region->file, off_t(region->bytes)) != 0)
      problem = systemError("memory for " + std::to_string(region->bytes) + " bytes");
    else
      mine = std::to_string(getpid()) + " " + std::to_string(region->file);
  }
  std::vector<std::string> all; // also on failure: the others wait for it
  Outcome met = context.exchange.allgather(context.key + "/emulated", context.members, mine, context.deadline, all);
  if (!problem || !met)
    return problem ? met : problem;
  if (all[0].empty())
    return {BRAID_SYSTEM, "emulated: rank 0 has no memory to share"};
  // Nobody's file is closed, or process over, before all have opened it; who can't lets nobody wait.
  Outcome opened = context.exchange.agree(context.key + "/emulated-open", context.members,
                                          openRegion(all[0], context.me == 0, *region), context.deadline);
  if (!opened)
    return opened;
  std::shared_ptr<Emulation> made = Emulation::attach(std::move(profile), options, region->memory, context.me == 0);
  // The mapping goes after the emulation.
  std::shared_ptr<Emulation> kept(made.get(), [made, region](Emulation *) mutable { made.reset(); });
  made.reset();
  seat = std::make_shared<EmulatedSeat>(std::move(kept), context.me);
  seat->setJob(job);
  return {};
}

} // namespace

Outcome makeEmulatedTransport(const TransportContext &context, const std::string &innerName,
                              std::unique_ptr<Transport> &transport) {
  std::shared_ptr<EmulatedSeat> seat;
  {
    std::lock_guard<std::mutex> lock(seatsLock);
    auto found = seats.find(&context.exchange);
    if (found != seats.end())
      seat = found->second.lock();
  }
  int communicator = 0, place = 0;
  std::unique_ptr<Transport> inner;
  if (!seat) {
    if (Outcome made = makePlainTransport(innerName, context, inner); !made)
      return made;
    if (Outcome made = makeSeat(context, seat); !made)
      return made;
    std::lock_guard<std::mutex> lock(seatsLock);
    for (auto old = seats.begin(); old != seats.end();)
      old = old->second.expired() ? seats.erase(old) : std::next(old);
    seats[&context.exchange] = seat;
  } else { // the caller does not hold time up meanwhile (Communicator::subset)
    std::string mine = std::to_string(seat->communicators);
    if (context.me == 0)
      mine += " " + std::to_string(1 + seat->emulation->newCommunicator());
    std::vector<std::string> all;
    Outcome met = makePlainTransport(innerName, context, inner);
    if (met)
      met = context.exchange.allgather(context.key + "/emulated", context.members, mine, context.deadline, all);
    if (!met)
      return met;
    // Who asks first gets the first number, so draws have another one: it differs among the communicators of each rank, and is the
    // same in every run.
    for (size_t i = 0; i < all.size(); ++i) {
      int theirs = -1, number = 1;
      int read = std::sscanf(all[i].c_str(), "%d %d", &theirs, i == 0 ? &communicator : &number);
      if (read != (i == 0 ? 2 : 1) || theirs < 0 || theirs >= Emulation::mostCommunicators || communicator < 1 ||
          communicator > Emulation::mostCommunicators)
        return {BRAID_UNSUPPORTED, "emulated: expected at most " + std::to_string(Emulation::mostCommunicators) +
                                       " subsets in a job, got '" + all[i] + "' from rank " +
                                       std::to_string(context.members[i])};
      place = std::max(place, theirs + 1);
    }
    seat->communicators = place;
  }
  auto made =
      std::make_unique<EmulatedTransport>(std::move(seat), std::move(inner), context.members, communicator, place);
  if (context.me == 0 && communicator == 0 && !made->clock()->isVirtual())
    std::fprintf(stderr, "braid: %s\n", made->description().c_str());
  transport = std::move(made);
  return {};
}

} // namespace braid::runtime
