/*===- braid_rt.h - the collective runtime, in C --------------------------------------------------------------------===
 *
 * Operations are planned and persistent: make a communicator once, plan each collective of the program once (buffers are
 * registered and step programs built then), start and wait in every step.
 *
 *   braid_comm *comm;
 *   braid_comm_create(&(braid_comm_options){.size = sizeof(braid_comm_options)}, &comm);   // ranks from the environment
 *   float *x = braid_alloc(comm, n * sizeof(float));                                       // memory that peers can map
 *   braid_op *op;
 *   braid_op_plan(comm, &(braid_op_options){.size = sizeof(braid_op_options), .collective = BRAID_ALL_REDUCE, ...}, &op);
 *   for (each step) { braid_op_start(op); compute(); braid_op_wait(op); }
 *
 * Every call returns a status; braid_last_error() is a sentence with the rank, peer, operation and step. Calls on one
 * communicator come from one thread at a time, but for braid_comm_abort, which any thread may call while another one waits;
 * different communicators are independent. Outputs are set only on success.
 *===----------------------------------------------------------------------------------------------------------------===*/
#ifndef BRAID_RUNTIME_BRAID_RT_H
#define BRAID_RUNTIME_BRAID_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BRAID_RT_VERSION 1

typedef struct braid_comm braid_comm;
typedef struct braid_op braid_op;

typedef enum braid_status {
  BRAID_OK = 0,
  BRAID_INVALID = 1,     /* an argument; nothing was done */
  BRAID_UNSUPPORTED = 2, /* legal, but not by this engine, transport or algorithm */
  BRAID_PEER_DIED = 3,   /* a process of the communicator ended, or destroyed it, while something was wanted of it */
  BRAID_TIMEOUT = 4,     /* a live peer did not answer within the deadline */
  BRAID_ABORTED = 5,     /* braid_comm_abort, here or on another rank */
  BRAID_OUT_OF_MEMORY = 6,
  BRAID_SYSTEM = 7,  /* the operating system refused something */
  BRAID_MISMATCH = 8 /* ranks do not agree: order of operations, sizes, types */
} braid_status;

/* The dialect's collectives, by the same names. */
typedef enum braid_collective {
  BRAID_ALL_REDUCE = 0,
  BRAID_REDUCE_SCATTER = 1,
  BRAID_ALL_GATHER = 2,
  BRAID_ALL_TO_ALL = 3,
  BRAID_PERMUTE = 4,
  BRAID_BROADCAST = 5,
  BRAID_REDUCE = 6,
  BRAID_GATHER = 7,
  BRAID_SCATTER = 8,
  BRAID_SEND = 9,
  BRAID_RECV = 10,
  BRAID_BARRIER = 11
} braid_collective;

typedef enum braid_type {
  BRAID_BOOL = 0, /* one byte, 0 or 1 */
  BRAID_I8 = 1,
  BRAID_I16 = 2,
  BRAID_I32 = 3,
  BRAID_I64 = 4,
  BRAID_U8 = 5,
  BRAID_U16 = 6,
  BRAID_U32 = 7,
  BRAID_U64 = 8,
  BRAID_F8E4M3FN = 9,
  BRAID_F8E5M2 = 10,
  BRAID_F16 = 11,
  BRAID_BF16 = 12,
  BRAID_F32 = 13,
  BRAID_F64 = 14
} braid_type;

typedef enum braid_reduction {
  BRAID_SUM = 0,
  BRAID_PRODUCT = 1,
  BRAID_MIN = 2,
  BRAID_MAX = 3,
  BRAID_AVERAGE = 4,
  BRAID_AND = 5,
  BRAID_OR = 6,
  BRAID_XOR = 7
} braid_reduction;

/* Where the buffers of an operation are. */
typedef enum braid_memory {
  BRAID_MEMORY_HOST = 0,
  BRAID_MEMORY_PINNED = 1, /* of the host, which devices read and write too: starts and waits follow a stream */
  BRAID_MEMORY_DEVICE = 2  /* of an NVIDIA device; the driver is loaded when it is first needed */
} braid_memory;

/* Every options struct starts with its own size, so that an older program runs with a newer library; a newer one runs with an
 * older library as long as it sets nothing that the library does not know (else BRAID_UNSUPPORTED). Zero is "default". */
typedef struct braid_comm_options {
  size_t size;
  int32_t rank, ranks; /* both 0: from the environment (BRAID_*, torchrun, Open MPI, MPICH, Slurm), else one process */
  const char *rendezvous; /* "host:port" of the store; NULL: from the environment */
  const char *transport;  /* "shm", "tcp", "verbs", "emulated+shm", ...; NULL: shm in one host, else tcp */
  const char *profile;    /* emulated: the cluster's fabric profile as JSON (written by braid-sim emit-profile) */
  uint64_t seed;          /* emulated: of all draws */
  double deadline_s;      /* for live peers that are stuck; 0: 60 s */
  uint64_t job;           /* emulated: the job whose draws apply; 0: BRAID_EMULATED_JOB, else job 0 */
  const char *clock;      /* emulated: "wall" or "virtual"; NULL: BRAID_EMULATED_CLOCK, else wall. An option that is
                             "emulated" is an error with another transport */
  const char *paths; /* tcp, verbs: connections of operations with a path: a plan's path, or those of several as one
                             ("to47000;0-1:50003.50007", "x4"; Paths.h); "off": operations do without, over ports of the
                             system's choice; NULL: BRAID_PATHS, else none. The same on all ranks */
  const char
      *engine; /* who runs operations: "braid" (its own step programs), "mpi", "nccl", or several with commas between
                         them, of which operations choose; the first is that of operations that name none. NULL: BRAID_ENGINE,
                         else "braid". The same on all ranks, and of subsets; an engine is connected when the communicator
                         is made */
  const char *
      islands; /* "mpi:0-2;braid:3-7": engines that connect some of the job's ranks each, where no single one connects all.
                          Collectives run by them inside an island, and by "braid" between islands. In engine's place. NULL:
                          BRAID_ISLANDS, else none. The same on all ranks */
} braid_comm_options;

/* One tensor of an operation. Counts are elements of this rank's operand (send) and result (receive); with n ranks:
 *
 *   all_reduce, all_to_all, permute   receive = send (all_to_all: a multiple of n, or sums of counts, see send_counts)
 *   reduce_scatter                    send = n receive
 *   all_gather                        receive = n send
 *   broadcast, scatter                root: send = receive, n receive; others send nothing (0, ignored)
 *   reduce, gather                    root: receive = send, n send; others receive nothing (0, untouched)
 *   send, recv                        one of the two
 *
 * Operand and result may be the same memory or overlap in any way; results of different tensors may not. */
typedef struct braid_buffer {
  const void *send; /* may equal receive: in place, where the collective allows it */
  void *receive;
  size_t send_count, receive_count;
} braid_buffer;

typedef struct braid_op_options {
  size_t size;
  braid_collective collective;
  braid_type type;
  braid_reduction reduction;
  int32_t root;      /* index in the communicator */
  int32_t peer, tag; /* send and recv: another rank; 0 to 1023. Per tag, in the order of the starts */
  size_t tensors;    /* a bucket: one launch over several tensors, without packing where they are large */
  const braid_buffer *buffers;
  size_t pairs; /* permute: source, target, source, target, ... */
  const int32_t *pair_list;
  /* Of the registry: "ring", or with what it takes, "ring(order=hosts)" (StepProgram.h, parse); NULL: the plan's default */
  const char *algorithm;
  int32_t channels, chunks; /* 0: the algorithm's default */
  const char *name;         /* for errors and timelines */
  /* Reductions: the type that values are combined in, plus one (BRAID_F32 + 1); 0: that of the elements. Of the same class
   * and at least as wide. Operands are converted to it, messages carry it, results are rounded once, at the end: bits are
   * those of the same collective on converted tensors, as XLA's AllReducePromotion has it. */
  int32_t accumulation;
  /* 0: runs as soon as it is started, beside others. Else: waits for those that were started before it with the same number, on
   * this communicator, its subsets and its parent, that use the same fabric (inside a host, or between hosts). That is what
   * plans assume: two at a time would share the links. */
  int32_t queue;
  /* So many ranks at the end of the communicator have no operand and no result: they serve the others, as parameter servers, or as
   * the switches of an emulated fabric that reduce. They give the counts of another rank, and no memory. */
  int32_t helpers;
  /* "in_network": for each other rank, which of the helpers is its switch, from 0 on; NULL: the first */
  const int32_t *switches;
  /* All to all of blocks that differ in size, of one tensor (a router that sends tokens to experts): elements for each rank,
   * and from each rank, n of both, in the order of the ranks. Blocks lie one after another; send_count and receive_count are
   * the sums. What a rank sends and what the other expects are compared at the first start: BRAID_MISMATCH names both.
   * NULL: all blocks are equal. */
  const size_t *send_counts, *receive_counts;
  /* The sizes of all blocks, entry i * n + j from rank i to rank j, the same on all ranks, for algorithms that forward blocks
   * ("bruck", "hierarchical"). With it the two lists above may be NULL. */
  const size_t *pair_counts;
  /* Where all buffers are, a braid_memory; ranks may differ. On a device: what the operation reads and writes is ordered by streams
   * (braid_op_start_on), also by plain starts and waits, which are those of the default stream. */
  int32_t memory;
  /* One of the communicator's engines (braid_comm_options.engine), the same on all ranks; NULL: its first. Another engine than
   * "braid" runs the collective by its own library: `algorithm`, `channels` and `chunks` are then requests to that, if it takes
   * any. What it does not have is BRAID_UNSUPPORTED. Ranks start an engine's operations in one order, every time. */
  const char *engine;
} braid_op_options;

const char *braid_last_error(void);                 /* of this thread; valid until its next call */
const char *braid_status_name(braid_status status); /* "BRAID_TIMEOUT" */
uint32_t braid_version(void); /* of the library; the program's is BRAID_RT_VERSION. Ranks of one job compare theirs */

braid_status braid_comm_create(const braid_comm_options *options, braid_comm **comm);
/* A communicator of `count` of the parent's ranks, in this order. Called by those ranks, in the same order of calls. */
braid_status braid_comm_subset(braid_comm *parent, const int32_t *ranks, size_t count, braid_comm **comm);
braid_status braid_comm_rank(const braid_comm *comm, int32_t *rank, int32_t *ranks);
/* Compares a hash (of the order of collectives) on all ranks: BRAID_MISMATCH names the first rank that differs. */
braid_status braid_comm_agree(braid_comm *comm, uint64_t hash);
braid_status braid_comm_abort(braid_comm *comm, const char *why);
/* Computation that is a sleep, on the clock of the transport (emulated: stretched wall time, or virtual time); operations in
 * flight go on. An emulated fabric may state that ranks differ, and that operations in flight slow it: then it takes longer than
 * `seconds`. And that clock's time, seconds from a start of its own. */
braid_status braid_sleep(braid_comm *comm, double seconds);
braid_status braid_now(braid_comm *comm, double *seconds);
/* Begins a step that is measured: on an emulated clock all ranks leave at one time, which is `begin` (may be NULL), and messages
 * have the draws of this job and step from here on. Elsewhere it only tells the time. Nothing may be in flight. */
braid_status braid_step(braid_comm *comm, uint64_t job, uint64_t step, double *begin);
/* 1: messages carry their bytes. 0: only their sizes (transport "sizes"), and nothing is copied or reduced. */
int32_t braid_comm_carries_data(const braid_comm *comm);
/* All ranks of a job in the calling thread, as fibers that take turns: `body` once for each, with the communicator of all. For
 * emulated+in-process and emulated+sizes on the virtual clock, where threads would only wake each other. The first error ends the
 * others; `body` returns 0 if all went well. */
typedef int (*braid_rank_body)(braid_comm *comm, void *context);
braid_status braid_run_fibers(int32_t ranks, const braid_comm_options *options, braid_rank_body body, void *context);
braid_status braid_comm_destroy(braid_comm *comm);

/* Memory that the transport can reach without copies (shared memory: mapped by the peers). NULL on failure. */
void *braid_alloc(braid_comm *comm, size_t bytes);
void braid_free(braid_comm *comm, void *memory);
/* Memory of that kind. Of a device: of the one whose context is current in this thread, else that of an engine (nccl), else the one
 * with this rank's number among the ranks of its host. */
void *braid_alloc_in(braid_comm *comm, braid_memory memory, size_t bytes);

braid_status braid_op_plan(braid_comm *comm, const braid_op_options *options, braid_op **op);
/* Other buffers of the same sizes for an operation that is not in flight, in the order of the plan. A rank may do this on
 * its own; the last few sets of buffers are remembered, so that buffers that take turns cost nothing. */
braid_status braid_op_rebind(braid_op *op, const braid_buffer *buffers, size_t count);
braid_status braid_op_start(braid_op *op);
braid_status braid_op_wait(braid_op *op); /* drives progress itself */
braid_status braid_op_test(braid_op *op, int32_t *done);
/* For buffers that are not plain memory of the host, in the order of a CUDA stream (a cudaStream_t or CUstream; NULL: the default
 * stream): operands are what they are when all that is in the stream now is done, and what is put into the stream after the wait
 * finds the results. The start does not wait for the stream. The wait returns when all messages have been exchanged; results may
 * still be on their way to the device. */
braid_status braid_op_start_on(braid_op *op, void *stream);
braid_status braid_op_wait_on(braid_op *op, void *stream);
/* When its last execution was started, and when it ended, which may be before it was awaited: on the clock of braid_now. */
braid_status braid_op_times(braid_op *op, double *began, double *ended);
braid_status braid_op_destroy(braid_op *op);

#ifdef __cplusplus
}
#endif

#endif
