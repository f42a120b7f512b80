//===- CclPeer.cpp - collectives of oneCCL, over Intel MPI --------------------------------------------------------------===//
#include "test/bench/peers/Peer.h"
#include <memory>
#include <mpi.h>
#include <oneapi/ccl.hpp>

using namespace braid::bench;

namespace {

class Ccl {
public:
  Ccl(int argc, char **argv) {
    ccl::init(); // before MPI_Init
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ccl::kvs::address_type address;
    std::shared_ptr<ccl::kvs> store;
    if (rank == 0) {
      store = ccl::create_main_kvs();
      address = store->get_address();
    }
    MPI_Bcast(address.data(), int(address.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank != 0)
      store = ccl::create_kvs(address);
    communicator = std::make_unique<ccl::communicator>(ccl::create_communicator(ranks, rank, store));
  }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  void maximum(double *values, size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, values, int(count), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  void finish() {
    communicator.reset();
    MPI_Finalize();
  }

  void call(Kind kind, const float *send, float *receive, size_t elements, int root) {
    size_t block = elements / size_t(ranks);
    constexpr auto type = ccl::datatype::float32;
    switch (kind) {
    case Kind::AllReduce:
      ccl::allreduce(send, receive, elements, type, ccl::reduction::sum, *communicator).wait();
      break;
    case Kind::ReduceScatter:
      ccl::reduce_scatter(send, receive, block, type, ccl::reduction::sum, *communicator).wait();
      break;
    case Kind::AllGather:
      ccl::allgather(send, receive, block, type, *communicator).wait();
      break;
    case Kind::AllToAll:
      ccl::alltoall(send, receive, block, type, *communicator).wait();
      break;
    default:
      ccl::broadcast(receive, elements, type, root, *communicator).wait();
    }
  }

  int rank = 0, ranks = 1;

private:
  std::unique_ptr<ccl::communicator> communicator;
};

} // namespace

int main(int argc, char **argv) { return runPeer<Ccl>(argc, argv); }
