//===- Socket.h - TCP sockets that never block and close themselves -----------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_SOCKET_H
#define BRAID_RUNTIME_BOOTSTRAP_SOCKET_H

#include "bootstrap/Deadline.h"
#include <cstdint>
#include <string>
#include <utility>

namespace braid::runtime {

/// Owns a descriptor: non-blocking, closed on exec.
class Socket {
public:
  Socket() = default;
  explicit Socket(int fd) : descriptor(fd) {}
  Socket(Socket &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    if (this != &other) {
      close();
      descriptor = std::exchange(other.descriptor, -1);
    }
    return *this;
  }
  ~Socket() { close(); }
  int fd() const { return descriptor; }
  explicit operator bool() const { return descriptor >= 0; }
  void close();

private:
  int descriptor = -1;
};

struct Address {
  std::string host;
  uint16_t port = 0;
  std::string text() const;
  bool loopback() const; ///< 127.0.0.0/8, ::1 or localhost
};

/// "host:port" or "[2001:db8::1]:port".
Outcome parseAddress(const std::string &text, Address &address);
/// Listens on this host name or number only, never on all interfaces unless asked for by 0.0.0.0; port 0: any that is free.
Outcome listenOn(const Address &address, Socket &listener, Address &bound);
/// Tries each of the host's addresses once. A refusal is an answer at once, not at the deadline.
/// `from`: the address and the port that it comes from; null: the system's choice.
Outcome connectTo(const Address &address, Deadline deadline, Socket &socket, const Address *from = nullptr);
Address localAddress(const Socket &socket);
std::string peerAddress(const Socket &socket);

/// Small messages leave at once; a peer whose host is gone is noticed within about 20 s while nothing is sent, one
/// that has ended at once, also where it has forked.
void tuneConnection(const Socket &socket);

Outcome sendAll(const Socket &socket, const void *data, size_t size, Deadline deadline);
Outcome receiveAll(const Socket &socket, void *data, size_t size, Deadline deadline);

} // namespace braid::runtime

#endif
