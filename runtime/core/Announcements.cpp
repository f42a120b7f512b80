//===- Announcements.cpp - what ranks tell each other about an operation, once --------------------------------------===//
//
// At its first start, on lane 0: what it is, as a hash and in words, the lane where this rank takes its messages, and the sizes
// of blocks between the two where they differ. Nothing of it is believed before it was looked at.
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
  announcement.directness = operation.directness;
  const Request &request = operation.request;
  std::strncpy(announcement.text, request.signature().c_str(), sizeof announcement.text - 1);
  Said all{std::vector<Announcement>(request.ragged() ? size_t(size()) : 1, announcement)};
  for (int peer = 0; peer < size() && request.ragged(); ++peer) {
    all.each[size_t(peer)].gives = request.gives[size_t(peer)];
    all.each[size_t(peer)].takes = request.takes[size_t(peer)];
  }
  said.push_back(std::move(all));
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
    while (t.offered < end && carrier->offer(peer, 0, &said[t.offered - saidFirst].to(peer), sizeof(Announcement))) {
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
      t.heard.emplace_back(heard);
      carrier->accept(peer, 0);
      moved = true;
    }
  }
  for (; saidFirst < taken; ++saidFirst)
    said.pop_front();
  return moved;
}

/// Whether a peer of a ragged operation sends what this rank expects, and expects what it sends.
bool Communicator::sizesAgree(const Operation &operation, int peer, const Announcement &heard) {
  const Request &request = operation.request;
  if (!request.ragged())
    return true;
  auto compare = [&](int source, int target, uint64_t gives, uint64_t takes) {
    if (gives != takes && failure)
      fail(BRAID_MISMATCH, request.title() + ": expected what " + named(target) + " receives from " + named(source) +
                               " to be what that one sends, got " + std::to_string(takes) + " elements expected on " +
                               named(target) + " and " + std::to_string(gives) + " sent by " + named(source));
    return gives == takes;
  };
  return compare(peer, me, heard.gives, request.takes[size_t(peer)]) &&
         compare(me, peer, request.gives[size_t(peer)], heard.takes);
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
    const Announcement &heard = *t.heard[size_t(number - t.first)];
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
    if (!sizesAgree(operation, peer, heard))
      return false;
    operation.reaches(peer, heard.firstLane);
    operation.hears(peer, heard.directness);
    t.heard[size_t(number - t.first)].reset();
    // One that waits for its turn, or for a device, agrees after later ones.
    while (!t.heard.empty() && !t.heard.front()) {
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
