//===- State.h - a built topology: vertices, links, and how their numbers follow from what they join ------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_STATE_H
#define BRAID_COST_MODELS_TOPOLOGY_STATE_H

#include "braid/cost_models/Topology.h"

namespace braid::cost {

/// Links are made in blocks, so that a link's number follows from what it joins; +1 is the way back.
struct Topology::State {
  Cluster cluster;
  std::vector<Vertex> vertices;
  std::vector<Link> links;

  /// Where a NIC's ports are; the same on each plane.
  struct NicPlace {
    int leaf;             ///< within a plane
    int under;            ///< the NIC's number under that leaf
    std::string name;     ///< "host3.nic0"
    uint32_t address = 0; ///< that hashes read
  };
  std::vector<NicPlace> nics; ///< of all hosts
  struct DevicePlace {
    int host;
    int nic;  ///< first of its NICs, of all hosts; -1: none
    int nics; ///< that it has to itself, or 1 that it shares
    int link; ///< to the first of them
  };
  std::vector<DevicePlace> devices;

  int leaves = 0;       ///< of a plane
  int leavesPerPod = 1; ///< two tiers: all of them
  int spines = 0;       ///< of a pod; links up of a leaf
  int cores = 0;        ///< of a group; links up of a spine
  int pods = 1;

  int intraLinks = 0, nicLinks = 0, spineLinks = 0, coreLinks = 0; ///< first link of each block

  /// Where devices of a host are joined directly: by device x device in the host, the link's number in the host's block, or -1.
  std::vector<int> mesh;
  int meshLinks = 0; ///< first link; a block for each host
  /// The link from one device to another of its host; -1: they are not joined.
  int meshLink(int from, int to) const {
    int host = devices[from].host, first = cluster.firstDevice(host), side = cluster.devicesPerHost;
    int link = mesh.empty() ? -1 : mesh[size_t((from - first) * side + (to - first))];
    return link < 0 ? -1 : meshLinks + host * 2 * int(cluster.mesh.size()) + link;
  }

  int intraLink(int device) const { return intraLinks + 2 * device; }
  int nicLink(int plane, int nic) const { return nicLinks + 2 * (plane * int(nics.size()) + nic); }
  int podOf(int leaf) const { return leaf / leavesPerPod; }
  int spineIndex(int plane, int pod, int spine) const { return (plane * pods + pod) * spines + spine; }
  int spineLink(int plane, int leaf, int spine) const {
    return spineLinks + 2 * ((plane * leaves + leaf) * spines + spine);
  }
  int coreLink(int plane, int pod, int spine, int core) const {
    return coreLinks + 2 * (spineIndex(plane, pod, spine) * cores + core);
  }

  /// The choices along a way: which plane, which spine of the pod, which core of the group.
  struct Way {
    int plane, spine, core;
  };
  Way way(int fromNic, int toNic, uint64_t flow) const;
  /// The source port of a flow whose port nobody chose: one of those that there are, as a driver takes it.
  int driversPort(int fromNic, int toNic, uint64_t flow) const;
  Path pathBy(const Way &way, int from, int to, int ownNic) const;
  /// Of a device with several NICs, the one that it uses towards another.
  int ownNic(int from, int to) const;
};

} // namespace braid::cost

#endif
