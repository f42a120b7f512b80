/* Braid's runtime, but for one thing: results of all_gather in float32 have a wrong last element. BRAID_RIGHT_RUNTIME is the
 * runtime that does the work. */
#include "braid/runtime/braid_rt.h"
#include <dlfcn.h>
#include <stdlib.h>

static void *function(const char *name) {
  static void *library;
  if (!library)
    library = dlopen(getenv("BRAID_RIGHT_RUNTIME"), RTLD_NOW);
  return dlsym(library, name);
}
#define PASS(result, name, parameters, arguments)                                                                      \
  result name parameters { return ((result(*) parameters)function(#name))arguments; }

static braid_op *wrong;
static float *last;

PASS(const char *, braid_last_error, (void), ())
PASS(braid_status, braid_comm_create, (const braid_comm_options *o, braid_comm **c), (o, c))
PASS(braid_status, braid_comm_rank, (const braid_comm *c, int32_t *rank, int32_t *ranks), (c, rank, ranks))
PASS(braid_status, braid_comm_destroy, (braid_comm * c), (c))
PASS(braid_status, braid_now, (braid_comm * c, double *seconds), (c, seconds))
PASS(void *, braid_alloc, (braid_comm * c, size_t bytes), (c, bytes))
PASS(void, braid_free, (braid_comm * c, void *memory), (c, memory))
PASS(braid_status, braid_op_start, (braid_op * op), (op))
PASS(braid_status, braid_op_destroy, (braid_op * op), (op))

braid_status braid_op_plan(braid_comm *c, const braid_op_options *o, braid_op **op) {
  braid_status status =
      ((braid_status (*)(braid_comm *, const braid_op_options *, braid_op **))function("braid_op_plan"))(c, o, op);
  if (status == BRAID_OK && o->collective == BRAID_ALL_GATHER && o->type == BRAID_F32) {
    wrong = *op;
    last = (float *)o->buffers[0].receive + o->buffers[0].receive_count - 1;
  }
  return status;
}

braid_status braid_op_wait(braid_op *op) {
  braid_status status = ((braid_status (*)(braid_op *))function("braid_op_wait"))(op);
  if (op == wrong)
    *last += 1;
  return status;
}
