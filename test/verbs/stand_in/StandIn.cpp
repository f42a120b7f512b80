//===- StandIn.cpp - librdmacm that counts what is made, said and given back -----------------------------------------------===//
//
// Like the real ones, an id may not go before its events are acknowledged, nor a channel before its ids: real programs hang there
// (rdma_destroy_id(3)), this one counts a mistake. Addresses are resolved at once; who listens is asked once.
//===------------------------------------------------------------------------------------------------------------===//
#if __has_include(<rdma/rdma_cma.h>)
#include "test/verbs/stand_in/StandIn.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <rdma/rdma_cma.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace {

braid::test::RdmaCounted counted;
ibv_device device;
ibv_context context;
std::map<rdma_cm_id *, int> unacknowledged; // of each id
std::deque<rdma_cm_event *> queue;

void say(rdma_cm_id *id, rdma_cm_event_type type, rdma_cm_id *listener = nullptr) {
  auto *event = static_cast<rdma_cm_event *>(std::calloc(1, sizeof(rdma_cm_event)));
  event->id = id;
  event->listen_id = listener;
  event->event = type;
  queue.push_back(event);
}

rdma_cm_id *make(rdma_event_channel *channel, void *of) {
  auto *id = static_cast<rdma_cm_id *>(std::calloc(1, sizeof(rdma_cm_id)));
  id->channel = channel;
  id->context = of;
  id->verbs = &context;
  id->port_num = 1;
  context.device = &device;
  std::strcpy(device.name, "standin0");
  unacknowledged[id] = 0;
  ++counted.ids;
  return id;
}

} // namespace

#define CALL extern "C" __attribute__((visibility("default")))

CALL braid::test::RdmaCounted *standInCounted() { return &counted; }

CALL rdma_event_channel *rdma_create_event_channel() {
  auto *channel = static_cast<rdma_event_channel *>(std::calloc(1, sizeof(rdma_event_channel)));
  channel->fd = eventfd(0, EFD_CLOEXEC);
  ++counted.channels;
  return channel;
}
CALL void rdma_destroy_event_channel(rdma_event_channel *channel) {
  counted.mistakes += counted.ids != 0;
  --counted.channels;
  close(channel->fd);
  std::free(channel);
}
CALL int rdma_create_id(rdma_event_channel *channel, rdma_cm_id **id, void *of, rdma_port_space) {
  *id = make(channel, of);
  return 0;
}
CALL int rdma_destroy_id(rdma_cm_id *id) {
  auto found = unacknowledged.find(id);
  counted.mistakes += found == unacknowledged.end() || found->second != 0;
  if (found == unacknowledged.end())
    return errno = EINVAL, -1;
  for (auto at = queue.begin(); at != queue.end();)
    if ((*at)->id == id || (*at)->listen_id == id) // what nobody has read goes with it
      std::free(*at), at = queue.erase(at);
    else
      ++at;
  unacknowledged.erase(found);
  --counted.ids;
  std::free(id);
  return 0;
}
CALL int rdma_bind_addr(rdma_cm_id *, sockaddr *) { return 0; }
CALL int rdma_listen(rdma_cm_id *id, int) {
  say(make(id->channel, id->context), RDMA_CM_EVENT_CONNECT_REQUEST, id);
  return 0;
}
CALL uint16_t rdma_get_src_port(rdma_cm_id *) { return 0x1234; }
CALL int rdma_resolve_addr(rdma_cm_id *id, sockaddr *, sockaddr *, int) {
  say(id, RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}
CALL int rdma_resolve_route(rdma_cm_id *, int) { return errno = ENETDOWN, -1; }
CALL int rdma_set_option(rdma_cm_id *, int, int, void *, size_t) { return 0; }
CALL int rdma_init_qp_attr(rdma_cm_id *, ibv_qp_attr *, int *) { return errno = EINVAL, -1; }
CALL int rdma_connect(rdma_cm_id *, rdma_conn_param *) { return 0; }
CALL int rdma_accept(rdma_cm_id *, rdma_conn_param *) { return 0; }
CALL int rdma_reject(rdma_cm_id *, const void *, uint8_t) { return 0; }
#ifndef OLD_RDMA_CORE
CALL int rdma_establish(rdma_cm_id *) { return 0; }
#endif
CALL int rdma_get_cm_event(rdma_event_channel *, rdma_cm_event **event) {
  if (counted.failsWith || queue.empty())
    return errno = counted.failsWith ? counted.failsWith : EAGAIN, -1;
  *event = queue.front();
  queue.pop_front();
  ++unacknowledged[(*event)->listen_id ? (*event)->listen_id : (*event)->id];
  ++counted.given;
  return 0;
}
CALL int rdma_ack_cm_event(rdma_cm_event *event) {
  --unacknowledged[event->listen_id ? event->listen_id : event->id];
  --counted.given;
  std::free(event);
  return 0;
}

#endif
