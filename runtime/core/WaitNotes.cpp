//===- WaitNotes.cpp - ranks that have waited for long tell each other what for -------------------------------------===//
#include "core/WaitNotes.h"

namespace braid::runtime {

constexpr size_t longest = 300, most = 8; // bytes of a note; notes that a peer has not read

void WaitNotes::say(Peer &peer, const std::string &words) {
  peer.said.push_back(words.substr(0, longest));
  peer.waited = !words.empty();
  any = true;
}

void WaitNotes::wait(int number, const std::string &words) {
  Peer &peer = peers[size_t(number)];
  if (number != me && !peer.waited && peer.said.size() < most)
    say(peer, words);
}

void WaitNotes::goOn() {
  for (Peer &peer : peers)
    if (peer.waited)
      say(peer, "");
  if (any)
    look();
}

void WaitNotes::look() {
  for (int number = 0; number < int(peers.size()); ++number) {
    if (number == me)
      continue;
    Peer &peer = peers[size_t(number)];
    for (; !peer.said.empty() && peer.accepted < transport.accepted(number, lane); ++peer.accepted)
      peer.said.pop_front();
    for (size_t next; (next = size_t(peer.offered - peer.accepted)) < peer.said.size(); ++peer.offered)
      if (!transport.offer(number, lane, peer.said[next].data(), peer.said[next].size()))
        break;
    Message message;
    while (transport.peek(number, lane, message)) {
      peer.heard.assign(static_cast<const char *>(message.data), message.bytes);
      transport.accept(number, lane);
    }
  }
}

} // namespace braid::runtime
