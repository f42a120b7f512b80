//===- Peer.h - one other rank: control messages, lanes, and what moves ------------------------------------------------===//
//
// Protocol.h says what happens. Control.cpp: control messages. Lanes.cpp: messages of lanes. Moves.cpp: reads and writes, dealt over
// queue pairs. Failover.cpp: rails that fail.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_PEER_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_PEER_H

#include "transports/Transport.h"
#include "transports/verbs/Rail.h"
#include <chrono>
#include <deque>

namespace braid::runtime::verbs {

/// What connects two ranks over one rail.
struct Link {
  enum State {
    Up,
    Draining, ///< in the error state; completions are still to come
    Drained,  ///< the peer may not have said so yet
    Down
  } state = Up;
  std::vector<std::unique_ptr<QueuePair>> pairs; ///< control, then data
  std::vector<int> requests;                     ///< of each, under way
  std::vector<int> expecting;                    ///< receives of each for parts of messages (mode send)
  std::vector<std::deque<unsigned>> waiting;     ///< moves that wait for room, of each
  int posted = 0;                                ///< requests and receives without a completion
  char *receives = nullptr;                      ///< slots of control messages
  std::chrono::steady_clock::time_point since;   ///< when it failed
  bool peerDrained = false;
  uint32_t peerReceived = 0;
};

class Peer {
public:
  Peer(Common &common, int index, std::vector<Link> links);
  ~Peer();
  Peer(const Peer &) = delete;
  Peer &operator=(const Peer &) = delete;

  /// Posts the receives, which must be there before the peer sends.
  Outcome prepare();

  bool offer(int lane, const void *data, size_t bytes, uint16_t note);
  uint64_t accepted(int lane);
  void land(int lane, void *to, size_t bytes, uint16_t note);
  bool peek(int lane, Message &message);
  void accept(int lane);
  /// Messages that the peer has sent and that can still come by themselves.
  bool expects(int lane);
  /// Moves of the lane go over this queue pair for data; negative: over all.
  void route(int lane, bool sends, int pair, int rail);

  void completed(int rail, const RequestId &id, const Completion &completion);
  /// The rail goes no further, for this peer.
  void fail(int rail, const std::string &why);
  void peerDown(const RailDown &down);
  /// Looks whether what was to end has ended.
  void look();
  /// Nothing moves any more, here or from the peer: the caller's memory is free.
  void stop();
  /// Control messages and moves that are under way, and messages that the peer has yet to read from here.
  bool sending() const { return !gone && (controlUnderWay() || !backlog.empty() || movesUnderWay > 0 || isRead()); }
  /// Nothing waits here that the peer may wait for.
  bool settled() const { return backlog.empty() || stopped || gone; }
  /// After stop: all work requests have ended.
  bool still() const {
    for (const Link &link : links)
      if (link.posted > 0)
        return false;
    return true;
  }
  void left() { gone = true; }

private:
  struct Buffer {
    char *data = nullptr;
    size_t bytes = 0;
  };
  struct Sent {
    bool free = false;     ///< the caller may overwrite it
    bool finished = false; ///< nothing of it is under way
    unsigned parts = 0;    ///< written or sent, and not acknowledged
    Buffer data;           ///< of one that was offered
    Buffer staging;
  };
  struct Granted {
    bool given = false;
    uint64_t message = 0, bytes = 0, address = 0;
    uint16_t note = 0;
    uint32_t keys[mostRails] = {};
  };
  struct Incoming {
    enum State : uint8_t { Absent, Offered, Moving, Ready } state = Absent;
    uint16_t note = 0;
    uint16_t come = 0; ///< parts that were written, as bits
    unsigned left = 0; ///< parts that are being read; in other modes: that come
    char *data = nullptr;
    size_t bytes = 0;
    uint64_t address = 0;
    uint32_t keys[mostRails] = {};
    Buffer landing; ///< of the pool
    tcp::Buffer small;
  };
  struct Landing {
    bool asked = false, granted = false; ///< for the oldest message
    char *to = nullptr;
    size_t bytes = 0;
    uint16_t note = 0;
  };
  struct Lane {
    // Sender:
    uint64_t offered = 0, credited = 0, counted = 0, first = 0;
    std::deque<Sent> sent; ///< from message `first` on
    Granted grant;
    int outPair = -1, outRail = -1;
    // Receiver:
    uint64_t taken = 0, told = 0;
    std::deque<Incoming> incoming; ///< from message `taken` on
    Landing landing;
    unsigned ungranted = 0; ///< so many messages are not granted: the last grant came too late
    int inPair = -1, inRail = -1;
  };
  /// A part that a receive was posted for.
  struct Expected {
    int lane = 0;
    uint64_t message = 0;
    unsigned part = 0, parts = 0;
  };
  /// A read, write or send of one part.
  struct Move {
    enum Kind : uint8_t { Write, Read, ReadPart, Send } kind = Write;
    bool used = false, lost = false;
    uint8_t part = 0, parts = 1;
    int lane = 0, rail = 0, pair = 0;
    uint64_t message = 0;
    char *local = nullptr;
    uint64_t bytes = 0, remote = 0, offset = 0;
    uint32_t keys[mostRails] = {};
    bool goesOut() const { return kind == Write || kind == Send; }
  };

  Lane &at(int lane);
  bool isRead() const;
  Incoming *incoming(Lane &lane, uint64_t message);
  bool keys(const void *memory, size_t bytes, unsigned access, uint32_t (&to)[mostRails]) const;
  void broken(const std::string &what);

  // Control.cpp
  bool roomForControl() const;
  uint32_t controlUnderWay() const { return next - acknowledged; }
  void say(const Control &control);
  void transmit(const Control &control, const void *payload = nullptr);
  void postControl(uint32_t sequence);
  void flushBacklog();
  int postControlReceive(int rail, unsigned slot);
  void heard(const char *slot, uint32_t bytes);
  void handle(const Control &control, const char *payload);

  // Lanes.cpp
  bool write(Lane &lane, int index, const void *data, size_t bytes, uint16_t note);
  void fetch(Lane &lane, int index, Incoming &one, bool intoLanding);
  bool receiveParts(int index, Incoming &one, uint64_t message);
  void come(int lane, uint64_t message, unsigned part, unsigned parts);
  void finishWrite(const Move &move);
  void finishSent(Lane &lane);
  void answer(Lane &lane, Sent &sent, const Control &control);

  // Moves.cpp
  unsigned partsOf(size_t bytes, int pair) const;
  unsigned add(const Move &move);
  void deal(const Move &whole, unsigned parts, int pair, int rail);
  void begin(unsigned move, int pair, int rail);
  bool post(unsigned move);
  void moved(unsigned index);
  int dataPairs() const { return int(links[0].pairs.size()) - 1; }

  // Failover.cpp
  void drained(int rail);
  void resume(int rail);
  void pull(unsigned move);
  int anyUp() const;

  Common &common;
  const int index;
  std::vector<Link> links;
  std::vector<std::unique_ptr<Lane>> lane;
  std::vector<Move> moves;
  std::vector<unsigned> freeMoves, homeless; ///< homeless: their rail fails, and they were not posted
  int movesUnderWay = 0;
  unsigned turn = 0;              ///< of dealing
  int grants = 0;                 ///< given, without their message
  std::vector<Expected> expected; ///< by the index of the receive's id
  std::vector<unsigned> freeExpected;
  bool gone = false, stopped = false, failing = false, resend = false;
  std::string reason; ///< the first rail's

  // Control messages:
  int controlRail = 0;
  char *slots = nullptr; ///< of those that are sent
  uint32_t sizes[controlDepth] = {};
  uint32_t next = 0, acknowledged = 0, consumedThere = 0; ///< sent; sent for good; received by the peer
  uint32_t received = 0, told = 0;
  std::deque<Control> backlog;
};

} // namespace braid::runtime::verbs

#endif
