/* Each rank gives its number plus one; each prints the sum. */
#include "braid/runtime/braid_rt.h"
#include <stdio.h>

static int fail(void) {
  fprintf(stderr, "%s\n", braid_last_error());
  return 1;
}

int main(void) {
  braid_comm *comm;
  if (braid_comm_create(&(braid_comm_options){.size = sizeof(braid_comm_options)}, &comm))
    return fail();
  int32_t rank, ranks;
  braid_comm_rank(comm, &rank, &ranks);
  int32_t *value = braid_alloc(comm, sizeof(int32_t));
  *value = rank + 1;
  braid_buffer buffer = {.send = value, .receive = value, .send_count = 1, .receive_count = 1};
  braid_op *op;
  if (braid_op_plan(comm,
                    &(braid_op_options){.size = sizeof(braid_op_options),
                                        .collective = BRAID_ALL_REDUCE,
                                        .type = BRAID_I32,
                                        .reduction = BRAID_SUM,
                                        .tensors = 1,
                                        .buffers = &buffer},
                    &op) ||
      braid_op_start(op) || braid_op_wait(op))
    return fail();
  printf("rank %d of %d: %d\n", rank, ranks, *value);
  braid_op_destroy(op);
  braid_free(comm, value);
  braid_comm_destroy(comm);
  return 0;
}
