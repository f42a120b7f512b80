//===- MpiPeer.cpp - collectives of an MPI: Open MPI 4 and 5, MPICH 4 and 5, Intel MPI -----------------------------------===//
#include "test/bench/peers/Peer.h"
#include <mpi.h>

using namespace braid::bench;

namespace {

class Mpi {
public:
  Mpi(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  void maximum(double *values, size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, values, int(count), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  void finish() { MPI_Finalize(); }

  void call(Kind kind, const float *send, float *receive, size_t elements, int root) {
    int all = int(elements), block = int(elements / size_t(ranks));
    switch (kind) {
    case Kind::AllReduce:
      MPI_Allreduce(send, receive, all, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case Kind::ReduceScatter:
      MPI_Reduce_scatter_block(send, receive, block, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case Kind::AllGather:
      MPI_Allgather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, MPI_COMM_WORLD);
      break;
    case Kind::AllToAll:
      MPI_Alltoall(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, MPI_COMM_WORLD);
      break;
    default:
      MPI_Bcast(receive, all, MPI_FLOAT, root, MPI_COMM_WORLD);
    }
  }

  int rank = 0, ranks = 1;
};

} // namespace

int main(int argc, char **argv) { return runPeer<Mpi>(argc, argv); }
