//===- ControlTest.cpp - control channels: order, full queues, refused queues --------------------------------------===//
#include "bootstrap/Control.h"
#include "bootstrap/Deadline.h"
#include "bootstrap/Hmac.h"
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::runtime;
using Catch::Matchers::Contains;

namespace {

std::string job() {
  std::string random = randomBytes(8);
  return hex(random.data(), random.size());
}

/// As the system refuses queues: a limit of zero bytes, for the time of this object.
struct NoQueues {
  rlimit before;
  NoQueues() {
    getrlimit(RLIMIT_MSGQUEUE, &before);
    rlimit none = {0, before.rlim_max};
    setrlimit(RLIMIT_MSGQUEUE, &none);
  }
  ~NoQueues() { setrlimit(RLIMIT_MSGQUEUE, &before); }
};

Environment variable(const std::string &value) {
  return [value](const char *name) { return std::string(name) == "BRAID_CONTROL" ? value.c_str() : nullptr; };
}

void exchange(ControlPair &pair) {
  ControlEnd rank;
  REQUIRE(openControl(rank, variable(pair.variable())));
  ControlMessage message;
  CHECK_FALSE(rank.receive(message));
  // Fill the queue with what is not urgent.
  int sent = 0;
  while (sent < 100000 && pair.launcher.send({ControlMessage::Progress, 1, 0, "progress " + std::to_string(sent)}))
    ++sent;
  CHECK(sent < 100000);
  CHECK(sent >= 4);
  if (pair.launcher.queues())
    CHECK(sent == 7);
  CHECK(pair.launcher.send({ControlMessage::Died, 2, 0, "ended by signal 9"}));
  CHECK(pair.launcher.send({ControlMessage::Abort, 4, 77, "a communicator"}));
  CHECK(pair.launcher.send({ControlMessage::Abort, 3, 0, "stop now"}));
  pollfd entry = {rank.fd(), POLLIN, 0};
  CHECK(poll(&entry, 1, 0) == 1);
  // The abort overtakes.
  REQUIRE(rank.receive(message));
  if (pair.launcher.queues()) {
    CHECK(message.kind == ControlMessage::Abort);
    CHECK(message.scope == 0);
    REQUIRE(rank.receive(message));
    CHECK(message.kind == ControlMessage::Abort);
    CHECK(message.scope == 77);
    REQUIRE(rank.receive(message));
    CHECK(message.kind == ControlMessage::Died);
    CHECK(message.rank == 2);
    CHECK(message.text == "ended by signal 9");
  } else {
    CHECK(message.kind == ControlMessage::Died); // among urgent ones: in order
    REQUIRE(rank.receive(message));
    CHECK(message.scope == 77);
    REQUIRE(rank.receive(message));
    CHECK(message.kind == ControlMessage::Abort);
    CHECK(message.rank == 3);
    CHECK(message.text == "stop now");
  }
  for (int i = 0; i != sent; ++i) {
    REQUIRE(rank.receive(message));
    CHECK(message.text == "progress " + std::to_string(i));
  }
  CHECK_FALSE(rank.receive(message));
  // And up, with a text that is too long.
  CHECK(rank.send({ControlMessage::Progress, 7, 0, std::string(5000, 'x')}));
  REQUIRE(pair.launcher.receive(message));
  CHECK(message.rank == 7);
  CHECK(message.text == std::string(ControlEnd::messageSize - ControlEnd::headSize, 'x'));
}

} // namespace

TEST_CASE("queues: an abort overtakes a full one", "[control]") {
  ControlPair pair;
  Deadline deadline(20); // a user's queues are few, and another test may hold them all for a moment
  do {
    pair = ControlPair();
    REQUIRE(ControlPair::make(job(), 0, pair));
  } while (!pair.launcher.queues() && !deadline.passed());
  CHECK(pair.announcement == "");
  CHECK(pair.launcher.queues());
  exchange(pair);
}

TEST_CASE("where queues are refused, sockets take over and say so", "[control]") {
  NoQueues limit;
  ControlPair pair;
  REQUIRE(ControlPair::make(job(), 0, pair));
  CHECK_THAT(pair.announcement, Contains("message queues refused (Too many open files)") && Contains("Unix sockets"));
  CHECK_FALSE(pair.launcher.queues());
  exchange(pair);
  // The end of a process is seen.
  ControlMessage message;
  CHECK_FALSE(pair.launcher.closed());
  pair.rank = ControlEnd();
  CHECK_FALSE(pair.launcher.receive(message));
  CHECK(pair.launcher.closed());
  CHECK_FALSE(pair.launcher.send({ControlMessage::Progress, 0, 0, ""}));
}

TEST_CASE("more ranks than the system has queues for", "[control]") {
  std::vector<ControlPair> pairs(300);
  std::string name = job();
  size_t sockets = 0;
  for (size_t i = 0; i != pairs.size(); ++i) {
    Outcome done = ControlPair::make(name, static_cast<int>(i), pairs[i]);
    REQUIRE(done.text == "");
    sockets += !pairs[i].launcher.queues();
    CHECK(pairs[i].launcher.queues() == pairs[i].announcement.empty());
  }
  CHECK(sockets > 0);
  CHECK(sockets < pairs.size());
}

TEST_CASE("no launcher is no error, closed descriptors are", "[control]") {
  ControlEnd end;
  CHECK(openControl(end, [](const char *) { return nullptr; }));
  CHECK_FALSE(end);
  ControlMessage message;
  CHECK_FALSE(end.receive(message));
  CHECK_FALSE(end.send(message));
  CHECK(openControl(end, variable("nonsense")).status == BRAID_INVALID);
  std::string value;
  {
    ControlPair pair;
    REQUIRE(ControlPair::make(job(), 0, pair));
    value = pair.variable();
  }
  // The same descriptors may be something else by now.
  int other = open("/dev/null", O_RDWR);
  Outcome outcome = openControl(end, variable(value));
  CHECK(outcome.status == BRAID_SYSTEM);
  CHECK_THAT(outcome.text, Contains("has closed it"));
  close(other);
}

TEST_CASE("the end of the launcher is seen", "[control]") {
  int gate[2];
  REQUIRE(pipe(gate) == 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(gate[1]);
    (void)!read(gate[0], &byte, 1);
    _exit(0);
  }
  close(gate[0]);
  std::string own = launcherVariable(), theirs = std::to_string(child) + own.substr(own.find(':'));
  auto watch = [](std::string value) {
    return watchLauncher(
        [&](const char *name) { return std::string(name) == "BRAID_LAUNCHER" ? value.c_str() : nullptr; });
  };
  Socket ended = watch(theirs);
  REQUIRE(ended);
  pollfd entry = {ended.fd(), POLLIN, 0};
  CHECK(poll(&entry, 1, 0) == 0);
  close(gate[1]);
  CHECK(poll(&entry, 1, 5000) == 1);
  waitpid(child, nullptr, 0);
  CHECK_FALSE(watch(theirs.substr(0, theirs.find(':')) + ":1")); // a pid of another namespace means somebody else
  CHECK_FALSE(watch("x"));
}
