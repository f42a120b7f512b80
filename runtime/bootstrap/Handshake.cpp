//===- Handshake.cpp - both ends of a connection prove that they know the job's secret -----------------------------===//
#include "bootstrap/Handshake.h"
#include "bootstrap/Hmac.h"
#include "bootstrap/Wire.h"
#include <sys/socket.h>

namespace braid::runtime {
namespace {

constexpr char magic[] = "BRAIDJOB"; // eight bytes on the wire
constexpr size_t nonceSize = 32, greetingSize = 8 + 4 + nonceSize;
constexpr size_t helloSize = 8 + 4 + 4 + 4 + 8 + nonceSize + sizeof(Digest);
constexpr size_t reasonSize = 120, answerSize = 4 + 4 + reasonSize + sizeof(Digest);

enum Verdict : uint32_t { Welcome = 0, WrongSecret = 1, WrongVersion = 2, Refused = 3 };

std::string callerFields(const Hello &hello) {
  std::string fields;
  Writer(fields)
      .u32(handshakeVersion)
      .u32(static_cast<uint32_t>(hello.rank))
      .u32(static_cast<uint32_t>(hello.ranks))
      .u64(hello.topic);
  return fields;
}

std::string answerFields(Verdict verdict, std::string reason) {
  std::string fields;
  reason.resize(reasonSize, '\0');
  Writer(fields).u32(verdict).u32(handshakeVersion).bytes(reason);
  return fields;
}

std::string code(const std::string &secret, const char *side, const std::string &nonceS, const std::string &nonceC,
                 const std::string &fields) {
  return bytesOf(hmacSha256(secret, std::string(side) + nonceS + nonceC + fields));
}

std::string versionText(uint32_t theirs) {
  return "it speaks version " + std::to_string(theirs) + " of the rendezvous, expected " +
         std::to_string(handshakeVersion);
}

} // namespace

Outcome introduce(const Socket &socket, const Hello &hello, const std::string &secret, Deadline deadline) {
  std::string who = peerAddress(socket);
  std::string greeting(greetingSize, '\0');
  if (Outcome done = receiveAll(socket, greeting.data(), greeting.size(), deadline); !done)
    return done;
  Reader reader(greeting);
  if (reader.bytes(8) != std::string(magic, 8))
    return {BRAID_PEER_DIED, who + " is no braid rendezvous"};
  if (uint32_t version = reader.u32(); version != handshakeVersion)
    return {BRAID_INVALID, who + ": " + versionText(version)};
  std::string nonceS = reader.bytes(nonceSize), nonceC = randomBytes(nonceSize);
  std::string fields = callerFields(hello);
  std::string message(magic, 8);
  message += fields + nonceC + code(secret, "caller", nonceS, nonceC, fields);
  if (Outcome done = sendAll(socket, message.data(), message.size(), deadline); !done)
    return done;
  std::string answer(answerSize, '\0');
  if (Outcome done = receiveAll(socket, answer.data(), answer.size(), deadline); !done)
    return done;
  Reader answered(answer);
  uint32_t verdict = answered.u32(), version = answered.u32();
  std::string reason = answered.bytes(reasonSize).c_str(); // up to the first zero
  if (verdict == WrongVersion)
    return {BRAID_INVALID, who + ": " + versionText(version)};
  std::string expected = code(secret, "listener", nonceS, nonceC, answer.substr(0, 8 + reasonSize));
  if (verdict == WrongSecret || !equalDigests(expected.data(), answer.data() + 8 + reasonSize, expected.size()))
    return {BRAID_INVALID, who + ": expected the same job secret (BRAID_JOB_SECRET) on both sides, got another one"};
  if (verdict != Welcome)
    return {BRAID_INVALID, who + " refused this process: " + reason};
  return {};
}

Doorman::Doorman(Socket listener, std::string secret, uint64_t topic, Judge judge)
    : listener(std::move(listener)), secret(std::move(secret)), topic(topic), judge(std::move(judge)) {}

size_t Doorman::collect(std::vector<pollfd> &entries) {
  entries.push_back({listener.fd(), POLLIN, 0});
  for (Pending &pending : waiting)
    entries.push_back({pending.socket.fd(), POLLIN, 0});
  return 1 + waiting.size();
}

int Doorman::milliseconds() const { return waiting.empty() ? -1 : waiting.front().until.milliseconds(); }

void Doorman::acceptAll() {
  // A bounded number per round, so that a flood does not keep the ranks waiting.
  for (size_t round = 0; round != maximumPending; ++round) {
    Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // Out of descriptors: the longest silent stranger makes room, else the connection waits in the kernel's queue. Linux says so
      // also where nobody waits there, and then who has the last descriptor stays.
      int error = errno;
      pollfd queue = {listener.fd(), POLLIN, 0};
      if ((error == EMFILE || error == ENFILE) && !waiting.empty() && poll(&queue, 1, 0) > 0) {
        waiting.pop_front();
        ++refusals;
        continue;
      }
      if (error == EINTR || error == ECONNABORTED)
        continue;
      return;
    }
    if (waiting.size() == maximumPending) {
      waiting.pop_front();
      ++refusals;
    }
    tuneConnection(socket);
    Pending pending;
    pending.nonce = randomBytes(nonceSize);
    std::string greeting(magic, 8);
    Writer(greeting).u32(handshakeVersion).bytes(pending.nonce);
    if (send(socket.fd(), greeting.data(), greeting.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(greeting.size()))
      continue;
    pending.socket = std::move(socket);
    waiting.push_back(std::move(pending));
  }
}

bool Doorman::examine(Pending &pending, std::vector<Admitted> &admitted) {
  char buffer[helloSize];
  ssize_t got = recv(pending.socket.fd(), buffer, helloSize - pending.received.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (got <= 0) {
    ++refusals;
    return false;
  }
  pending.received.append(buffer, static_cast<size_t>(got));
  size_t known = std::min<size_t>(pending.received.size(), 8);
  if (pending.received.compare(0, known, magic, known) != 0) {
    ++refusals;
    return false;
  }
  auto answer = [&](Verdict verdict, const std::string &reason, const std::string &nonceC) {
    std::string fields = answerFields(verdict, reason);
    // Who has not shown the secret gets no code to work on.
    std::string tail = verdict == Welcome || verdict == Refused
                           ? code(secret, "listener", pending.nonce, nonceC, fields)
                           : std::string(sizeof(Digest), '\0');
    fields += tail;
    return send(pending.socket.fd(), fields.data(), fields.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(fields.size());
  };
  if (pending.received.size() >= 12) { // another version may have another length
    Reader head(pending.received.data() + 8, 4);
    if (head.u32() != handshakeVersion) {
      answer(WrongVersion, "", "");
      ++refusals;
      return false;
    }
  }
  if (pending.received.size() < helloSize)
    return true;
  Reader reader(pending.received.data() + 12, helloSize - 12);
  Hello hello;
  hello.rank = static_cast<int>(reader.u32());
  hello.ranks = static_cast<int>(reader.u32());
  hello.topic = reader.u64();
  std::string nonceC = reader.bytes(nonceSize), shown = reader.bytes(sizeof(Digest));
  std::string expected = code(secret, "caller", pending.nonce, nonceC, callerFields(hello));
  if (!equalDigests(expected.data(), shown.data(), expected.size())) {
    answer(WrongSecret, "", "");
    ++refusals;
    return false;
  }
  std::string reason = hello.topic == topic ? judge(hello) : "it serves another part of the job";
  if (!answer(reason.empty() ? Welcome : Refused, reason, nonceC) || !reason.empty()) {
    ++refusals;
    return false;
  }
  admitted.push_back({std::move(pending.socket), hello});
  return false;
}

void Doorman::handle(const pollfd *entries, size_t count, std::vector<Admitted> &admitted) {
  size_t at = 1;
  for (auto pending = waiting.begin(); pending != waiting.end();) {
    bool stays = true;
    if (at < count && entries[at].revents)
      stays = examine(*pending, admitted);
    else if (pending->until.passed()) {
      ++refusals;
      stays = false;
    }
    ++at;
    pending = stays ? std::next(pending) : waiting.erase(pending);
  }
  if (count && entries[0].revents)
    acceptAll();
}

} // namespace braid::runtime
