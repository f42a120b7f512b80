//===- Launcher.cpp - one job's ranks on this host, from start to end ----------------------------------------------===//
#include "Launcher.h"
#include "../command/Endings.h"
#include "bootstrap/Hmac.h"
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braid::launch {

using namespace braid::runtime;

constexpr double timeToSpeak = 1; // seconds for ranks that were told why to end by themselves, with their own words
constexpr const char *failureKey = "braid-launch/failure";

/// Of a failure that another host has told of.
static int statusIn(const std::string &text) {
  int status = std::atoi(text.c_str());
  return status > 0 && status < 256 ? status : 1;
}

Launcher::Launcher(const Options &options, const Before &before, pid_t keeper)
    : options(options), before(before), keeper(keeper) {
  sigset_t all;
  sigprocmask(SIG_SETMASK, nullptr, &all); // main has blocked them
  signalSource = Socket(signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC));
}

void Launcher::say(const std::string &text) { err.line("braid-launch: " + text + "\n"); }

bool Launcher::openStore() {
  bool alone = options.local == options.ranks;
  const char *given = std::getenv("BRAID_JOB_SECRET");
  std::string random = randomBytes(16);
  secret = given ? given : hex(random.data(), random.size());
  if (secret.size() < 16 || (!alone && !given)) {
    say("BRAID_JOB_SECRET: expected a secret of at least 16 bytes, the same on all hosts (export "
        "BRAID_JOB_SECRET=$(cat /proc/sys/kernel/random/uuid) on one, its value on the others), got " +
        (given ? std::to_string(secret.size()) + " bytes" : std::string("none")));
    return false;
  }
  random = alone ? randomBytes(8) : bytesOf(hmacSha256(secret, "job " + options.rendezvous)).substr(0, 8);
  job = hex(random.data(), random.size());
  Address address{"127.0.0.1", 0}, bound;
  if (!options.rendezvous.empty())
    if (Outcome done = parseAddress(options.rendezvous, address); !done) {
      say("--rendezvous: " + done.text);
      return false;
    }
  Deadline deadline(options.deadline);
  if (options.firstRank != 0) {
    rendezvous = address.text();
    for (auto *client : {&reports, &news})
      if (Outcome done = StoreClient::connect({rendezvous}, secret,
                                              client == &news ? Hello::observer : Hello::launcherOf(options.firstRank),
                                              options.ranks, "the launcher of rank 0", deadline, *client);
          !done) {
        say(done.text);
        return false;
      }
    (void)news->startWait(failureKey, -1, 1e9);
    return true;
  }
  // A call to ourselves shows that the address can be reached: in a new network namespace even the loopback can't.
  Socket listener, trial;
  Outcome done = listenOn(address, listener, bound);
  if (done)
    done = connectTo(bound, deadline.within(2), trial);
  if (!done) {
    bool own = options.rendezvous.empty();
    say("store: " + done.text + (own ? " (is the loopback interface down? ip link set lo up)" : ""));
    return false;
  }
  rendezvous = bound.text();
  server = std::make_unique<StoreServer>(std::move(listener), secret, options.ranks);
  server->farewellsAreFinal = false;
  return true;
}

bool Launcher::startRanks() {
  int sockets = 0;
  std::string announcement;
  for (int i = 0; i != options.local; ++i) {
    int number = options.firstRank + i;
    ranks.emplace_back(number, out, err, options.prefix ? "[" + std::to_string(number) + "] " : "");
    Rank &rank = ranks.back();
    Outcome done = ControlPair::make(job, number, rank.control);
    if (!rank.control.announcement.empty() && sockets++ == 0)
      announcement = rank.control.announcement;
    int shellStatus = 1;
    if (done) {
      std::map<std::string, std::string> environment = {{"BRAID_RANK", std::to_string(number)},
                                                        {"BRAID_RANKS", std::to_string(options.ranks)},
                                                        {"BRAID_LOCAL_RANK", std::to_string(i)},
                                                        {"BRAID_LOCAL_RANKS", std::to_string(options.local)},
                                                        {"BRAID_JOB", job},
                                                        {"BRAID_JOB_SECRET", secret},
                                                        {"BRAID_RENDEZVOUS", rendezvous},
                                                        {"BRAID_STORE", "launcher"},
                                                        {"BRAID_LAUNCHER", launcherVariable()},
                                                        {"BRAID_CONTROL", rank.control.variable()}};
      done = start(options.command, environment, i == 0, rank.control, before, rank.process, shellStatus);
    }
    if (!done) {
      ranks.pop_back();
      std::string how = "can't be started: " + done.text;
      failed(number, how, shellStatus, true);
      return false;
    }
    // Our copies of the rank's ends are closed with the pair's; the rank has its own.
    rank.control.rank = ControlEnd();
    if (options.verbose)
      say("rank " + std::to_string(number) + " is process " + std::to_string(rank.process.pid));
  }
  if (sockets)
    say(announcement + " for " + std::to_string(sockets) + " of " + std::to_string(options.local) + " ranks");
  return true;
}

bool Launcher::anyRunning() const {
  for (const Rank &rank : ranks)
    if (rank.running)
      return true;
  return false;
}

void Launcher::tell(const ControlMessage &message, int except) {
  for (Rank &rank : ranks)
    if (rank.running && rank.rank != except)
      rank.control.launcher.send(message);
}

void Launcher::failed(int rank, const std::string &how, int shellStatus, bool here) {
  std::string what = "rank " + std::to_string(rank) + " " + how;
  if (server)
    server->died(rank, how);
  else if (here && reports && !reports->broken())
    (void)reports->died(rank, how, 5);
  if (!status) {
    status = shellStatus;
    int others = 0;
    for (const Rank &other : ranks)
      others += other.running;
    std::string rest = others == 0 ? ""
                       : options.keep
                           ? "; the other " + std::to_string(others) + " go on"
                           : "; ending the other " + std::to_string(others) + (others == 1 ? " rank" : " ranks");
    say(what + rest);
    if (!options.keep && here)
      publish(shellStatus, what);
  } else if (options.keep) {
    say(what);
  }
  tell({options.keep ? ControlMessage::Died : ControlMessage::Abort, rank, 0, what}, rank);
  if (!options.keep && phase == Running)
    end();
}

void Launcher::killed(int rank, const std::string &how, int shellStatus) {
  bool overtaken = status && !causeKnown && !signalled && (phase == Running || phase == Told);
  if (overtaken) {
    status = shellStatus;
    if (!options.keep)
      say("rank " + std::to_string(rank) + " " + how + ", which was the cause");
  }
  bool first = !status || overtaken;
  failed(rank, how, shellStatus, true);
  causeKnown = causeKnown || first;
}

void Launcher::publish(int shellStatus, const std::string &what) {
  std::string text = std::to_string(shellStatus) + " " + what;
  if (server)
    server->set(failureKey, text);
  else if (reports && !reports->broken())
    (void)reports->set(failureKey, text, 5);
}

void Launcher::end() {
  if (phase == Running) {
    phase = Told;
    next = Deadline(timeToSpeak);
    return;
  }
  bool force = phase == Asked || phase == Forced;
  for (Rank &rank : ranks)
    if (rank.running) {
      kill(rank.process.pid, force ? SIGKILL : SIGTERM);
      kill(rank.process.pid, SIGCONT);
    }
  phase = force ? Forced : Asked;
  next = Deadline(force ? 1 : options.grace);
}

/// "braid-launch of ranks 4 to 7": to launchers and ranks of other hosts.
static std::string ofRanks(const Options &options) {
  int last = options.firstRank + options.local - 1;
  return "braid-launch of rank" + (options.local == 1
                                       ? " " + std::to_string(last)
                                       : "s " + std::to_string(options.firstRank) + " to " + std::to_string(last));
}

void Launcher::signals() {
  signalfd_siginfo info;
  while (::read(signalSource.fd(), &info, sizeof info) == sizeof info) {
    int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD)
      continue; // reap() looks anyway
    if (getppid() != keeper || (info.ssi_code == SI_QUEUE && info.ssi_int == frontIsGone)) {
      if (phase != Forced) {
        phase = Asked;
        end();
      }
      if (!signalled)
        publish(128 + SIGKILL, ofRanks(options) + " was killed");
      signalled = SIGKILL;
      continue;
    }
    // A terminal sends to all of its foreground processes, the ranks too.
    if (info.ssi_code != SI_KERNEL)
      for (Rank &rank : ranks)
        if (rank.running)
          kill(rank.process.pid, number);
    if (number == SIGUSR1 || number == SIGUSR2)
      continue;
    if (signalled) { // asked twice
      phase = Asked;
      end();
    } else {
      signalled = number;
      std::string what = "asked to end by signal " + std::to_string(number);
      say(what + "; ending the ranks here");
      publish(128 + number, ofRanks(options) + " was " + what);
      phase = Asked;
      next = Deadline(options.grace);
    }
  }
}

/// False: the stream has ended.
bool Launcher::read(Socket &stream, Lines &lines) {
  for (int round = 0; round != 16; ++round) {
    ssize_t got = ::read(stream.fd(), landing.data(), landing.size());
    if (got > 0) {
      lines.feed(landing.data(), static_cast<size_t>(got));
    } else {
      if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
      lines.finish();
      stream.close();
      return false;
    }
  }
  return true;
}

void Launcher::listen(Rank &rank) {
  ControlMessage message;
  while (rank.control.launcher.receive(message)) {
    if (message.kind == ControlMessage::Abort) {
      say("rank " + std::to_string(rank.rank) + " gives up: " + message.text);
      tell({ControlMessage::Abort, rank.rank, message.scope, message.text}, rank.rank);
    } else if (options.verbose) {
      say("rank " + std::to_string(rank.rank) + ": " + message.text);
    }
  }
}

void Launcher::reap() {
  // Of several that ended since the last look, one ended by a signal is the cause and the others the consequence.
  std::vector<std::pair<Rank *, int>> ended;
  int waitStatus;
  for (pid_t pid; (pid = waitpid(-1, &waitStatus, WNOHANG)) > 0;)
    for (Rank &rank : ranks)
      if (rank.running && rank.process.pid == pid) {
        rank.running = false;
        ended.insert(WIFSIGNALED(waitStatus) ? ended.begin() : ended.end(), {&rank, waitStatus});
      }
  for (auto &[rank, waited] : ended) {
    // What it has written is there; a grandchild may hold the other end for longer.
    if (rank->process.out)
      read(rank->process.out, rank->out);
    if (rank->process.err)
      read(rank->process.err, rank->err);
    listen(*rank);
    std::string how = describe(waited);
    if (waited == 0) {
      if (server)
        server->died(rank->rank, how);
      else if (reports && !reports->broken())
        (void)reports->died(rank->rank, how, 5);
      continue;
    }
    if (!rank->err.last().empty())
      how += ", its last line on stderr: " + rank->err.last();
    if (signalled && !status) {
      status = 128 + signalled; // they end because we were told to
    } else if (!signalled) {
      int shellStatus = command::shellStatusOf(waited);
      if (command::wasKilled(waited))
        killed(rank->rank, how, shellStatus);
      else
        failed(rank->rank, how, shellStatus, true);
    }
  }
}

void Launcher::watchOthers() {
  std::string text;
  if (server) {
    if (auto failure = server->get(failureKey))
      text = *failure;
    else if (!server->launcherLost().empty())
      text = "1 " + server->launcherLost() + " has ended";
  } else if (news && !news->broken()) {
    pollfd entry = {news->fd(), POLLIN, 0};
    if (poll(&entry, 1, 0) == 1)
      if (Outcome done = news->waited(failureKey, text); !done)
        text = "1 " + done.text;
  }
  if (text.empty() || status || signalled || options.keep || !anyRunning()) // signalled: the failure is our own
    return;
  size_t space = text.find(' ');
  status = statusIn(text);
  std::string what = "on another host " + text.substr(space + 1);
  say(what + "; ending the ranks here");
  tell({ControlMessage::Abort, -1, 0, what}, -1);
  if (phase == Running)
    end();
}

void Launcher::step() {
  std::vector<pollfd> entries;
  size_t served = server ? server->collect(entries) : 0;
  entries.push_back({signalSource.fd(), POLLIN, 0});
  for (Rank &rank : ranks) {
    if (rank.process.out && !out.full())
      entries.push_back({rank.process.out.fd(), POLLIN, 0});
    if (rank.process.err && !err.full())
      entries.push_back({rank.process.err.fd(), POLLIN, 0});
    if (rank.running && !rank.control.launcher.closed())
      for (int fd : {rank.control.launcher.fd(), rank.control.launcher.urgentFd()})
        if (fd >= 0)
          entries.push_back({fd, POLLIN, 0});
  }
  for (Sink *sink : {&out, &err})
    if (!sink->empty())
      entries.push_back({sink->fd, POLLOUT, 0});
  if (news && !news->broken())
    entries.push_back({news->fd(), POLLIN, 0});
  int wait = next ? next->milliseconds() : -1;
  if (int late = server ? server->milliseconds() : -1; late >= 0)
    wait = wait < 0 ? late : std::min(wait, late);
  if (poll(entries.data(), entries.size(), wait) < 0)
    return;
  signals();
  for (Rank &rank : ranks) {
    if (rank.process.out && !out.full())
      read(rank.process.out, rank.out);
    if (rank.process.err && !err.full())
      read(rank.process.err, rank.err);
    if (rank.running)
      listen(rank);
  }
  reap(); // before the store learns of closed connections: the launcher knows how a rank ended
  if (server)
    server->handle(entries.data(), served);
  watchOthers();
  if (next && next->passed())
    end();
  bool heard = out.flush();
  heard = err.flush() && heard;
  if (!heard)
    lostOutput();
}

void Launcher::lostOutput() {
  if (status)
    return;
  int reason = out.error() ? out.error() : err.error();
  std::string what = "nobody reads the output of braid-launch any more";
  if (reason == EPIPE) { // as any program in a pipe whose reader has had enough
    status = 128 + SIGPIPE;
  } else {
    status = 1;
    what = std::string("error: standard ") + (out.error() ? "output: " : "error: ") + std::strerror(reason);
    say(what);
  }
  publish(*status, what);
  tell({ControlMessage::Abort, -1, 0, what}, -1);
  if (phase == Running)
    end();
}

int Launcher::run() {
  if (!openStore() || !startRanks())
    status = status.value_or(1);
  while (anyRunning())
    step();
  for (Rank &rank : ranks) // what grandchildren wrote until now
    for (auto *stream : {&rank.process.out, &rank.process.err})
      if (*stream)
        read(*stream, stream == &rank.process.out ? rank.out : rank.err);
  endDescendants(options.grace);
  for (Rank &rank : ranks) {
    rank.out.finish();
    rank.err.finish();
  }
  out.finish(Deadline(options.grace));
  if (out.error() || err.error())
    lostOutput();
  // Ranks of other hosts may still meet here.
  Deadline farewell(options.grace);
  while (server && options.local != options.ranks && server->connections() && !signalled &&
         (!status || !farewell.passed())) {
    std::vector<pollfd> entries;
    size_t served = server->collect(entries);
    entries.push_back({signalSource.fd(), POLLIN, 0});
    if (poll(entries.data(), entries.size(), status ? 100 : server->milliseconds()) < 0)
      continue;
    signals();
    server->handle(entries.data(), served);
    if (auto failure = server->get(failureKey); failure && !status) {
      status = statusIn(*failure);
      say("on another host " + failure->substr(failure->find(' ') + 1));
    }
  }
  if (reports)
    reports->leave();
  err.finish(Deadline(options.grace));
  return signalled && !status ? 128 + signalled : status.value_or(0);
}

} // namespace braid::launch
