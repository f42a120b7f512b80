//===- Socket.cpp - TCP sockets that never block and close themselves ---------------------------------------------===//
#include "bootstrap/Socket.h"
#include "core/Environment.h"
#include "core/Forks.h"
#include <arpa/inet.h>
#include <cstdlib>
#include <memory>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace braid::runtime {
namespace {

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo *)>;

Outcome resolve(const Address &address, AddressList &list) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo *found = nullptr;
  int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error)
    return {BRAID_SYSTEM,
            "address of " + address.host + ": " + (error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error))};
  list.reset(found);
  return {};
}

Address addressOf(const sockaddr_storage &storage) {
  char text[INET6_ADDRSTRLEN] = "";
  Address address;
  if (storage.ss_family == AF_INET) {
    const auto *in = reinterpret_cast<const sockaddr_in *>(&storage);
    inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    address.port = ntohs(in->sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto *in = reinterpret_cast<const sockaddr_in6 *>(&storage);
    inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
    address.port = ntohs(in->sin6_port);
  }
  address.host = text;
  return address;
}

/// Waits until the socket is ready or the deadline has passed.
bool ready(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd entry = {fd, events, 0};
    int count = poll(&entry, 1, deadline.milliseconds());
    if (count > 0)
      return true;
    if (count == 0 && deadline.passed())
      return false;
  }
}

/// An errno of send or receive as an outcome; a connection that the peer closed or lost says so in the same words.
Outcome connectionOutcome(const Socket &socket, int error) {
  if (error == 0 || error == ECONNRESET || error == EPIPE)
    return {BRAID_PEER_DIED, "the connection was closed by the other side"};
  return systemOutcome("connection to " + peerAddress(socket), error);
}

} // namespace

void Socket::close() {
  if (descriptor >= 0) {
    closesNow(descriptor);
    ::close(descriptor);
  }
  descriptor = -1;
}

std::string Address::text() const {
  bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool Address::loopback() const { return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0; }

Outcome parseAddress(const std::string &text, Address &address) {
  size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon == std::string::npos ? 0 : colon);
  std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  bool six = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (six)
    host = host.substr(1, host.size() - 2);
  bool good = !host.empty() && !port.empty() && port.size() <= 5 && (six || host.find(':') == std::string::npos);
  for (char c : port)
    good = good && c >= '0' && c <= '9';
  if (!good || std::atoi(port.c_str()) > 65535)
    return {BRAID_INVALID, "address of the store" + byVariable("BRAID_RENDEZVOUS", text) +
                               ": expected host:port, got \"" + text + "\""};
  if (std::atoi(port.c_str()) == 0) // the system would choose one, which nobody else would know
    return {BRAID_INVALID, "address of the store" + byVariable("BRAID_RENDEZVOUS", text) +
                               ": expected a port from 1 to 65535, got \"" + text + "\""};
  address.host = host;
  address.port = static_cast<uint16_t>(std::atoi(port.c_str()));
  return {};
}

Outcome listenOn(const Address &address, Socket &listener, Address &bound) {
  AddressList list(nullptr, freeaddrinfo);
  if (Outcome done = resolve(address, list); !done)
    return done;
  Outcome outcome = {BRAID_SYSTEM, "listen on " + address.text() + ": no address"};
  for (addrinfo *entry = list.get(); entry; entry = entry->ai_next) {
    Socket socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int one = 1; // a port whose last owner's connections are still fading away is free
    if (!socket || setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
        bind(socket.fd(), entry->ai_addr, entry->ai_addrlen) || listen(socket.fd(), SOMAXCONN)) {
      outcome = systemOutcome("listen on " + address.text());
      if (errno == EADDRINUSE)
        outcome.text = "listen on " + address.text() + ": expected a free port, but it is in use";
      continue;
    }
    bound = localAddress(socket);
    listener = std::move(socket);
    return {};
  }
  return outcome;
}

/// Its own end at an address and a port, which connections of the same host to other places may have, too.
static Outcome bindTo(const Socket &socket, const Address &from) {
  AddressList list(nullptr, freeaddrinfo);
  if (Outcome done = resolve(from, list); !done)
    return done;
  int one = 1;
  if (setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
      bind(socket.fd(), list->ai_addr, list->ai_addrlen))
    return systemOutcome("source port " + from.text());
  return {};
}

Outcome connectTo(const Address &address, Deadline deadline, Socket &result, const Address *from) {
  AddressList list(nullptr, freeaddrinfo);
  if (Outcome done = resolve(address, list); !done)
    return done;
  Outcome outcome = {BRAID_SYSTEM, "connect to " + address.text() + ": no address"};
  for (addrinfo *entry = list.get(); entry; entry = entry->ai_next) {
    Socket socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket)
      return systemOutcome("connect to " + address.text());
    if (Outcome bound = from ? bindTo(socket, *from) : Outcome(); !bound)
      return bound;
    int error = connect(socket.fd(), entry->ai_addr, entry->ai_addrlen) ? errno : 0;
    if (error == EINPROGRESS) {
      if (!ready(socket.fd(), POLLOUT, deadline))
        return {BRAID_TIMEOUT, "connect to " + address.text() + ": no answer by the deadline"};
      socklen_t size = sizeof error;
      getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    // Linux lets a client's port meet itself if it is the very port asked for; that is no server.
    if (!error && localAddress(socket).text() == peerAddress(socket))
      error = ECONNREFUSED;
    if (!error) {
      tuneConnection(socket);
      result = std::move(socket);
      return {};
    }
    outcome = systemOutcome("connect to " + address.text(), error);
    if (error == EADDRNOTAVAIL && from)
      outcome.text += ": from " + from->text() + ", a connection that fades away for a minute, or that is still there";
  }
  return outcome;
}

Address localAddress(const Socket &socket) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  getsockname(socket.fd(), reinterpret_cast<sockaddr *>(&storage), &size);
  return addressOf(storage);
}

std::string peerAddress(const Socket &socket) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  if (getpeername(socket.fd(), reinterpret_cast<sockaddr *>(&storage), &size))
    return "a closed connection";
  return addressOf(storage).text();
}

void tuneConnection(const Socket &socket) {
  keepFromForks(socket.fd());
  auto set = [&](int level, int option, int value) { setsockopt(socket.fd(), level, option, &value, sizeof value); };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  // No TCP_USER_TIMEOUT: it would end connections to a rank that computes for long and reads nothing meanwhile.
}

Outcome sendAll(const Socket &socket, const void *data, size_t size, Deadline deadline) {
  const char *at = static_cast<const char *>(data);
  while (size) {
    ssize_t sent = send(socket.fd(), at, size, MSG_NOSIGNAL);
    if (sent > 0) {
      at += sent;
      size -= static_cast<size_t>(sent);
    } else if (sent < 0 && errno == EAGAIN) {
      if (!ready(socket.fd(), POLLOUT, deadline))
        return {BRAID_TIMEOUT, "send to " + peerAddress(socket) + ": nothing taken by the deadline"};
    } else if (sent < 0 && errno != EINTR) {
      return connectionOutcome(socket, errno);
    }
  }
  return {};
}

Outcome receiveAll(const Socket &socket, void *data, size_t size, Deadline deadline) {
  char *at = static_cast<char *>(data);
  while (size) {
    ssize_t got = recv(socket.fd(), at, size, 0);
    if (got > 0) {
      at += got;
      size -= static_cast<size_t>(got);
    } else if (got == 0) {
      return connectionOutcome(socket, 0);
    } else if (errno == EAGAIN) {
      if (!ready(socket.fd(), POLLIN, deadline))
        return {BRAID_TIMEOUT, "receive from " + peerAddress(socket) + ": nothing came by the deadline"};
    } else if (errno != EINTR) {
      return connectionOutcome(socket, errno);
    }
  }
  return {};
}

} // namespace braid::runtime
