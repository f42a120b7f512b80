//===- StoreThread.h - the store's server in a thread, on rank 0 ---------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_STORETHREAD_H
#define BRAID_RUNTIME_BOOTSTRAP_STORETHREAD_H

#include "bootstrap/StoreServer.h"
#include <future>
#include <memory>
#include <thread>

namespace braid::runtime {

/// Blocks all signals (they are the program's) and stays inside the mask of processors of the thread that made it. Its end
/// ends everybody's connection.
class StoreThread {
public:
  explicit StoreThread(std::unique_ptr<StoreServer> server);
  ~StoreThread();
  /// Goes on until every client has left, at most until the deadline.
  void finish(Deadline deadline);

private:
  void run();
  std::unique_ptr<StoreServer> server;
  Socket inside, outside; // a byte: finish; closed: end now
  std::promise<void> ended;
  std::thread thread;
};

} // namespace braid::runtime

#endif
