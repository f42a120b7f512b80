/*===- braid_module.h - what a compiled module calls -----------------------------------------------------------------===
 *
 * A thin layer over braid_rt.h for code that braid-opt lowered. Each launch in the program is a *site*, described by
 * constant words. When a program is entered for the first time its ranks compare their sites, and make the communicators of
 * groups. A site is planned when it is first executed, and again only for other sizes or while it is still in flight: its
 * operations are persistent, and work on the program's own buffers, wherever these are this time.
 *
 * Arguments are 64-bit words, so that compiled code needs no types of its own.
 *
 * Words of a site: version (4), number, collective, type, reduction, root, peer, tag, channels, chunks, accumulation, memory (as
 * in braid_rt.h), engine (0: none is planned, 1: braid, 2: nccl, 3: mpi), the number of groups, of ids in all groups, and of pairs; then the size of each group, the ids, and source and
 * target of each pair. No group at all: all ranks of the program.
 *===----------------------------------------------------------------------------------------------------------------===*/
#ifndef BRAID_RUNTIME_BRAID_MODULE_H
#define BRAID_RUNTIME_BRAID_MODULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct braid_comm;

/* --- for compiled code ------------------------------------------------------------------------------------------- */

/* 1 when the program that `key` stands for is entered for the first time; then come all its sites, in program order, and the
 * comparison with the other ranks. */
int64_t braid_module_open(int64_t key);
void braid_module_site(int64_t site, int64_t algorithm, int64_t name);
void braid_module_agree(void);
/* Begins a call of the site. `algorithm` and `name` may be null. */
int64_t braid_module_begin(int64_t site, int64_t algorithm, int64_t name);
/* One tensor of the call: addresses (0: none), counts of elements, and how many blocks lie one after another before the
 * dimension that is cut (send) or concatenated (receive): 1 where blocks are in one piece. */
void braid_module_tensor(int64_t call, int64_t send, int64_t receive, int64_t send_count, int64_t receive_count,
                         int64_t send_outer, int64_t receive_outer);
void braid_module_launch(int64_t call);
void braid_module_finish(int64_t call);
int64_t braid_module_rank(void);
/* Memory that is kept for the next step when it is freed. `site`: one that touches it, whose peers shall reach it without
 * copies; 0: no collective does; 1: any of all ranks. */
void *braid_module_alloc(int64_t bytes, int64_t site);
void braid_module_free(void *memory);
/* The same of a device (braid_alloc_in). */
void *braid_module_alloc_device(int64_t bytes);
/* What comes until the next mark, launch or finish is computation of this number; negative: it is not measured. */
void braid_module_mark(int64_t mark);
/* Timed computation: `seconds` are the bits of a double, on the clock of the communicator of all ranks. */
void braid_module_compute(int64_t seconds, int64_t name);
/* 0 is an error, which says `what`. */
void braid_module_require(int64_t holds, int64_t what);

/* --- for the program that runs a module ---------------------------------------------------------------------------- */

/* The communicator of all ranks, for all modules of this process (of this fiber, inside braid_run_fibers). Without this call it is made from the environment when
 * it is first needed. The caller keeps it. */
void braid_module_use(struct braid_comm *comm);
/* What timed computation is. Sleep (the default) gives up the processor and takes part in what is in flight. Busy spins in
 * multiplications and additions, as a kernel would, and leaves what is in flight to others; not on a virtual clock, which
 * stands still meanwhile. */
typedef enum braid_module_kernel { BRAID_MODULE_SLEEP = 0, BRAID_MODULE_BUSY = 1 } braid_module_kernel;
void braid_module_compute_by(braid_module_kernel kernel);
/* What to do on an error, with a sentence; it must not return. Default: print it and end the process with status 70. */
typedef void (*braid_module_error)(const char *message);
void braid_module_on_error(braid_module_error handler);
/* Operations planned so far: grows only when a site is executed for the first time or with other sizes. */
int64_t braid_module_planned(void);
/* Bytes copied so far because of where they lie: operands that peers can't reach (what the program does not allocate by
 * braid_module_alloc), and blocks of tensors that are cut or concatenated along another dimension than the first. */
int64_t braid_module_copied(void);
/* Times that braid_module_alloc had to ask for memory: does not grow from the second step on. */
int64_t braid_module_allocated(void);
/* What has happened since braid_module_record(1), in the order of its end, until braid_module_record is called again. */
typedef struct braid_module_event {
  int64_t mark;         /* computation of this mark; -1: a collective, from its start to its end, awaited or not */
  double begin, end;    /* seconds on the clock of braid_now */
  const char *name;     /* of a collective, as the module has it; until braid_module_reset. So are its members: */
  const int32_t *ranks; /* in the communicator of all; null: all */
  int64_t members;
  int64_t tensors, bytes; /* of this rank's operands */
  double slowed;          /* computation: the part of its seconds by which an emulated fabric has made it longer */
} braid_module_event;
void braid_module_record(int32_t on);
int64_t braid_module_events(const braid_module_event **events);
/* Gives everything back: operations, communicators of groups, buffers, and the communicator if it was made here. Results of
 * an entry function belong to the caller until braid_module_free, which comes before this. */
void braid_module_reset(void);

#ifdef __cplusplus
}
#endif

#endif
