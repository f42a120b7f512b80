//===- Verbs.cpp - libibverbs of a host without a device ----------------------------------------------------------------===//
#include <cstdlib>

#define CALL extern "C" __attribute__((visibility("default")))

static int forks = 0, listsBefore = 0;

/// How often the library was made ready for forks, and what it was asked before.
CALL int standInForkInits() { return forks; }
CALL int standInListsBefore() { return listsBefore; }

CALL int ibv_fork_init() { return ++forks, 0; }
CALL void **ibv_get_device_list(int *count) {
  listsBefore += forks == 0;
  return *count = 0, nullptr;
}

// Nobody calls these without a device.
#define UNUSED(name)                                                                                                   \
  CALL void name() { std::abort(); }
UNUSED(ibv_free_device_list)
UNUSED(ibv_get_device_name)
UNUSED(ibv_open_device)
UNUSED(ibv_close_device)
UNUSED(ibv_query_device)
UNUSED(ibv_query_port)
UNUSED(ibv_query_gid)
UNUSED(ibv_alloc_pd)
UNUSED(ibv_dealloc_pd)
UNUSED(ibv_reg_mr)
UNUSED(ibv_dereg_mr)
UNUSED(ibv_create_comp_channel)
UNUSED(ibv_destroy_comp_channel)
UNUSED(ibv_create_cq)
UNUSED(ibv_destroy_cq)
UNUSED(ibv_get_cq_event)
UNUSED(ibv_ack_cq_events)
UNUSED(ibv_create_qp)
UNUSED(ibv_modify_qp)
UNUSED(ibv_destroy_qp)
UNUSED(ibv_get_async_event)
UNUSED(ibv_ack_async_event)
#ifndef OLD_RDMA_CORE
UNUSED(ibv_event_type_str)
#endif
