//===- Peer.h - the frame of a program that measures one collective of another library ----------------------*- C++ -*-===//
//
//   PROGRAM COLLECTIVE BYTES SECONDS
//
// The method, the operands and the check are braid-bench's own (Sampling.h, Values.h): the same batches of back-to-back calls,
// the slowest rank, a rotating root, every element looked at before and after. Rank 0 prints one line of JSON; a wrong result
// is printed as {"wrong": "..."} by the rank that has it, and ends the program with status 3. A peer is a type with
//
//   Peer(int argc, char **argv);  int rank, ranks;  void barrier();  void maximum(double *values, size_t count);
//   void call(Kind kind, const float *send, float *receive, size_t elements, int root);
//
// where `elements` are those of the larger buffer, and a broadcast's root has one buffer, `receive`.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_BENCH_PEERS_PEER_H
#define BRAID_BENCH_PEERS_PEER_H

#include "tools/braid-bench/Sampling.h"
#include "tools/braid-bench/Values.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace braid::bench {

template <class Peer> class PeerRun : public Peer {
public:
  PeerRun(Kind kind, size_t elements, int argc, char **argv) : Peer(argc, argv), kind(kind), elements(elements) {
    this->elements -= elements % size_t(this->ranks);
    counts = countsOf(kind, this->elements, this->ranks);
    send = onPages(counts.send);
    receive = onPages(counts.receive);
    for (size_t i = 0; i < counts.send; ++i)
      send.get()[i] = float(operandAt(this->rank, i));
  }

  double wall() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  double now() const { return wall(); }

  void operator()(int number) {
    int root = number % this->ranks;
    this->call(kind, send.get(), resultOf(root), elements, root);
  }

  /// Whether all ranks have the right results of every root.
  bool check() {
    double failed = 0;
    for (int root = 0; root < (isRooted(kind) ? this->ranks : 1); ++root) {
      memset(receive.get(), 0xff, counts.receive * sizeof(float));
      this->barrier();
      (*this)(root);
      for (size_t i = 0; failed == 0 && i < counts.receive; ++i) {
        float expected = float(resultAt(kind, elements, this->ranks, this->rank, root, i)), got = resultOf(root)[i];
        if (expected == got)
          continue;
        printf("{\"wrong\": \"rank %d, root %d, element %zu of %zu: expected %g, got %g\"}\n", this->rank, root, i,
               counts.receive, expected, got);
        failed = 1;
      }
      this->barrier();
    }
    fflush(stdout);
    this->maximum(&failed, 1);
    return failed == 0;
  }

private:
  /// As braid_alloc gives it: a page's boundary.
  static std::unique_ptr<float, decltype(&free)> onPages(size_t count) {
    constexpr size_t page = 4096;
    size_t bytes = (count * sizeof(float) + page - 1) / page * page;
    return {static_cast<float *>(aligned_alloc(page, bytes)), &free};
  }
  float *resultOf(int root) { return kind == Kind::Broadcast && this->rank == root ? send.get() : receive.get(); }

  Kind kind;
  size_t elements;
  Counts counts;
  std::unique_ptr<float, decltype(&free)> send{nullptr, &free}, receive{nullptr, &free};
};

template <class Peer> int runPeer(int argc, char **argv) {
  int kind = -1;
  for (int i = 0; argc > 3 && i <= int(Kind::Broadcast); ++i)
    if (strcmp(argv[1], kindNames[i]) == 0)
      kind = i;
  if (kind < 0) {
    fprintf(stderr, "usage: %s all_reduce|reduce_scatter|all_gather|all_to_all|broadcast BYTES SECONDS\n", argv[0]);
    return 2;
  }
  PeerRun<Peer> peer(Kind(kind), size_t(atoll(argv[2])) / sizeof(float), argc, argv);
  bool right = peer.check();
  Batches batches;
  if (right) {
    batches = sampleBatches(peer, peer, 25, atof(argv[3]));
    right = peer.check();
  }
  if (right && peer.rank == 0) {
    Median median = medianOf(batches.seconds);
    printf("{\"median_s\": %.9g, \"low_s\": %.9g, \"high_s\": %.9g, \"batches\": %zu, \"calls\": %d}\n", median.value,
           median.low, median.high, batches.seconds.size(), batches.calls);
  }
  fflush(stdout);
  peer.finish();
  return right ? 0 : 3;
}

} // namespace braid::bench

#endif
