//===- Announcements.cpp - what ranks tell each other about an operation, once --------------------------------------===//
//
// At its first start, on lane 0: what it is, as a hash and in words, and the lane where this rank takes its messages. Nothing of
// it is believed before it was looked at.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/Communicator.h"
#include <algorithm>
#include <cstring>

namespace braid::runtime {

uint64_t Communicator::announce(const Operation &operation, uint32_t &place) {
  place = lanesAnnounced;
  lanesAnnounced += uint32_t(operation.lanes());
  Announcement announcement = {};
  announcement.hash = operation.request.hash();
  announcement.firstLane = operation.firstLane;
  std::strncpy(announcement.text, operation.request.signature().c_str(), sizeof announcement.text - 1);
  said.push_back(announcement);
  ++agreeing;
  return announced++;
}

/// Sends and takes announcements. True: something moved.
bool Communicator::talk() {
  bool moved = false;
  uint64_t end = saidFirst + said.size(), taken = end;
  unsaid = false;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == me)
      continue;
    Told &t = told[size_t(peer)];
    while (t.offered < end && carrier->offer(peer, 0, &said[t.offered - saidFirst], sizeof(Announcement))) {
      ++t.offered;
      moved = true;
    }
    unsaid |= t.offered < end;
    taken = std::min(taken, carrier->accepted(peer, 0));
    Message message;
    while (carrier->peek(peer, 0, message)) {
      Announcement heard = {};
      std::memcpy(&heard, message.data, std::min(message.bytes, sizeof heard));
      heard.text[sizeof heard.text - 1] = 0;
      if (message.bytes != sizeof heard) {
        fail(BRAID_MISMATCH, "announcement of " + named(peer) + ": expected " + std::to_string(sizeof heard) +
                                 " bytes, got " + std::to_string(message.bytes));
        return true;
      }
      t.heard.push_back(heard);
      carrier->accept(peer, 0);
      moved = true;
    }
  }
  for (; saidFirst < taken; ++saidFirst)
    said.pop_front();
  return moved;
}

bool Communicator::agreedOn(Operation &operation, uint64_t number) {
  for (int peer = 0; peer < size(); ++peer) {
    const Told &t = told[size_t(peer)];
    if (peer != me && t.first + t.heard.size() <= number)
      return false;
  }
  uint64_t own = operation.request.hash();
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == me)
      continue;
    Told &t = told[size_t(peer)];
    Announcement &heard = t.heard[size_t(number - t.first)];
    if (heard.firstLane < 1 || heard.firstLane > collectiveLanes - operation.lanes()) {
      fail(BRAID_MISMATCH, "operation " + std::to_string(number) + ": " + operation.request.title() +
                               ": expected a first lane from 1 to " +
                               std::to_string(collectiveLanes - operation.lanes()) + " on " + named(peer) + ", got " +
                               std::to_string(heard.firstLane));
      return false;
    }
    if (heard.hash != own) {
      std::string here = operation.request.signature();
      bool alike = here.compare(0, sizeof heard.text - 1, heard.text) == 0; // what differs had no room in the message
      fail(BRAID_MISMATCH, "operation " + std::to_string(number) + ": expected " + here + " on all ranks, got " +
                               (alike ? "another one of that description" : heard.text) + " on " + named(peer) +
                               (alike ? "; do the other tensors or pairs differ?" : ""));
      return false;
    }
    operation.reaches(peer, heard.firstLane);
    while (t.first <= number) { // operations agree in the order of their numbers
      t.heard.pop_front();
      ++t.first;
    }
  }
  --agreeing;
  return true;
}

std::string Communicator::notAgreed(uint64_t number, int &rank) const {
  for (rank = 0; rank < size(); ++rank)
    if (rank != me && told[size_t(rank)].first + told[size_t(rank)].heard.size() <= number)
      return named(rank) + " has not started it";
  rank = -1;
  return "nothing";
}

} // namespace braid::runtime
