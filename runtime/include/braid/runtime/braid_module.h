/*===- braid_module.h - what a compiled module calls -----------------------------------------------------------------===
 *
 * A thin layer over braid_rt.h for code that braid-opt lowered. Each launch in the program is a *site*, described by
 * constant words. A site is planned when it is first executed, and again only for other sizes or while it is still in flight:
 * its operations are persistent. Communicators of groups are made when they are first used, in program order, which is the same on all
 * ranks.
 *
 * All arguments are 64-bit words, pointers too, so that compiled code needs no types of its own.
 *
 * Words of a site: version (1), number, collective, type, reduction, root, peer, tag, channels, chunks (as in braid_rt.h), the
 * number of groups, of ids in all groups, and of pairs; then the size of each group, the ids, and source and target of each
 * pair. No group at all: all ranks of the program.
 *===----------------------------------------------------------------------------------------------------------------===*/
#ifndef BRAID_RUNTIME_BRAID_MODULE_H
#define BRAID_RUNTIME_BRAID_MODULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct braid_comm;

/* --- for compiled code ------------------------------------------------------------------------------------------- */

/* Begins a call of the site. `algorithm` and `name` may be null. */
int64_t braid_module_begin(int64_t site, int64_t algorithm, int64_t name);
/* One tensor of the call: addresses (0: none), counts of elements, and how many blocks lie one after another before the
 * dimension that is cut (send) or concatenated (receive): 1 where blocks are in one piece. */
void braid_module_tensor(int64_t call, int64_t send, int64_t receive, int64_t send_count, int64_t receive_count,
                         int64_t send_outer, int64_t receive_outer);
void braid_module_launch(int64_t call);
void braid_module_finish(int64_t call);
int64_t braid_module_rank(void);

/* --- for the program that runs a module ---------------------------------------------------------------------------- */

/* The communicator of all ranks, for all modules of this process. Without this call it is made from the environment when
 * it is first needed. The caller keeps it. */
void braid_module_use(struct braid_comm *comm);
/* What to do on an error, with a sentence; it must not return. Default: print it and end the process with status 70. */
typedef void (*braid_module_error)(const char *message);
void braid_module_on_error(braid_module_error handler);
/* Operations planned so far: grows only when a site is executed for the first time or with other sizes. */
int64_t braid_module_planned(void);
/* Gives everything back: operations, communicators of groups, buffers, and the communicator if it was made here. */
void braid_module_reset(void);

#ifdef __cplusplus
}
#endif

#endif
