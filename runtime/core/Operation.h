//===- Operation.h - a planned operation and its execution --------------------------------------------------------===//
//
// A start arms the plan's lanes; progress executes what can be executed without waiting, and is called for all operations
// in flight by whoever waits for one of them. Nothing is allocated between start and the end.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_OPERATION_H
#define BRAID_RUNTIME_CORE_OPERATION_H

#include "core/Attachments.h"
#include "core/Direct.h"
#include "core/Plan.h"
#include "core/Work.h"
#include "engines/Engine.h"

namespace braid::runtime {

class Communicator;
class Staging;

class Operation {
public:
  /// `pointToPoint`: number of a send or recv among those that this rank has planned. `staging`: of buffers on a device, in
  /// whose place the plan has memory of the host; null: there are none. `direct`: unless it has the device's, if all ranks can.
  /// `byEngine`: runs it, in the plan's place; null: the plan does. `lanesTaken`: at least the plan's.
  Operation(Communicator &comm, Request request, Plan plan, Attachments attached, std::unique_ptr<Staging> staging,
            Direct *direct, Directness directness, std::unique_ptr<EngineOperation> byEngine, int firstLane,
            int lanesTaken, int queue, uint64_t pointToPoint);
  ~Operation();
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  /// Takes buffers of the same sizes, by a plan that is remembered or made now.
  Outcome rebind(const braid_buffer *buffers, size_t count);
  /// `turnOf`: an operation that uses the same lane and has to end first (send, recv); null: none. `stream`: whose work comes
  /// before it, where it has staging.
  Outcome start(Operation *turnOf, void *stream);
  /// Executes what can be executed. True: something moved. Errors go to the communicator.
  bool progress();
  /// What comes next in `stream` finds the results.
  Outcome handOver(void *stream);
  /// Whether its buffers are read and written in the order of streams.
  bool followsStreams() const { return staging || (byEngine && request.memory != BRAID_MEMORY_HOST); }

  enum State { Idle, Fetching, Queued, Agreeing, Running, Done }; ///< Fetching: operands come from a device
  State state = Idle;
  Operation *turnOf = nullptr;
  double startedAt = 0;            ///< seconds
  double beganAt = 0, endedAt = 0; ///< the last execution, on the communicator's clock
  bool overlaps = false;           ///< it is awaited late: the progress thread drives it
  Request request;
  const int firstLane; ///< of the transport, where this rank takes messages; the plan's lane i is this one + i
  const int queue;     ///< of the family; 0: none
  std::unique_ptr<Staging> staging;
  const std::unique_ptr<EngineOperation> byEngine;
  int lanes() const { return int(lane.size()); }
  const int lanesTaken; ///< from firstLane on
  /// What this rank says about its part.
  Directness directness;
  /// What a peer has said; that it can't is so for all.
  void hears(int peer, Directness said) {
    if (said != Directness::Can && refuser < 0) {
      refuser = peer;
      refusal = said;
    }
  }
  int refuser = -1; ///< which rank can't
  Directness refusal = Directness::Can;
  bool isDirect() const { return direct && !undecided; }
  /// NICs read and write the buffers on the device.
  bool isGpuDirect() const;
  /// It can only go on when a device has done something, which rings no bell.
  bool awaitsDevice() const;
  /// Where a peer takes them, by its announcement: it differs where ranks destroy operations in different orders.
  void reaches(int peer, int firstLane) { peerLane[size_t(peer)] = firstLane; }

  /// "step 3: nothing from rank 2": what it waits for. `peer`: that rank and the lane of the transport, -1 if it waits for
  /// none.
  std::string waitsFor(int *peer = nullptr, int *onLane = nullptr) const;
  /// Earliest time of the transport's clock at which a lane goes on; negative: none waits for a time.
  double wakeTime() const;

  /// In flight no more: it slows no computation.
  void land();

private:
  Outcome takeOperands();
  Outcome begin();
  bool decide();
  Outcome stageFrom(const Request &wanted);
  Outcome planFor(const Request &wanted, Plan &made);
  void release(Plan &plan);
  bool report(const Outcome &outcome);
  struct OutState {
    size_t sent = 0, offered = 0; ///< by the steps; to the transport
    uint64_t base = 0;            ///< accepted before this execution
    int lane = 0;                 ///< of the transport, where the peer takes it
  };
  struct LaneState {
    size_t next = 0;
    bool done = false;
    double notBefore = 0; ///< of the transport's clock
    std::vector<OutState> out;
    bool busy = false;    ///< a device has not done all that steps have told it
    std::vector<int> due; ///< peers whose message is accepted then
  };

  void launch();
  bool progressByEngine();
  void route();
  bool progressLane(size_t index);
  bool pump(size_t index, size_t outbox);
  bool quiet(size_t index);
  bool told(size_t index, const Outcome &outcome);
  bool clear(size_t index, const PlannedStep &step);
  bool take(size_t index, const PlannedStep &step);
  bool checkMessage(const PlannedStep &step, const Message &message);
  Outcome execute(const Copy &copy) const;
  Outcome execute(const std::vector<Copy> &copies) const;
  Outcome settle();
  void finish();

  /// A plan for other buffers than those in use.
  struct Other {
    std::vector<Tensor> tensors;
    Plan plan;
  };

  Communicator &comm;
  Direct *direct;       ///< null: messages are of the host
  bool undecided;       ///< other ranks may not be able to
  Transport *transport; ///< of the communicator, or direct's
  std::unique_ptr<Work> work;
  Plan plan;
  Attachments attached;
  const bool lands;          ///< messages may land where steps want them
  const bool data;           ///< messages carry their bytes
  std::vector<Other> others; ///< used last first
  std::vector<LaneState> lane;
  std::vector<int> peerLane; ///< each rank's first lane
  size_t lanesLeft = 0;
  size_t copied = 0;      ///< of plan.during
  bool agreed = false;    ///< the ranks have compared what this operation is
  uint64_t agreement = 0; ///< number of the collective, equal on all ranks
  // Where its delays are drawn on an emulated fabric (MessagePlace):
  uint64_t place = 0;      ///< of the operation
  uint32_t firstPlace = 0; ///< of its lanes
  uint64_t executions = 0; ///< in this step; of all, where no steps are announced
  uint64_t inStep = 0;
  bool inFlight = false; ///< it is counted, as it slows computation
};

} // namespace braid::runtime

#endif
