//===- ParameterServer.cpp - all_reduce over k servers, members or beside the group ------------------------------===//
//
// Each of s servers owns one part of the buffer: everyone sends it that part (push), it adds them, and sends the sum back
// (pull). The servers are the first ranks of the group (StepOptions::servers, at most 64; 0: as many as there are ranks),
// which then work too, or helpers beside it (StepOptions::helpers). With n members as servers it is a direct reduce_scatter
// and a direct all_gather; with one it is the master and its workers. (Li et al., OSDI 2014.)
//
// Every rank starts with another server, and server i adds what comes from ranks i-1, i-2, ..., to its own if it is a member.
//
// k channels of s chunks. n ranks:
//
//                        steps (chain of messages)   chunks on the wire   bytes sent per rank of a buffer of m bytes
//   all_reduce, members  2 (n > 1)                   2 k s (n-1)          worker: m; server: m (s-1)/s + m (n-1)/s
//   all_reduce, helpers  2                           2 k s n              worker: m; server: m n/s
//
// Worked example, n = 2, two helpers 2 and 3, operands a b: rank 0 sends a.0 to 2 and a.1 to 3, rank 1 sends b.1 to 3 and b.0
// to 2; helper 2 has a.0+b.0 and sends it to both.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::AllReduce; }

static int serversOf(int ranks, const StepOptions &options) {
  if (options.helpers > 0)
    return options.helpers;
  int most = ranks < 64 ? ranks : 64;
  return options.servers > 0 && options.servers < most ? options.servers : most;
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  int n = ranks, s = serversOf(ranks, options);
  bool beside = options.helpers > 0;
  Builder builder(collective, n, s, options.channels);
  builder.program.helpers = options.helpers;
  int mine = beside ? rank - n : rank < s ? rank : -1; // the part that this rank serves
  auto rankOf = [&](int server) { return beside ? n + server : server; };
  bool works = rank < n;
  for (int i = 1; works && i <= s; ++i) // push
    if (int server = (rank + i) % s; rankOf(server) != rank)
      builder.message(Action::Send, rankOf(server), blocksOf(server));
  if (mine >= 0) {
    for (int i = beside ? 0 : 1; i < n; ++i)
      builder.message(beside && i == 0 ? Action::Receive : Action::ReceiveReduce, ((mine - i) % n + n) % n,
                      blocksOf(mine));
    for (int i = beside ? 0 : 1; i < n; ++i)
      builder.message(Action::Send, (mine + i) % n, blocksOf(mine));
  }
  for (int i = 1; works && i <= s; ++i) // pull
    if (int server = ((rank - i) % s + s) % s; rankOf(server) != rank)
      builder.message(Action::Receive, rankOf(server), blocksOf(server));
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  return ranks > 1 || options.helpers > 0 ? 2 : 0;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return 2 * int64_t(options.channels) * serversOf(ranks, options) * (options.helpers > 0 ? ranks : ranks - 1);
}

Algorithm parameterServer() { return {"parameter_server", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
