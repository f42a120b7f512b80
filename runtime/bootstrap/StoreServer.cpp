//===- StoreServer.cpp - the store's server: who meets, and who is gone -------------------------------------------===//
#include "bootstrap/StoreServer.h"
#include "bootstrap/Wire.h"
#include <algorithm>
#include <set>
#include <sys/socket.h>

namespace braid::runtime {

constexpr size_t maximumLaunchers = 4096;

/// A connection that was admitted. While a request waits for others (`waits`), nothing more is read from it.
struct StoreServer::Client {
  Socket socket;
  int rank = -1;
  std::string in, out;
  size_t sent = 0; // of out
  bool waits = false, leaving = false;
  StoreRequest kind = StoreRequest::Wait;
  std::string key;
  int owner = -1;
  Deadline until = Deadline(0);
};

namespace {

std::string number(int value) { return std::to_string(value); }

/// "rank 3", "ranks 1, 2 and 17 others".
std::string rankList(const std::vector<int> &ranks, size_t shown = 8) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i != ranks.size() && i != shown; ++i)
    text += (i ? ", " : "") + number(ranks[i]);
  if (ranks.size() > shown)
    text += " and " + std::to_string(ranks.size() - shown) + " others";
  return text;
}

std::string stringField(const std::string &value) {
  std::string fields;
  Writer(fields).string(value);
  return fields;
}

std::string deathFields(int rank, const std::string &why) {
  std::string fields;
  Writer(fields).u32(static_cast<uint32_t>(rank)).string(why);
  return fields;
}

} // namespace

StoreServer::StoreServer(Socket listener, std::string secret, int ranks)
    : doorman(std::move(listener), secret, storeTopic, [this](const Hello &hello) { return judge(hello); }),
      secret(std::move(secret)), ranks(ranks) {}

StoreServer::~StoreServer() = default;

std::string StoreServer::judge(const Hello &hello) {
  if (hello.ranks != ranks)
    return "expected a job of " + number(ranks) + " ranks, got " + number(hello.ranks);
  if (hello.rank < Hello::launcherOf(ranks) || hello.rank >= ranks)
    return "expected a rank below " + number(ranks) + ", got " + number(hello.rank);
  size_t launchers = 0;
  for (const Client &client : clients) {
    if (hello.rank >= 0 && client.rank == hello.rank && !client.leaving)
      return "rank " + number(hello.rank) + " is connected already, expected every rank once";
    launchers += client.rank < 0;
  }
  if (hello.rank < 0 && launchers >= maximumLaunchers)
    return "expected at most " + std::to_string(maximumLaunchers) + " launchers";
  return {};
}

size_t StoreServer::collect(std::vector<pollfd> &entries) {
  for (Client &client : clients) {
    // A waiting client is still watched: its end must be seen at once.
    short events = client.waits ? POLLRDHUP : POLLIN;
    entries.push_back({client.socket.fd(), static_cast<short>(events | (client.out.empty() ? 0 : POLLOUT)), 0});
  }
  return clients.size() + doorman.collect(entries);
}

void StoreServer::handle(const pollfd *entries, size_t count) {
  size_t at = 0;
  std::vector<std::pair<int, std::string>> gone;
  for (auto client = clients.begin(); client != clients.end(); ++at) {
    short events = entries[at].revents;
    bool stays = true;
    if (client->waits ? events & (POLLRDHUP | POLLHUP | POLLERR) : events & (POLLIN | POLLHUP | POLLERR))
      stays = !client->waits && receive(*client);
    if (stays && !client->out.empty())
      stays = flush(*client);
    if (!stays && !client->leaving && client->rank >= 0)
      gone.push_back({client->rank, "its process ended"});
    if (!stays && !client->leaving && Hello::isLauncher(client->rank) && lostLauncher.empty())
      lostLauncher = client->rank == Hello::launcher
                         ? "braid-launch"
                         : "braid-launch of ranks from " + number(Hello::firstRankOf(client->rank)) + " on";
    client = stays ? std::next(client) : clients.erase(client);
  }
  for (auto &[rank, why] : gone)
    died(rank, why);
  std::vector<Doorman::Admitted> admitted;
  doorman.handle(entries + at, count - at, admitted);
  for (Doorman::Admitted &one : admitted) {
    // Two connections of one rank may have been examined in the same round.
    if (std::string why = judge(one.hello); !why.empty())
      continue;
    clients.emplace_back();
    clients.back().socket = std::move(one.socket);
    clients.back().rank = one.hello.rank;
    deaths.erase(one.hello.rank); // a rank that was started again
  }
  late();
}

bool StoreServer::receive(Client &client) {
  for (;;) {
    ssize_t got = recv(client.socket.fd(), landing.data(), landing.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      break;
    if (got <= 0)
      return false;
    client.in.append(landing.data(), static_cast<size_t>(got));
    if (client.in.size() > storeMaximumFrame + 4)
      return false;
    if (static_cast<size_t>(got) < landing.size())
      break;
  }
  if (client.in.size() < 4)
    return true;
  size_t size = Reader(client.in).u32();
  if (size == 0 || size > storeMaximumFrame)
    return false;
  if (client.in.size() < 4 + size)
    return true;
  if (client.in.size() > 4 + size) // one request at a time: more is not our client
    return false;
  std::string frame = std::move(client.in);
  client.in.clear();
  return request(client, frame.data() + 4, size);
}

void StoreServer::answer(Client &client, StoreResult result, const std::string &fields) {
  client.waits = false;
  Writer(client.out).u32(static_cast<uint32_t>(1 + fields.size())).u8(static_cast<uint8_t>(result)).bytes(fields);
  flush(client); // what does not go now goes when poll says so; an end is seen there too
}

bool StoreServer::flush(Client &client) {
  while (client.sent != client.out.size()) {
    ssize_t sent =
        send(client.socket.fd(), client.out.data() + client.sent, client.out.size() - client.sent, MSG_NOSIGNAL);
    if (sent < 0)
      return errno == EAGAIN || errno == EINTR;
    client.sent += static_cast<size_t>(sent);
  }
  client.out.clear();
  client.sent = 0;
  return true;
}

bool StoreServer::hold(size_t added) {
  if (held + added > storeMaximumBytes)
    return false;
  held += added;
  return true;
}

bool StoreServer::request(Client &client, const char *frame, size_t size) {
  Reader reader(frame, size);
  auto kind = static_cast<StoreRequest>(reader.u8());
  auto refuse = [&](const std::string &why) {
    answer(client, StoreResult::Refused, stringField(why));
    return true;
  };
  if (kind == StoreRequest::Leave) {
    client.leaving = true;
    answer(client, StoreResult::Ok);
    if (client.rank >= 0 && farewellsAreFinal)
      died(client.rank, ""); // in good order, and gone all the same
    return reader.complete();
  }
  if (kind == StoreRequest::Died) {
    int rank = static_cast<int>(reader.u32());
    std::string why = reader.string();
    if (!reader.complete() || rank < 0 || rank >= ranks || client.rank >= 0)
      return false;
    answer(client, StoreResult::Ok);
    died(rank, why);
    return true;
  }
  std::string key = reader.string();
  switch (kind) {
  case StoreRequest::Set: {
    std::string value = reader.string();
    if (!reader.complete())
      return false;
    auto found = values.find(key);
    if (found != values.end())
      held -= found->second.size() + key.size();
    if (!hold(key.size() + value.size())) {
      if (found != values.end())
        values.erase(found);
      return refuse("the store is full (" + std::to_string(storeMaximumBytes >> 20) + " MiB)");
    }
    values[key] = std::move(value);
    answer(client, StoreResult::Ok);
    wake(key);
    return true;
  }
  case StoreRequest::Get: {
    if (!reader.complete())
      return false;
    auto found = values.find(key);
    if (found == values.end())
      answer(client, StoreResult::Missing);
    else
      answer(client, StoreResult::Ok, stringField(found->second));
    return true;
  }
  case StoreRequest::Add: {
    uint64_t delta = reader.u64();
    if (!reader.complete())
      return false;
    auto found = values.find(key);
    if (found == values.end()) {
      if (!hold(key.size() + 8))
        return refuse("the store is full");
      found = values.emplace(key, std::string(8, '\0')).first;
    }
    if (found->second.size() != 8)
      return refuse("add to \"" + key + "\": expected a number, got " + std::to_string(found->second.size()) +
                    " bytes");
    uint64_t sum = Reader(found->second).u64() + delta;
    found->second.clear();
    Writer(found->second).u64(sum);
    answer(client, StoreResult::Ok, found->second);
    wake(key);
    return true;
  }
  case StoreRequest::Remove: {
    if (!reader.complete())
      return false;
    if (auto found = values.find(key); found != values.end()) {
      held -= found->second.size() + key.size();
      values.erase(found);
    }
    answer(client, StoreResult::Ok);
    return true;
  }
  case StoreRequest::Wait: {
    int owner = static_cast<int>(reader.u32());
    uint64_t milliseconds = reader.u64();
    if (!reader.complete())
      return false;
    if (owner < -1 || owner >= ranks)
      return refuse("wait for \"" + key + "\": expected an owner below " + number(ranks) + ", got " + number(owner));
    if (auto found = values.find(key); found != values.end()) {
      answer(client, StoreResult::Ok, stringField(found->second));
    } else if (auto dead = deaths.find(owner); dead != deaths.end()) {
      answer(client, StoreResult::Died, deathFields(owner, dead->second.why));
    } else {
      client.waits = true;
      client.kind = kind;
      client.key = key;
      client.owner = owner;
      client.until = Deadline(static_cast<double>(milliseconds) / 1000);
    }
    return true;
  }
  case StoreRequest::Gather: {
    size_t count = reader.u32();
    if (count > static_cast<size_t>(ranks))
      return false;
    std::vector<int> members;
    for (size_t i = 0; i != count; ++i) {
      members.push_back(static_cast<int>(reader.u32()));
      if (members.back() < 0 || members.back() >= ranks)
        return refuse("\"" + key + "\": expected ranks below " + number(ranks) + ", got " + number(members.back()));
    }
    std::string value = reader.string();
    uint64_t milliseconds = reader.u64();
    if (!reader.complete() || std::find(members.begin(), members.end(), client.rank) == members.end())
      return false;
    client.waits = true;
    client.kind = kind;
    client.key = key;
    client.until = Deadline(static_cast<double>(milliseconds) / 1000);
    gather(client, key, std::move(members), std::move(value));
    return true;
  }
  default:
    return false;
  }
}

void StoreServer::gather(Client &client, const std::string &key, std::vector<int> members, std::string value) {
  for (const auto &[refused, why] : refusedKeys)
    if (refused == key)
      return answer(client, StoreResult::Refused, stringField(why));
  auto found = gatherings.find(key);
  if (found != gatherings.end() && found->second.members != members)
    return answer(client, StoreResult::Refused, stringField("\"" + key + "\": expected the same members on all ranks"));
  size_t bytes = value.size() + key.size();
  if (!hold(bytes))
    return answer(client, StoreResult::Refused, stringField("the store is full"));
  if (found == gatherings.end()) {
    found = gatherings.emplace(key, Gathering()).first;
    found->second.members = std::move(members);
  }
  if (!found->second.given.emplace(client.rank, std::move(value)).second) {
    held -= bytes;
    return answer(client, StoreResult::Refused,
                  stringField("\"" + key + "\": given twice by rank " + number(client.rank)));
  }
  settle(key, found->second);
  untangle(client.rank);
}

/// Ranks that wait for each other at different meetings will do so for ever, since each can be at one only. Found as soon as the
/// last of them arrives, which is `rank`: a path along "waits for" from it back to it.
///
/// Rank 0 asks for a communicator of 0, 1, 2 and rank 1 for one of 0, 1, 3: 0 waits for 1, 1 waits for 0.
void StoreServer::untangle(int rank) {
  std::map<int, std::string> waitsAt; // rank -> key
  for (const Client &client : clients)
    if (client.waits && client.kind == StoreRequest::Gather)
      waitsAt[client.rank] = client.key;
  std::map<int, int> from; // a rank -> who waits for it, on the path
  std::deque<int> next = {rank};
  while (!next.empty() && !from.count(rank)) {
    int at = next.front();
    next.pop_front();
    auto key = waitsAt.find(at);
    auto meeting = key == waitsAt.end() ? gatherings.end() : gatherings.find(key->second);
    if (meeting == gatherings.end())
      continue;
    for (int member : meeting->second.members)
      if (!meeting->second.given.count(member) && !from.count(member) && waitsAt.count(member)) {
        from[member] = at;
        next.push_back(member);
      }
  }
  if (!from.count(rank))
    return;
  std::vector<int> circle = {rank};
  for (int at = from[rank]; at != rank; at = from[at])
    circle.push_back(at);
  std::reverse(circle.begin() + 1, circle.end()); // each waits for the next one
  std::string lists, keys;
  std::set<std::string> meetings;
  std::set<std::vector<int>> different;
  for (int one : circle) {
    const std::string &key = waitsAt[one];
    const std::vector<int> &members = gatherings[key].members;
    std::string joint = lists.empty() ? "" : one == circle.back() ? " and " : ", ";
    lists += joint + rankList(members, 64) + " on rank " + number(one);
    keys += joint + "\"" + key + "\" on rank " + number(one);
    meetings.insert(key);
    different.insert(members);
  }
  std::string why = different.size() > 1 ? "expected the same members on all ranks, got " + lists
                                         : "expected meetings in the same order on all ranks, got " + keys;
  why += ", which wait for each other";
  for (const std::string &key : meetings)
    refuse(key, why);
}

/// Nobody waits for a meeting that can't be any more, also who comes later.
void StoreServer::refuse(const std::string &key, const std::string &why) {
  constexpr size_t remembered = 64;
  for (Client &client : clients)
    if (client.waits && client.kind == StoreRequest::Gather && client.key == key)
      answer(client, StoreResult::Refused, stringField(why));
  if (auto found = gatherings.find(key); found != gatherings.end()) {
    for (auto &[rank, value] : found->second.given)
      held -= value.size() + key.size();
    gatherings.erase(found);
  }
  refusedKeys.push_back({key, why});
  if (refusedKeys.size() > remembered)
    refusedKeys.pop_front();
}

void StoreServer::settle(const std::string &key, Gathering &gathering) {
  StoreResult result = StoreResult::Ok;
  std::string fields;
  if (gathering.given.size() == gathering.members.size()) {
    for (int member : gathering.members)
      Writer(fields).string(gathering.given[member]);
  } else {
    auto dead = deaths.end();
    for (int member : gathering.members)
      if (auto found = deaths.find(member); found != deaths.end() && !gathering.given.count(member) &&
                                            (dead == deaths.end() || found->second.order < dead->second.order))
        dead = found;
    if (dead == deaths.end())
      return;
    result = StoreResult::Died;
    fields = deathFields(dead->first, dead->second.why);
  }
  for (Client &client : clients)
    if (client.waits && client.kind == StoreRequest::Gather && client.key == key)
      answer(client, result, fields);
  for (auto &[rank, value] : gathering.given)
    held -= value.size() + key.size();
  gatherings.erase(std::string(key)); // `key` may be the map's own
}

void StoreServer::wake(const std::string &key) {
  const std::string &value = values[key];
  for (Client &client : clients)
    if (client.waits && client.kind == StoreRequest::Wait && client.key == key)
      answer(client, StoreResult::Ok, stringField(value));
}

void StoreServer::died(int rank, const std::string &why) {
  if (!deaths.emplace(rank, Death{why, deathsSeen++}).second)
    return; // the first reason is the best one
  for (Client &client : clients)
    if (client.waits && client.kind == StoreRequest::Wait && client.owner == rank)
      answer(client, StoreResult::Died, deathFields(rank, why));
  for (auto next = gatherings.begin(); next != gatherings.end();) {
    auto current = next++;
    const std::vector<int> &members = current->second.members;
    if (std::find(members.begin(), members.end(), rank) != members.end())
      settle(current->first, current->second);
  }
}

void StoreServer::late() {
  for (Client &client : clients) {
    if (!client.waits || !client.until.passed())
      continue;
    std::string missing = "nobody has set \"" + client.key + "\"";
    auto found = gatherings.find(client.key);
    if (client.kind == StoreRequest::Gather && found != gatherings.end()) {
      std::vector<int> absent;
      for (int member : found->second.members)
        if (!found->second.given.count(member))
          absent.push_back(member);
      missing = rankList(absent) + (absent.size() == 1 ? " has" : " have") + " not come";
    }
    answer(client, StoreResult::Late, stringField(missing));
    // The last to give up takes the gathering away.
    bool wanted = false;
    for (const Client &other : clients)
      wanted = wanted || (other.waits && other.key == client.key);
    if (client.kind == StoreRequest::Gather && found != gatherings.end() && !wanted) {
      for (auto &[rank, value] : found->second.given)
        held -= value.size() + found->first.size();
      gatherings.erase(found);
    }
  }
}

int StoreServer::milliseconds() const {
  int soonest = doorman.milliseconds();
  for (const Client &client : clients)
    if (client.waits && client.until.left() < 1e6)
      soonest = soonest < 0 ? client.until.milliseconds() : std::min(soonest, client.until.milliseconds());
  return soonest;
}

void StoreServer::serve(int most) {
  std::vector<pollfd> entries;
  collect(entries);
  int own = milliseconds();
  if (poll(entries.data(), entries.size(), own < 0 ? most : most < 0 ? own : std::min(own, most)) >= 0)
    handle(entries.data(), entries.size());
}

void StoreServer::set(const std::string &key, const std::string &value) {
  if (!hold(key.size() + value.size()))
    return;
  values[key] = value;
  wake(key);
}

std::optional<std::string> StoreServer::get(const std::string &key) const {
  auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
}

} // namespace braid::runtime
