//===- Transitions.cpp - the states of a queue pair of a reliable connection ---------------------------------------===//
//
// The table of ibv_modify_qp(3), as the kernel has it (qp_state_table in drivers/infiniband/core/verbs.c), for what the seam can say.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/double/State.h"
#include <cerrno>

namespace braid::runtime::verbs {

int checkTransition(State from, const QueuePairAttributes &to, unsigned mask, const Node &node) {
  struct Row {
    State from, to;
    unsigned needed, allowed;
  };
  static const Row table[] = {
      {State::Reset, State::Init, SetPkeyIndex | SetPort | SetAccess, 0},
      {State::Init, State::Init, 0, SetPkeyIndex | SetPort | SetAccess},
      {State::Init, State::ReadyToReceive, SetAddress | SetMtu | SetPeer | SetReceivePsn | SetReadsServed | SetRnrTimer,
       SetAccess | SetPkeyIndex},
      {State::ReadyToReceive, State::ReadyToSend,
       SetTimeout | SetRetries | SetRnrRetries | SetSendPsn | SetReadsInFlight, SetAccess | SetRnrTimer},
      {State::ReadyToSend, State::ReadyToSend, 0, SetAccess | SetRnrTimer},
  };
  if (!(mask & SetState))
    return EINVAL;
  if (to.state == State::Error || to.state == State::Reset)
    return mask == SetState ? 0 : EINVAL;
  const Row *row = nullptr;
  for (const Row &each : table)
    if (each.from == from && each.to == to.state)
      row = &each;
  if (!row || (mask & row->needed) != row->needed || (mask & ~(row->needed | row->allowed | SetState)))
    return EINVAL;
  auto outside = [&](unsigned bit, long value, long low, long high) {
    return (mask & bit) && (value < low || value > high);
  };
  bool wrong = outside(SetPort, to.port, 1, 1) || outside(SetPkeyIndex, to.pkeyIndex, 0, 0) ||
               outside(SetAccess, to.access, 0, 15) || outside(SetMtu, to.mtu, 256, 4096) ||
               outside(SetTimeout, to.timeout, 0, 31) || outside(SetRetries, to.retries, 0, 7) ||
               outside(SetRnrRetries, to.rnrRetries, 0, 7) || outside(SetRnrTimer, to.rnrTimer, 0, 31) ||
               outside(SetReadsServed, to.readsServed, 0, 16) || outside(SetReadsInFlight, to.readsInFlight, 0, 16) ||
               outside(SetSendPsn, to.sendPsn, 0, 0xffffff) || outside(SetReceivePsn, to.receivePsn, 0, 0xffffff);
  if (mask & SetAddress) { // RoCE goes by GID
    const auto &address = to.address;
    wrong |= !address.global || address.gid.empty() || address.flowLabel > 0xfffff || address.sourceIndex < 0 ||
             address.sourceIndex >= int(node.gids.size()) || address.serviceLevel > 15;
  }
  return wrong ? EINVAL : 0;
}

} // namespace braid::runtime::verbs
