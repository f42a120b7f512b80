//===- Control.cpp - what the launcher and the ranks of its host tell each other -----------------------------------===//
#include "bootstrap/Control.h"
#include "bootstrap/Wire.h"
#include <cstdio>
#include <fcntl.h>
#include <mqueue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace braid::runtime {
namespace {

/// Places of a queue that this message leaves free for more urgent ones.
long placesKept(const ControlMessage &message) {
  if (message.kind == ControlMessage::Progress)
    return 3;
  return message.kind == ControlMessage::Died ? 2 : message.scope ? 1 : 0;
}

/// The end of the job comes before that of a communicator.
unsigned priority(const ControlMessage &message) {
  return unsigned(message.kind) + (message.kind == ControlMessage::Abort && !message.scope);
}

std::string encode(const ControlMessage &message) {
  std::string bytes;
  Writer(bytes)
      .u8(message.kind)
      .u32(static_cast<uint32_t>(message.rank))
      .u64(message.scope)
      .bytes(message.text.substr(0, ControlEnd::messageSize - ControlEnd::headSize));
  return bytes;
}

bool decode(const char *bytes, size_t size, ControlMessage &message) {
  Reader reader(bytes, size);
  message.kind = static_cast<ControlMessage::Kind>(reader.u8());
  message.rank = static_cast<int>(reader.u32());
  message.scope = reader.u64();
  message.text = reader.bytes(reader.left());
  return !reader.failed && message.kind >= ControlMessage::Progress && message.kind <= ControlMessage::Abort;
}

/// A queue with a reading and a writing end and no name any more.
bool makeQueue(const std::string &name, Socket &reading, Socket &writing) {
  mq_attr attributes = {};
  attributes.mq_maxmsg = ControlEnd::messages;
  attributes.mq_msgsize = ControlEnd::messageSize;
  reading = Socket(mq_open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CREAT | O_EXCL, 0600, &attributes));
  if (!reading)
    return false;
  writing = Socket(mq_open(name.c_str(), O_WRONLY | O_NONBLOCK));
  int error = errno;
  mq_unlink(name.c_str());
  errno = error;
  return static_cast<bool>(writing);
}

bool makeSockets(Socket &a, Socket &b) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
    return false;
  a = Socket(pair[0]);
  b = Socket(pair[1]);
  return true;
}

/// Tells whether a descriptor is still the one that the launcher opened.
unsigned long long fileNumber(int fd) {
  struct stat status;
  return fd >= 0 && fstat(fd, &status) == 0 ? static_cast<unsigned long long>(status.st_ino) : 0;
}

unsigned long long pidNamespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<unsigned long long>(status.st_ino) : 0;
}

} // namespace

bool ControlEnd::send(const ControlMessage &message) {
  std::string bytes = encode(message);
  bool hurry = message.kind != ControlMessage::Progress;
  if (kind == Queues) {
    // This end is the only writer, so the count can only fall meanwhile.
    mq_attr attributes;
    return mq_getattr(out.fd(), &attributes) == 0 &&
           attributes.mq_curmsgs + placesKept(message) < attributes.mq_maxmsg &&
           mq_send(out.fd(), bytes.data(), bytes.size(), priority(message)) == 0;
  }
  return kind == Sockets && ::send(hurry ? urgent.fd() : in.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                                static_cast<ssize_t>(bytes.size());
}

bool ControlEnd::receive(ControlMessage &message) {
  char bytes[messageSize];
  if (kind == Queues) {
    ssize_t got = mq_receive(in.fd(), bytes, sizeof bytes, nullptr);
    return got > 0 && decode(bytes, static_cast<size_t>(got), message);
  }
  if (kind == None)
    return false;
  for (const Socket *socket : {&urgent, &in}) {
    ssize_t got = recv(socket->fd(), bytes, sizeof bytes, 0);
    if (got > 0)
      return decode(bytes, static_cast<size_t>(got), message);
    ended = ended || got == 0 || (errno != EAGAIN && errno != EINTR);
  }
  return false;
}

Outcome ControlPair::make(const std::string &job, int rank, ControlPair &pair) {
  std::string name = "/braid-" + job + "-" + std::to_string(rank);
  if (makeQueue(name + "-down", pair.rank.in, pair.launcher.out) &&
      makeQueue(name + "-up", pair.launcher.in, pair.rank.out)) {
    pair.launcher.kind = pair.rank.kind = ControlEnd::Queues;
    return {};
  }
  pair.announcement =
      std::string("message queues refused (") + std::strerror(errno) + "), control goes over Unix sockets";
  pair = ControlPair{ControlEnd(), ControlEnd(), pair.announcement};
  if (!makeSockets(pair.launcher.in, pair.rank.in) || !makeSockets(pair.launcher.urgent, pair.rank.urgent))
    return systemOutcome("control sockets of rank " + std::to_string(rank));
  pair.launcher.kind = pair.rank.kind = ControlEnd::Sockets;
  return {};
}

void ControlPair::inherit() const {
  for (int fd : {rank.in.fd(), rank.out.fd(), rank.urgent.fd()})
    if (fd >= 0)
      fcntl(fd, F_SETFD, 0);
}

std::string ControlPair::variable() const {
  int a = rank.in.fd(), b = rank.queues() ? rank.out.fd() : rank.urgent.fd();
  return std::string(rank.queues() ? "mq" : "unix") + ":" + std::to_string(a) + ":" + std::to_string(b) + ":" +
         std::to_string(fileNumber(a)) + ":" + std::to_string(fileNumber(b));
}

Outcome openControl(ControlEnd &end, const Environment &environment) {
  const char *text = environment("BRAID_CONTROL");
  if (!text)
    return {};
  char word[5] = "";
  int a = -1, b = -1;
  unsigned long long fileA = 0, fileB = 0;
  bool good = std::sscanf(text, "%4[a-z]:%d:%d:%llu:%llu", word, &a, &b, &fileA, &fileB) == 5;
  bool queues = std::string(word) == "mq";
  if (!good || (!queues && std::string(word) != "unix"))
    return {BRAID_INVALID, std::string("BRAID_CONTROL: expected what braid-launch sets, got \"") + text + "\""};
  if (!fileA || fileNumber(a) != fileA || fileNumber(b) != fileB)
    return {BRAID_SYSTEM,
            "control channel of the launcher: a program in between has closed it; its aborts then come as "
            "signals only"};
  // Duplicates, so that the program can open more than one end, and its children none.
  end = ControlEnd();
  end.in = Socket(fcntl(a, F_DUPFD_CLOEXEC, 0));
  (queues ? end.out : end.urgent) = Socket(fcntl(b, F_DUPFD_CLOEXEC, 0));
  end.kind = queues ? ControlEnd::Queues : ControlEnd::Sockets;
  return {};
}

std::string launcherVariable() { return std::to_string(getpid()) + ":" + std::to_string(pidNamespace()); }

Socket watchLauncher(const Environment &environment) {
  const char *text = environment("BRAID_LAUNCHER");
  int pid = 0;
  unsigned long long space = 0;
  if (!text || std::sscanf(text, "%d:%llu", &pid, &space) != 2 || pid <= 0 || space != pidNamespace())
    return Socket();
  return Socket(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); // closed on exec by itself
}

} // namespace braid::runtime
