//===- StoreClient.cpp - a rank's connection to the store ---------------------------------------------------------===//
#include "bootstrap/StoreClient.h"
#include "bootstrap/Wire.h"
#include <cstdio>
#include <ctime>

namespace braid::runtime {
namespace {

constexpr double attempt = 2; // seconds for one address, which may be a stranger that never answers
constexpr double grace = 2;   // seconds that the store may be later than the deadline that it keeps

std::string requestOf(StoreRequest kind) { return std::string(1, static_cast<char>(kind)); }

uint64_t millisecondsOf(double seconds) { return static_cast<uint64_t>(std::min(std::max(seconds, 0.0), 1e9) * 1000); }

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

} // namespace

Outcome StoreClient::connect(const std::vector<std::string> &addresses, const std::string &secret, int rank, int ranks,
                             const std::string &who, Deadline deadline, std::unique_ptr<StoreClient> &client) {
  std::vector<Address> parsed(addresses.size());
  for (size_t i = 0; i != addresses.size(); ++i)
    if (Outcome done = parseAddress(addresses[i], parsed[i]); !done)
      return done;
  if (parsed.empty())
    return {BRAID_INVALID, "address of the store: expected one, got none"};
  double started = deadline.left();
  long pause = 5; // ms, grows: rank 0 may start later than we do
  Outcome last;
  do {
    for (const Address &address : parsed) {
      Socket socket;
      last = connectTo(address, deadline.within(attempt), socket);
      if (!last)
        continue;
      last = introduce(socket, {rank, ranks, storeTopic}, secret, deadline.within(attempt));
      if (last) {
        client.reset(new StoreClient(std::move(socket), address.text(), who));
        return {};
      }
      // One address is an order, and a refusal there final; of several, any may be another job's.
      if (last.status == BRAID_INVALID && parsed.size() == 1)
        return {BRAID_INVALID, "store at " + last.text};
    }
    timespec time = {0, pause * 1000000};
    nanosleep(&time, nullptr);
    pause = std::min(pause * 2, 200L);
  } while (!deadline.passed());
  std::string tried = parsed[0].text();
  if (parsed.size() > 1)
    tried += " and " + std::to_string(parsed.size() - 1) + " other ports";
  return {BRAID_TIMEOUT,
          "store of " + who + " not found at " + tried + " within " + secondsText(started) + ": " + last.text};
}

StoreClient::~StoreClient() = default;

Outcome StoreClient::lost(const Outcome &why) {
  socket.close(); // an answer that comes later would be taken for another one's
  if (why.status == BRAID_PEER_DIED)
    return {BRAID_PEER_DIED, "the store at " + address + " is gone: the process that served it (" + who + ") ended"};
  return {why.status, "the store at " + address + " (" + who + "): " + why.text};
}

Outcome StoreClient::send(const std::string &request, Deadline deadline) {
  if (!socket)
    return {BRAID_PEER_DIED, "the store at " + address + " (" + who + ") is gone"};
  if (request.size() > storeMaximumFrame)
    return {BRAID_INVALID, "request to the store: expected at most " + std::to_string(storeMaximumFrame) +
                               " bytes, got " + std::to_string(request.size())};
  std::string frame;
  Writer(frame).string(request);
  if (Outcome done = sendAll(socket, frame.data(), frame.size(), deadline); !done)
    return lost(done);
  return {};
}

Outcome StoreClient::receive(const std::string &what, double seconds, std::string &fields, bool *missing) {
  if (!socket)
    return {BRAID_PEER_DIED, "the store at " + address + " (" + who + ") is gone"};
  Deadline deadline(seconds + grace);
  std::string head(4, '\0');
  if (Outcome done = receiveAll(socket, head.data(), head.size(), deadline); !done)
    return lost(done);
  size_t size = Reader(head).u32();
  if (size == 0 || size > storeMaximumBytes * 2)
    return lost({BRAID_SYSTEM, "unexpected answer of " + std::to_string(size) + " bytes"});
  std::string frame(size, '\0');
  if (Outcome done = receiveAll(socket, frame.data(), size, deadline); !done)
    return lost(done);
  fields = frame.substr(1);
  Reader reader(fields);
  switch (static_cast<StoreResult>(frame[0])) {
  case StoreResult::Ok:
    return {};
  case StoreResult::Missing:
    if (missing)
      *missing = true;
    return {};
  case StoreResult::Late:
    return {BRAID_TIMEOUT, what + ": " + reader.string() + " within " + secondsText(seconds)};
  case StoreResult::Died: {
    int rank = static_cast<int>(reader.u32());
    std::string why = reader.string();
    return {BRAID_PEER_DIED, "rank " + std::to_string(rank) +
                                 (why.empty() ? " has left: its process ended in good order" : " died: " + why) +
                                 " (seen in " + what + ")"};
  }
  case StoreResult::Refused:
    return {BRAID_MISMATCH, "the store refused " + what + ": " + reader.string()};
  }
  return lost({BRAID_SYSTEM, "unexpected answer of kind " + std::to_string(frame[0])});
}

Outcome StoreClient::ask(const std::string &request, const std::string &what, double seconds, std::string &fields,
                         bool *missing) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Outcome done = send(request, Deadline(seconds + grace)); !done)
    return done;
  return receive(what, seconds, fields, missing);
}

Outcome StoreClient::set(const std::string &key, const std::string &value, double seconds) {
  std::string request = requestOf(StoreRequest::Set), fields;
  Writer(request).string(key).string(value);
  return ask(request, "set \"" + key + "\"", seconds, fields);
}

Outcome StoreClient::get(const std::string &key, std::optional<std::string> &value, double seconds) {
  std::string request = requestOf(StoreRequest::Get), fields;
  Writer(request).string(key);
  bool missing = false;
  if (Outcome done = ask(request, "get \"" + key + "\"", seconds, fields, &missing); !done)
    return done;
  value.reset();
  if (!missing)
    value = Reader(fields).string();
  return {};
}

Outcome StoreClient::add(const std::string &key, int64_t delta, int64_t &sum, double seconds) {
  std::string request = requestOf(StoreRequest::Add), fields;
  Writer(request).string(key).u64(static_cast<uint64_t>(delta));
  if (Outcome done = ask(request, "add to \"" + key + "\"", seconds, fields); !done)
    return done;
  sum = static_cast<int64_t>(Reader(fields).u64());
  return {};
}

Outcome StoreClient::remove(const std::string &key, double seconds) {
  std::string request = requestOf(StoreRequest::Remove), fields;
  Writer(request).string(key);
  return ask(request, "remove \"" + key + "\"", seconds, fields);
}

Outcome StoreClient::startWait(const std::string &key, int owner, double seconds) {
  std::string request = requestOf(StoreRequest::Wait);
  Writer(request).string(key).u32(static_cast<uint32_t>(owner)).u64(millisecondsOf(seconds));
  return send(request, Deadline(grace));
}

Outcome StoreClient::waited(const std::string &key, std::string &value) {
  std::string fields;
  if (Outcome done = receive("wait for \"" + key + "\"", 0, fields, nullptr); !done)
    return done;
  value = Reader(fields).string();
  return {};
}

Outcome StoreClient::wait(const std::string &key, int owner, std::string &value, double seconds) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Outcome done = startWait(key, owner, seconds); !done)
    return done;
  std::string fields;
  if (Outcome done = receive("wait for \"" + key + "\"", seconds, fields, nullptr); !done)
    return done;
  value = Reader(fields).string();
  return {};
}

Outcome StoreClient::gather(const std::string &key, const std::vector<int> &members, const std::string &mine,
                            std::vector<std::string> &all, double seconds) {
  std::string request = requestOf(StoreRequest::Gather), fields;
  Writer writer(request);
  writer.string(key).u32(static_cast<uint32_t>(members.size()));
  for (int member : members)
    writer.u32(static_cast<uint32_t>(member));
  writer.string(mine).u64(millisecondsOf(seconds));
  if (Outcome done = ask(request, "meeting \"" + key + "\"", seconds, fields); !done)
    return done;
  std::vector<std::string> values(members.size());
  Reader reader(fields);
  for (std::string &value : values)
    value = reader.string();
  if (!reader.complete())
    return {BRAID_SYSTEM, "meeting \"" + key + "\": unexpected answer of the store"};
  all = std::move(values);
  return {};
}

Outcome StoreClient::barrier(const std::string &key, const std::vector<int> &members, double seconds) {
  std::vector<std::string> all;
  return gather(key, members, std::string(), all, seconds);
}

Outcome StoreClient::died(int rank, const std::string &why, double seconds) {
  std::string request = requestOf(StoreRequest::Died), fields;
  Writer(request).u32(static_cast<uint32_t>(rank)).string(why);
  return ask(request, "report of a death", seconds, fields);
}

void StoreClient::leave() {
  std::string fields;
  if (socket)
    (void)ask(requestOf(StoreRequest::Leave), "farewell", 1, fields);
  socket.close();
}

void StoreClient::forget() { socket.close(); }

} // namespace braid::runtime
