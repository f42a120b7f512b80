//===- GlooPeer.cpp - collectives of Gloo, over TCP on the loopback ------------------------------------------------------===//
//
//   gloo COLLECTIVE BYTES SECONDS RANKS FOLDER      starts the ranks itself; they meet in the (empty) folder
//
// Gloo has no shared memory transport. Its reduce_scatter works in place, so its copies are counted.
//===------------------------------------------------------------------------------------------------------------------===//
#include "test/bench/peers/Peer.h"
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::bench;

namespace {

class Gloo {
public:
  Gloo(int, char **argv) : rank(atoi(getenv("GLOO_PEER_RANK"))), ranks(atoi(argv[4])) {
    gloo::transport::tcp::attr attributes;
    attributes.iface = "lo";
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(argv[5]);
    auto meeting = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
    meeting->connectFullMesh(store, device);
    context = meeting;
  }
  void barrier() {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
  }
  void maximum(double *values, size_t count) { reduce(values, values, count, &gloo::max<double>); }
  void finish() { barrier(); }

  void call(Kind kind, const float *send, float *receive, size_t elements, int root) {
    size_t block = elements / size_t(ranks);
    float *operand = const_cast<float *>(send); // Gloo's interface; it is not written
    if (kind == Kind::AllReduce) {
      reduce(operand, receive, elements, &gloo::sum<float>);
    } else if (kind == Kind::ReduceScatter) {
      work.assign(send, send + elements);
      gloo::ReduceScatterHalvingDoubling<float> algorithm(context, {work.data()}, int(elements),
                                                          std::vector<int>(size_t(ranks), int(block)));
      algorithm.run();
      std::copy_n(work.data(), block, receive);
    } else if (kind == Kind::AllGather) {
      gloo::AllgatherOptions options(context);
      options.setInput(operand, block);
      options.setOutput(receive, elements);
      gloo::allgather(options);
    } else if (kind == Kind::AllToAll) {
      gloo::AlltoallOptions options(context);
      options.setInput(operand, elements);
      options.setOutput(receive, elements);
      gloo::alltoall(options);
    } else {
      gloo::BroadcastOptions options(context);
      options.setOutput(receive, elements);
      options.setRoot(root);
      gloo::broadcast(options);
    }
  }

  int rank, ranks;

private:
  template <class T>
  void reduce(T *send, T *receive, size_t count, void (*function)(void *, const void *, const void *, size_t)) {
    gloo::AllreduceOptions options(context);
    options.setInput(send, count);
    options.setOutput(receive, count);
    options.setReduceFunction(function);
    gloo::allreduce(options);
  }

  std::shared_ptr<gloo::Context> context;
  std::vector<float> work;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 6 || atoi(argv[4]) < 1) {
    fprintf(stderr, "usage: %s COLLECTIVE BYTES SECONDS RANKS FOLDER\n", argv[0]);
    return 2;
  }
  for (int rank = 0; rank < atoi(argv[4]); ++rank)
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      setenv("GLOO_PEER_RANK", std::to_string(rank).c_str(), 1);
      return runPeer<Gloo>(argc, argv);
    }
  int result = 0;
  for (int status; wait(&status) > 0;)
    result = result ? result : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return result;
}
