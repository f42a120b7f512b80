//===- Communicator.h - ranks that operate together ---------------------------------------------------------------===//
//
// Owns the transport, hands out its lanes, and drives the operations in flight. Once it has failed it stays failed.
//
// A rank takes an operation's messages on lanes of its own choice, which it announces, since ranks may destroy operations
// in different orders. After A (lane 1), B (2): rank 0 destroys A and plans C (1), rank 1 plans C (3) and destroys A. Were
// lanes the same by assumption, rank 1 would send C's messages to where rank 0 takes those of its next operation.
//
// Lanes of the transport:   0 what operations are (see announce)   1 .. 3069 collectives
//                           3070 what devices reach (see Direct)           3071 what ranks wait for (see WaitNotes)
//                           3072 .. 4095 send and recv, by tag
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_COMMUNICATOR_H
#define BRAID_RUNTIME_CORE_COMMUNICATOR_H

#include "core/DeviceMemory.h"
#include "core/Family.h"
#include "core/Operation.h"
#include "core/Progress.h"
#include "core/Transports.h"
#include "core/WaitNotes.h"
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace braid::runtime {

struct CommunicatorOptions {
  std::string transport, profile;
  uint64_t seed = 0;
  double deadline = 60;
  uint64_t job = 0;    ///< emulated
  std::string clock;   ///< emulated
  std::string paths;   ///< tcp
  std::string engine;  ///< or several (engines/Engines.h); empty: braid
  std::string islands; ///< engines of parts of it (engines/islands/Layout.h); empty: it has none
};

class Communicator {
public:
  /// Of the job's ranks `members`, in this order; the exchange's rank is among them. `key`: unique in the exchange. `parent`: of
  /// a subset.
  static Outcome create(std::shared_ptr<Exchange> exchange, std::vector<int> members, const std::string &key,
                        const CommunicatorOptions &options, std::unique_ptr<Communicator> &comm,
                        Communicator *parent = nullptr);
  ~Communicator();

  int rank() const { return me; }
  int size() const { return int(members.size()); }
  /// As the indices of the hosts' first ranks; empty: all on one.
  const std::vector<int> &hostsOfRanks() const { return hosts; }
  Transport &transport() { return *carrier; }
  const std::shared_ptr<Family> &relatives() const { return family; }
  /// "rank 3", its number in the job; where a subset numbers its ranks in another way, "rank 3 of the job".
  std::string named(int rank) const;

  Outcome subset(const int32_t *ranks, size_t count, std::unique_ptr<Communicator> &comm);
  Outcome agree(uint64_t hash);
  /// From any thread, also while another one waits.
  Outcome abort(const std::string &why);
  /// Computation, on the transport's clock; operations in flight go on, and may slow it. `slowed`: by how much it was longer than
  /// `seconds`, as the fabric states it.
  Outcome sleep(double seconds, double *slowed = nullptr);
  double now();
  /// All ranks leave it at one time on an emulated clock, `begin`.
  Outcome step(uint64_t job, uint64_t number, double &begin);
  void *allocate(size_t bytes);
  /// Of any kind.
  Outcome allocate(braid_memory kind, size_t bytes, void *&memory);
  void release(void *memory);

  Outcome plan(const braid_op_options &options, Operation *&operation);
  /// Other buffers for an operation that is not in flight; other ranks need not know.
  Outcome rebind(Operation &operation, const braid_buffer *buffers, size_t count);
  /// `stream`: of a device, before and after which it comes; for buffers of the host null.
  Outcome start(Operation &operation, void *stream = nullptr);
  Outcome wait(Operation &operation, void *stream = nullptr);
  Outcome test(Operation &operation, bool &done);
  Outcome destroy(Operation *operation);
  /// Whether it has ended, without driving it.
  bool ended(const Operation &operation) {
    std::lock_guard<std::mutex> lock(mutex);
    return operation.state == Operation::Done;
  }
  /// When its last execution started and ended, on the clock of now().
  void times(const Operation &operation, double &began, double &ended) {
    std::lock_guard<std::mutex> lock(mutex);
    began = operation.beganAt;
    ended = operation.endedAt;
  }
  size_t planned() const { return operations.size() - (hashes ? 1 : 0); }

  // For an engine that is made of communicators, of ranks of this one.
  Outcome makeInner(const std::vector<int> &ranks, const std::string &engine, std::unique_ptr<Communicator> &inner);
  /// All ranks have been able to make theirs.
  Outcome agreeOnInner(const std::string &what, const Outcome &mine);
  /// Starts the operation, or drives it, without waiting, also not for another thread that has this communicator.
  Outcome driveInner(Operation &operation, bool &done);
  Outcome innerFault();
  /// It is of no use any more; what is in flight will not be awaited.
  void endInner();

  // For operations.
  void fail(braid_status status, const std::string &text, bool tell = true);
  /// Tells all ranks, once for each operation and at its first start, what the operation is; gives its number, and that of its
  /// first lane among the lanes of all operations that were announced.
  uint64_t announce(const Operation &operation, uint32_t &place);
  /// Whether all ranks have said the same for this number; tells the operation their lanes. A difference fails the
  /// communicator.
  bool agreedOn(Operation &operation, uint64_t number);
  /// Which rank has not said it yet, in words and as a number.
  std::string notAgreed(uint64_t number, int &rank) const;
  uint64_t stepsBegun() const { return family->begun; } ///< 0: steps are not announced
  uint64_t stepNumber() const { return family->step; }
  /// Whether all ranks have found out whether the operation is direct, as all say that their buffers are fit for it, and whether
  /// it `is`.
  bool decided(const Operation &operation, Direct &direct, bool &is);
  static constexpr int directLane = 3070; ///< where they do
  /// Whether the engine's operations that were started before it have been launched.
  bool mayLaunch(const Operation &operation) const;
  /// Of this rank, on its fabric.
  std::atomic<int> &inFlight() { return family->inFlight[crossesHosts]; }
  bool works() const { return bool(failure); } ///< it has not failed
  bool hasTurn(const Operation &operation) { return family->hasTurn(operation); }
  std::string waitsForTurn(const Operation &operation) { return family->waitsFor(operation); }

private:
  friend class ProgressThread;
  friend class Family;
  static constexpr int collectiveLanes = 3070; ///< with lane 0, for announcements
  static constexpr int noteLane = 3071, tagLanes = 3072;
  Communicator() = default;

  Outcome connectSubset(const std::vector<int> &ranks, const CommunicatorOptions &wanted,
                        std::unique_ptr<Communicator> &comm);
  Outcome begin(Operation &operation, void *stream);
  bool progress();
  bool progressOwn();
  void armOwn(Clock &clock);
  Outcome drive(Operation &operation, std::unique_lock<std::mutex> &lock);
  void armClock(Clock &clock);
  Outcome greet();
  bool whole() const; ///< its ranks have the same numbers in the job
  std::string group() const;
  void farewell(bool good, const std::string &why);
  void findHosts();
  Outcome connectEngines(Communicator *parent);
  int ownDevice() const;
  bool planGpuDirect(const Request &request, Staging &staging, Plan &plan, Attachments &attached);
  Directness chooseDirect(const Request &request, const Staging &staging, Outcome &done);
  void logDirect(const std::string &how);
  void logOnce(const std::string &text);
  Outcome planByEngine(const Request &request, std::unique_ptr<EngineOperation> &operation);
  void lookForFaults();
  /// `operation` has made this rank wait for `waited` seconds: says so, and at the deadline fails with what both wait for.
  void waitedFor(const Operation &operation, double waited);
  bool lookForLeavers();
  bool talk();
  Outcome takeLanes(const Request &request, int count, int &first);
  Outcome failedHere() const { return failure; }
  bool polls() const; ///< some operation waits for a device or an engine, which ring no bell

  /// What a rank says about an operation, one message on lane 0.
  struct Announcement {
    uint64_t hash;
    int32_t firstLane; ///< where the rank takes its messages
    char text[99];
    Directness directness;
    uint64_t gives, takes; ///< ragged: elements that it sends to who is told, and expects from it
  };
  struct Said {
    std::vector<Announcement> each; ///< to all the same, or to each rank its own
    const Announcement &to(int peer) const { return each[each.size() > 1 ? size_t(peer) : 0]; }
  };
  struct Told {
    std::deque<std::optional<Announcement>> heard; ///< from a peer, from number `first` on; none: it was of use already
    uint64_t first = 0;
    uint64_t offered = 0; ///< of ours, to the peer
  };
  bool sizesAgree(const Operation &operation, int peer, const Announcement &heard);

  std::shared_ptr<Exchange> exchange;
  std::vector<int> members;
  std::vector<int> hosts; ///< of each member
  uint64_t scope = 0;     ///< this communicator for the launcher
  int me = 0;
  std::string key;
  CommunicatorOptions settings;
  std::shared_ptr<Family> family;
  size_t failuresBefore = 0; ///< of the family, when this one was made
  bool crossesHosts = false;
  std::deque<Said> said;            ///< sent from where it lies, as notes are: both outlive the transport
  std::unique_ptr<WaitNotes> notes; ///< made when somebody has waited for long
  std::unique_ptr<Transport> carrier;
  std::unique_ptr<Direct> direct; ///< made for the first operation on a device that could be
  std::set<std::string> logged;
  std::vector<std::string> engineNames;                   ///< the first: of operations that name none
  std::map<std::string, std::unique_ptr<Engine>> engines; ///< all but braid
  std::map<std::vector<int>, int> subsets;

  std::atomic<int> aborting{0}; ///< threads in abort; who waits lets them have the mutex
  std::mutex mutex;             ///< of everything below: the caller's thread and the progress thread
  Outcome failure;
  DeviceMemory deviceMemory;
  std::set<std::unique_ptr<Operation>> operations;
  std::vector<Operation *> active; ///< in the order of their starts
  std::set<int> freeLanes;
  uint64_t pointToPoint = 0; ///< sends and receives planned so far
  uint64_t saidFirst = 0, announced = 0;
  uint32_t lanesAnnounced = 1; ///< as lanes themselves are counted
  std::vector<Told> told;
  bool unsaid = false; ///< an announcement was not taken by the transport yet
  unsigned tests = 0;
  int agreeing = 0;        ///< operations in flight that wait for announcements
  bool parted = false;     ///< its peers have been told how it ends
  bool threadless = false; ///< the system refused the progress thread

  Operation *hashes = nullptr; ///< of agree
  std::vector<uint64_t> hashesOfAll;
  uint64_t ownHash = 0;
  std::unique_ptr<ProgressThread> thread;
};

} // namespace braid::runtime

#endif
