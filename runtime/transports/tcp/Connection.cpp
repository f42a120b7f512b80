//===- Connection.cpp - one peer: lanes, what waits to be sent, what has landed ------------------------------------===//
#include "transports/tcp/Connection.h"
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace braid::runtime::tcp {

constexpr size_t stageBytes = 64 << 10;
constexpr size_t mostPerRound = 4 << 20; // bytes read from one peer before the next one has its turn
constexpr int mostPieces = 32;           // of one writev

Connection::Connection(Socket given, BufferPool &pool, TransportCounters &counters)
    : socket(std::move(given)), pool(pool), counters(counters), stage(stageBytes) {}

Connection::~Connection() {
  if (landing.data)
    pool.give(landing);
  for (Lane &one : lane)
    for (Buffer &buffer : one.landed)
      pool.give(buffer);
}

Connection::Lane &Connection::at(int number) {
  if (static_cast<size_t>(number) >= lane.size())
    lane.resize(static_cast<size_t>(number) + 1);
  return lane[static_cast<size_t>(number)];
}

void Connection::end(State state, std::string reason) {
  if (now != Open)
    return;
  now = state;
  why = std::move(reason);
}

void Connection::queue(Frame::Kind kind, int number, uint64_t value, const char *data, size_t bytes, uint16_t note) {
  Frame head;
  head.kind = kind;
  head.lane = static_cast<uint16_t>(number);
  head.note = note;
  head.value = value;
  out.push_back({head, data, bytes});
}

bool Connection::offer(int number, const void *data, size_t bytes, uint16_t note) {
  Lane &one = at(number);
  if (now != Open || mute || one.offered - one.credited >= window ||
      (one.offered != one.credited && one.outstanding >= windowBytes)) {
    wanted = true; // a credit
    return false;
  }
  ++one.offered;
  one.sizes.push_back(bytes);
  one.outstanding += bytes;
  ++counters.messages;
  counters.bytes += bytes;
  // Credits that wait go with it, in the same call.
  bool first = out.empty() || (sent == 0 && out.front().frame.kind == Frame::Credit);
  queue(Frame::Data, number, bytes, static_cast<const char *>(data), bytes, note);
  if (first)
    send();
  return true;
}

uint64_t Connection::accepted(int number) { return at(number).written; }

bool Connection::peek(int number, Message &message) {
  Lane &one = at(number);
  if (one.landed.empty()) {
    wanted = true;
    return false;
  }
  message = {one.landed.front().data, one.landed.front().bytes, one.landed.front().note};
  return true;
}

void Connection::accept(int number) {
  Lane &one = at(number);
  one.untoldBytes += one.landed.front().bytes;
  pool.give(one.landed.front());
  one.landed.pop_front();
  ++one.consumed;
  if (one.consumed - one.told >= creditEvery || one.untoldBytes >= creditEveryBytes) {
    one.told = one.consumed;
    one.untoldBytes = 0;
    if (!mute)
      queue(Frame::Credit, number, one.told); // leaves with the next data or the next progress
  }
}

void Connection::send() {
  while (!out.empty() && now == Open) {
    iovec pieces[mostPieces];
    int count = 0;
    size_t skip = sent;
    for (Outgoing &one : out) {
      if (count + 2 > mostPieces)
        break;
      if (skip < sizeof(Frame)) {
        pieces[count++] = {reinterpret_cast<char *>(&one.frame) + skip, sizeof(Frame) - skip};
        skip = 0;
      } else {
        skip -= sizeof(Frame);
      }
      if (one.bytes > skip)
        pieces[count++] = {const_cast<char *>(one.data) + skip, one.bytes - skip};
      skip = 0;
    }
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = static_cast<size_t>(count);
    ++counters.systemCalls;
    ssize_t written = sendmsg(socket.fd(), &message, MSG_NOSIGNAL);
    if (written < 0) {
      if (errno == EINTR)
        continue;
      // What the peer said before it ended may still be there to read, so the reading side decides what happened.
      if (errno != EAGAIN)
        mute = wanted = true, out.clear(), sent = 0;
      return;
    }
    sent += static_cast<size_t>(written);
    while (!out.empty() && sent >= sizeof(Frame) + out.front().bytes) {
      sent -= sizeof(Frame) + out.front().bytes;
      if (out.front().frame.kind == Frame::Data)
        ++at(out.front().frame.lane).written;
      out.pop_front();
    }
  }
}

bool Connection::header() {
  switch (frame.kind) {
  case Frame::Data:
    if (frame.lane >= lanes)
      break;
    landing = pool.take(frame.value);
    landing.note = frame.note;
    got = 0;
    inside = true;
    if (!landing.data)
      end(Broken, "no memory for a message of " + std::to_string(frame.value) + " bytes");
    return landing.data;
  case Frame::Abort:
    if (frame.value > longestReason)
      break;
    landing = pool.take(frame.value);
    got = 0;
    inside = true;
    return landing.data;
  case Frame::Credit: {
    if (frame.lane >= lanes)
      break;
    Lane &one = at(frame.lane);
    if (frame.value > one.offered || frame.value < one.credited)
      break;
    for (; one.credited != frame.value; ++one.credited) {
      one.outstanding -= one.sizes.front();
      one.sizes.pop_front();
    }
    wanted = false;
    return true;
  }
  case Frame::Bye:
    end(Left, "it has left");
    return true;
  }
  end(Broken, "it sent what is no frame (kind " + std::to_string(frame.kind) + ")");
  return false;
}

void Connection::arrived() {
  inside = false;
  if (frame.kind == Frame::Data) {
    at(frame.lane).landed.push_back(landing);
    landing = Buffer();
    wanted = false;
    return;
  }
  std::string reason(landing.data, landing.bytes);
  died = int(frame.lane) - 1;
  pool.give(landing);
  end(Aborted, reason);
}

void Connection::parse() {
  while (now != Broken) {
    if (!inside) {
      if (to - from < sizeof(Frame))
        break;
      std::memcpy(&frame, stage.data() + from, sizeof frame);
      from += sizeof frame;
      if (!header())
        return;
      if (!inside)
        continue;
    }
    size_t take = std::min(to - from, landing.bytes - got);
    if (take) {
      std::memcpy(landing.data + got, stage.data() + from, take);
      ++counters.copies;
      counters.bytesCopied += take;
    }
    from += take;
    got += take;
    if (got != landing.bytes)
      break;
    arrived();
  }
  std::memmove(stage.data(), stage.data() + from, to - from);
  to -= from;
  from = 0;
}

void Connection::receive() {
  // A large message is read straight to where it lands; what lies behind it goes to the stage in the same call.
  for (size_t total = 0; total < mostPerRound && now != Broken && now != Lost;) {
    size_t rest = inside ? landing.bytes - got : 0; // the stage is empty then
    iovec pieces[2] = {{landing.data + (rest ? got : 0), rest}, {stage.data() + to, stage.size() - to}};
    size_t asked = rest + pieces[1].iov_len;
    ++counters.systemCalls;
    ssize_t read = rest ? readv(socket.fd(), pieces, 2) : recv(socket.fd(), pieces[1].iov_base, pieces[1].iov_len, 0);
    if (read < 0) {
      if (errno == EINTR)
        continue;
      if (errno != EAGAIN)
        end(Lost, std::string("its connection broke: ") + std::strerror(errno));
      return;
    }
    if (read == 0)
      return end(Lost, "its process ended or its connection was closed");
    size_t bytes = static_cast<size_t>(read), landed = std::min(bytes, rest);
    total += bytes;
    got += landed;
    to += bytes - landed;
    parse();
    if (bytes < asked)
      return;
  }
}

void Connection::progress(bool read) {
  if (!out.empty())
    send();
  if ((wanted || read || mute) && now == Open)
    receive();
}

void Connection::abort(const std::string &reason, int dead) {
  if (now != Open || mute)
    return;
  // Buffers of the operations may be freed now: what was begun goes on from a copy, what was not is dropped.
  bool begun = !out.empty() && sent;
  if (begun)
    owned.assign(out.front().data ? out.front().data : "", out.front().bytes);
  out.resize(begun ? 1 : 0);
  if (begun)
    out.front().data = owned.data();
  else
    sent = 0;
  reasonToSend = reason.substr(0, longestReason);
  queue(Frame::Abort, dead + 1, reasonToSend.size(), reasonToSend.data(), reasonToSend.size());
  send();
  mute = true;
}

void Connection::bye() {
  if (now != Open || mute)
    return;
  queue(Frame::Bye, 0, 0);
  send();
}

bool Connection::drained() const {
  int left = 0;
  return now == Lost || now == Broken || ioctl(socket.fd(), SIOCOUTQ, &left) != 0 || left == 0;
}

void Connection::finishSending() { shutdown(socket.fd(), SHUT_WR); }

} // namespace braid::runtime::tcp
