//===- StepProgram.h - an algorithm, written once ---------------------------------------------------------------===//
//
// A *step program* says who sends which chunk to whom, in which order. The cost model prices it, the simulator plays
// it, the checker proves it correct and the runtime executes it: an algorithm is written once.
//
// Each rank of a group has one buffer of `chunks` equal chunks (padded to a whole number of chunks), used in place.
// What it holds before and after, for n ranks, "block i" being the i-th of n equal parts of the chunks:
//
//   all_reduce      operand                                  the sum
//   reduce_scatter  operand (n blocks)                       rank r: block r of the sum in block r, the rest is scratch
//   all_gather      rank r: operand in block r               all operands
//   all_to_all      block i is for rank i                    block i is from rank i
//   permute         operand                                  what the source sent; a rank without a source executes no
//   receive
//                                                            and whoever runs the program fills its result with zeros
//   broadcast       root: operand                            the root's operand
//   reduce          operand                                  root: the sum
//   gather          rank r: operand in block r               root: all operands
//   scatter         root: operand (n blocks)                 rank r: the root's block r in block r
//   barrier         a chunk without bytes                    what depends on every rank
//
// A rank's program is a list of steps. The steps of one channel are executed in order; channels are independent lanes,
// and no two of them touch the same chunk. Lanes that could all go on sending take turns, a message each. Sends do not block and take the value that the chunk has at that moment; a
// receive waits for its message. Messages from one rank to another on one channel arrive in the order in which they
// were sent.
//
// A rank's own operand stays at hand: Combine adds it at any point, so that every rank can add in the same order (the
// naive exchange does: x0 + x1 + x2 on all ranks, where rank 2 has to receive x0 and x1 first).
//
// Example: ring reduce_scatter of 3 chunks on 3 ranks, rank 0:   send c2->1, reduce c1<-2, send c1->1, reduce c0<-2.
//
// Chunks are numbered through three places:
//
//   0 ..                        the buffer
//   chunks ..                   scratch: room for what passes through (Bruck's blocks on their way)
//   chunks + scratch.size() ..  the operand, as it was at first: own(c) is what chunk c held. Only sends read it.
//
// A message may carry several runs of chunks, in any order (Bruck's blocks with one bit in common): all steps of the
// message but the last have `more` set, and they follow each other in the program.
//
// Ranks `ranks` .. `ranks + helpers - 1` are helpers: they have no operand and no result, and all of their buffer is
// scratch. Parameter servers beside the group are helpers, and the aggregators that stand for switches.
//
// A *ragged* all_to_all has blocks of any sizes, some of them empty (a router that sends tokens to experts). Its program is the
// same for all sizes. The buffer is what a rank gets, block i from rank i, the operand what it gives, block i for rank i: they
// lie apart, and sends read the operand or scratch. A chunk of scratch is as large as the share of a block that passes
// through it (StepProgram::shareOf). The block that a rank keeps is in no step, whoever runs the program copies it; and a
// message all of whose chunks are empty is neither sent nor waited for.
//
// Plain C++17: no LLVM, no MLIR, no exceptions.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_STEPPROGRAM_H
#define BRAID_RUNTIME_ALGORITHMS_STEPPROGRAM_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace braid::algorithms {

enum class Collective {
  AllReduce,
  ReduceScatter,
  AllGather,
  AllToAll,
  Permute,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Barrier
};
/// The name in text: "all_reduce", "reduce_scatter", ...
const char *name(Collective collective);

/// What a rank does in one step with chunks [chunk, chunk + count) of its buffer.
enum class Action {
  Send,          ///< send the chunks to `peer`
  Receive,       ///< wait for the next message from `peer`, overwrite the chunks
  ReceiveReduce, ///< wait for the next message from `peer`, combine it into the chunks (theirs op mine)
  Combine, ///< no message: combine what this rank held in the chunks at first into them; `peer` is the rank itself
};

struct Step {
  Action action;
  int peer;          ///< index in the group, not a device id
  int chunk;         ///< first chunk
  int count;         ///< number of chunks, >= 1
  int channel;       ///< independent lane; steps of different channels are not ordered with each other
  bool more = false; ///< the next step's chunks travel in the same message
};

/// One rank's part of a collective on a group of `ranks`, in `chunks` chunks.
struct StepProgram {
  Collective collective;
  int ranks = 0;
  int chunks = 0;
  int channels = 1; ///< lanes in use; a double tree takes two for each channel asked for
  std::vector<Step> steps;
  int helpers = 0;          ///< ranks beside the group that take part
  std::vector<int> scratch; ///< for each chunk of scratch, a chunk of the buffer that is as large; ragged: a share
  bool ragged = false;      ///< an all_to_all whose blocks differ in size

  int own(int chunk) const { return chunks + int(scratch.size()) + chunk; }
  bool isOwn(int chunk) const { return chunk >= own(0); }
  /// One past the last number of a chunk.
  int end() const { return own(chunks); }
  /// Ragged: which share of which block lies in a chunk of `rank`: (source * ranks + target) * channels + channel. A block of
  /// c elements has shares of ceil(c / channels), as far as there are any.
  int64_t shareOf(int chunk, int rank) const {
    if (isOwn(chunk))
      return int64_t(rank) * chunks + (chunk - own(0));
    if (chunk >= chunks)
      return scratch[chunk - chunks];
    return int64_t(chunk / channels) * chunks + rank * channels + chunk % channels;
  }
};

/// Bytes of the buffer that a program works on, given the bytes of one rank's operand: those of all_gather and
/// gather are as large as the result.
inline int64_t bufferBytes(Collective collective, int ranks, int64_t operandBytes) {
  bool grows = collective == Collective::AllGather || collective == Collective::Gather;
  return grows ? operandBytes * ranks : operandBytes;
}

struct StepOptions {
  int channels = 1; ///< >= 1; each channel carries its own share of the chunks
  int segments = 1; ///< pipeline segments of a tree or chain, >= 1
  int root = 0;     ///< of broadcast, reduce, gather, scatter
  /// Of permute: (source, target), indices in the group; each rank at most once as source and once as target. Empty:
  /// every rank to the next one, cyclically.
  std::vector<std::pair<int, int>> pairs;
  /// The host of each rank, any numbers, for algorithms that have levels. Empty: not known.
  std::vector<int> hosts;
  /// The order in which a ring, chain or tree takes the ranks: a permutation, so that neighbours share hosts and racks. Empty:
  /// 0, 1, ...
  std::vector<int> order;
  bool byHosts = false; ///< where there is no order: host by host, as `hosts` says
  int servers = 0;      ///< of a parameter server: the first so many ranks serve; 0: all
  int helpers = 0;      ///< ranks beside the group; of a parameter server: these serve, no member does
  /// The switch that reduces for each rank, numbers from 0 on. Empty: none does.
  std::vector<int> switches;
  std::shared_ptr<const struct PackedPlan> packed; ///< of packed trees, see PackedTrees.h
  std::shared_ptr<const class Packing> packing;    ///< likewise: what the plan is made from, where there is none yet
  bool ragged = false;                             ///< all_to_all: blocks differ in size
  std::shared_ptr<const struct Paths> path; ///< which connections carry the messages, see Paths.h; no algorithm asks
};

/// What an algorithm can't do without, and only the cluster can grant.
enum class Needs {
  Nothing,
  Switches, ///< switches that reduce: StepOptions::switches
  Topology, ///< a graph: StepOptions::packed or packing
};

/// An algorithm: a name the papers use, the collectives it serves, and one rank's program without making the others'.
/// `steps` and `wireChunks` are the formulas each algorithm file states; a test derives both from the programs.
struct Algorithm {
  std::string name; ///< "ring", "double_binary_tree", "naive_exchange", ...
  bool (*serves)(Collective collective, int ranks);
  StepProgram (*program)(Collective collective, int ranks, int rank, const StepOptions &options);
  /// Longest chain of dependent messages, over all ranks.
  int64_t (*steps)(Collective collective, int ranks, const StepOptions &options);
  /// Chunks sent by all ranks together.
  int64_t (*wireChunks)(Collective collective, int ranks, const StepOptions &options);
  Needs needs = Needs::Nothing;
  bool ordered = false; ///< takes StepOptions::order and byHosts
  /// Of an algorithm that takes StepOptions::ragged: how many messages carry the block from one rank to another, one after
  /// another. Bytes on the wire are the sum over all blocks of hops x bytes.
  int64_t (*hops)(int ranks, int source, int target, const StepOptions &options) = nullptr;
  bool forwards =
      false; ///< ragged: ranks pass on the blocks of others, so that each has to know the sizes of all blocks
};

/// Ragged programs that forward serve at most so many ranks: the sizes of all blocks are a table.
constexpr int mostForwarding = 4096;
/// Whether the algorithm serves a ragged all_to_all of so many ranks.
bool servesRagged(const Algorithm &algorithm, int ranks);

/// Whether the options have what the algorithm needs.
bool granted(const Algorithm &algorithm, const StepOptions &options);

/// All algorithms, in a fixed order. What is added here is priced, checked, played and run by the conformance suite.
const std::vector<Algorithm> &registry();
const Algorithm *find(const std::string &name);
/// An algorithm as plans spell it: its name, and what it takes in parentheses, which goes into the options:
///   ring(order=hosts), ring(order=0.2.1.3)     StepOptions::byHosts, order; of those that are `ordered`
///   parameter_server(servers=2)                servers
///   packed_trees(ranks=4 links=...)            packing, see PackedTrees.h
///   any of them with path=x4, path=0-1:50003   path, see Paths.h; the last of its arguments
/// Null: there is none of this name, or `problem` says what is wrong with the rest.
const Algorithm *parse(const std::string &spelling, StepOptions &options, std::string &problem);
/// Adds one that is not Braid's own, at most 32, and removes the last one that was added, if it has this name. Not while
/// another thread uses the registry or an operation uses the algorithm.
void add(const Algorithm &algorithm);
void remove(const std::string &name);

/// The programs of all ranks of a group, and of its helpers.
std::vector<StepProgram> programs(const Algorithm &algorithm, Collective collective, int ranks,
                                  const StepOptions &options);

/// Proves by symbolic execution that the programs of all ranks implement the collective: each contribution exactly
/// once, every element the same expression of additions on all ranks, no deadlock, no message left over; of a ragged all_to_all
/// for all sizes of blocks at once: what comes to a place is the share that the place has the size of. Returns an empty string,
/// or a sentence that says what is wrong, at which rank, chunk and step. Of the options only the root (rooted collectives), the
/// pairs (permute) and ragged matter: they are part of what is asked for.
std::string check(Collective collective, int ranks, const std::vector<StepProgram> &programs,
                  const StepOptions &options);
std::string check(Collective collective, int ranks, const std::vector<StepProgram> &programs, int root = 0);

} // namespace braid::algorithms

#endif
