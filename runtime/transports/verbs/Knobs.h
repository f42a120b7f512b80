//===- Knobs.h - what the environment says about RDMA ----------------------------------------------------------------===//
//
// By NCCL's names where they mean the same; BRAID_IB_... of the same name goes before NCCL_IB_...
//
//   NCCL_IB_HCA                   devices: "mlx5_0:1,mlx5_1", by prefix; "=" before the list: by whole names; "^": all but these
//   NCCL_IB_GID_INDEX             entry of the port's GID table; -1: chosen (Gids.h)
//   NCCL_IB_ROCE_VERSION_NUM      of the GID that is chosen, 2 or 1
//   NCCL_IB_QPS_PER_CONNECTION    queue pairs for data to a peer, on each rail
//   NCCL_IB_TIMEOUT, _RETRY_CNT   4.096 us x 2^timeout for an answer, so many times more
//   NCCL_IB_TC, _SL, _PKEY        traffic class, service level, index of the partition key
//   NCCL_DMABUF_ENABLE            0: memory of GPUs is not registered as a dma-buf; BRAID_DMABUF_ENABLE goes before it
//   NCCL_NET_GDR_LEVEL            LOC or 0: it is not registered at all, but staged. PIX, PXB, PHB, SYS, or 1 to 5: it is; how far it is
//                                 from a NIC is not looked at. BRAID_NET_GDR_LEVEL goes before it
//   BRAID_IB_CM                   how queue pairs find each other: exchange (numbers and GIDs go through the rendezvous) or rdma_cm
//                                 (ConnectionManager.h: addresses and paths are those of the kernel and the subnet manager)
//   BRAID_IB_MODE                 how messages beyond 4 KiB come to this rank (Protocol.h): auto, write, read, send
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_KNOBS_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_KNOBS_H

#include "core/Outcome.h"
#include <functional>
#include <string>
#include <vector>

namespace braid::runtime::verbs {

enum class Mode { Auto, Write, Read, Send };
enum class Manager { Exchange, RdmaCm };

struct Knobs {
  struct Adapter {
    std::string name;
    int port = -1; ///< any
  };
  std::vector<Adapter> adapters; ///< none: all
  bool wholeNames = false, allBut = false;
  std::string chosenBy = "NCCL_IB_HCA"; ///< with what it is set to
  int gidIndex = -1, roceVersion = 2;
  int queuePairs = 1;
  Mode mode = Mode::Auto;
  Manager manager = Manager::Exchange;
  int timeout = 20, retries = 7;
  bool dmaBuf = true;    ///< memory of GPUs may be registered as a dma-buf
  std::string notDirect; ///< why it may not be registered at all, or empty
  int trafficClass = 0, serviceLevel = 0, pkeyIndex = 0;

  bool chooses(const std::string &device, int port) const;
  /// Whether it may be that a port of the device is chosen: before it is known how many it has.
  bool considers(const std::string &device) const;
};

/// `variable` is getenv, or a test's.
Outcome readKnobs(const std::function<const char *(const char *)> &variable, Knobs &knobs);

} // namespace braid::runtime::verbs

#endif
