//===- WaitNotes.h - ranks that have waited for long tell each other what for ---------------------------------------===//
//
// Two ranks that wait for each other, each in an operation of its own (recv against recv), are silent: at the deadline each
// knows what it waits for, and not why. So who has waited for a while tells the one that it waits for, and takes it back when it
// goes on. A note is a message on a lane of its own, which only ranks that wait look at; it never decides anything, since another
// thread of the peer may still start what is missing.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_WAITNOTES_H
#define BRAID_RUNTIME_CORE_WAITNOTES_H

#include "transports/Transport.h"
#include <deque>
#include <string>
#include <vector>

namespace braid::runtime {

class WaitNotes {
public:
  WaitNotes(Transport &transport, int lane, int me, int ranks)
      : transport(transport), lane(lane), me(me), peers(size_t(ranks)) {}

  /// This rank waits for `peer`, "in these words". Once for each peer, until it goes on.
  void wait(int peer, const std::string &words);
  /// It waits no more.
  void goOn();
  /// Sends what can be sent and hears what has come.
  void look();
  /// What `peer` waits for; "" if it has not said so.
  const std::string &of(int peer) const { return peers[size_t(peer)].heard; }

private:
  struct Peer {
    std::deque<std::string> said; ///< and not accepted yet: their bytes stay where they are
    uint64_t offered = 0, accepted = 0;
    std::string heard;
    bool waited = false;
  };
  void say(Peer &peer, const std::string &words);

  Transport &transport;
  const int lane, me;
  std::vector<Peer> peers;
  bool any = false;
};

} // namespace braid::runtime

#endif
