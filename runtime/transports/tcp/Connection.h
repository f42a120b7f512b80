//===- Connection.h - one peer: lanes, what waits to be sent, what has landed --------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_TCP_CONNECTION_H
#define BRAID_RUNTIME_TRANSPORTS_TCP_CONNECTION_H

#include "bootstrap/Socket.h"
#include "transports/Transport.h"
#include "transports/tcp/Buffers.h"
#include "transports/tcp/Frame.h"
#include <deque>
#include <string>
#include <vector>

namespace braid::runtime::tcp {

class Connection {
public:
  Connection(Socket socket, BufferPool &pool, TransportCounters &counters);
  ~Connection();

  bool offer(int lane, const void *data, size_t bytes, uint16_t note);
  uint64_t accepted(int lane); ///< messages whose bytes the kernel has taken
  bool peek(int lane, Message &message);
  void accept(int lane);

  /// Sends and receives what can be done now; `read`: also looks for bytes when nobody has asked for any.
  void progress(bool read);
  /// No more but these words goes out; `dead`: the rank whose death they tell of, -1: this one gives up.
  void abort(const std::string &why, int dead = -1);
  void bye();

  enum State {
    Open,
    Left,    ///< the peer said farewell: no more comes
    Lost,    ///< it ended without a farewell
    Aborted, ///< it gave up; `reason` says why
    Broken   ///< what it sent is no frame, or the system refused something; `reason`
  };
  State state() const { return now; }
  const std::string &reason() const { return why; }
  int dead() const { return died; } ///< Aborted: the rank that the peer has lost; -1: it gave up by itself
  bool sending() const { return !out.empty() && now == Open; }
  bool drained() const; ///< everything sent has arrived at the peer's host, or never will
  void finishSending(); ///< no more goes out; the peer sees the end behind the last byte
  int fd() const { return socket.fd(); }

private:
  struct Lane {
    uint64_t offered = 0, written = 0, credited = 0; // sender
    std::deque<uint64_t> sizes;                      // of messages offered and not credited
    uint64_t outstanding = 0;                        // their bytes
    std::deque<Buffer> landed;                       // receiver
    uint64_t consumed = 0, told = 0, untoldBytes = 0;
  };
  struct Outgoing {
    Frame frame;
    const char *data;
    size_t bytes;
  };
  Lane &at(int lane);
  void queue(Frame::Kind kind, int lane, uint64_t value, const char *data = nullptr, size_t bytes = 0,
             uint16_t note = 0);
  void send();
  void receive();
  void parse();
  bool header();
  void arrived();
  void end(State state, std::string reason);

  Socket socket;
  BufferPool &pool;
  TransportCounters &counters;
  std::vector<Lane> lane;
  std::deque<Outgoing> out;
  size_t sent = 0;   // of the first one
  std::string owned; // bytes of what outlives the caller's buffers: a reason, the rest of a message that was begun
  std::string reasonToSend;
  bool wanted = false, mute = false;

  std::vector<char> stage; // what was read beyond a message
  size_t from = 0, to = 0; // its part that is not parsed yet
  Frame frame;             // of the message that is landing
  Buffer landing;
  size_t got = 0;
  bool inside = false; // a frame has begun and its bytes are not all there
  State now = Open;
  int died = -1;
  std::string why;
};

} // namespace braid::runtime::tcp

#endif
