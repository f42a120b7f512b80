//===- Cluster.h - what a cluster file says ---------------------------------------------------------------------===//
//
// A cluster file (YAML, read in one place) gives hosts, accelerators, links and switches with units. Unknown or missing
// keys, missing units and negative quantities are errors that name the line. The files that ship are in
// cost_models/clusters.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CLUSTER_H
#define BRAID_COST_MODELS_CLUSTER_H

#include "braid/cost_models/Calibration.h"
#include "braid/cost_models/Fabric.h"
#include "braid/cost_models/FlowHash.h"
#include "braid/cost_models/Result.h"
#include "braid/cost_models/Units.h"
#include <map>
#include <string>
#include <vector>

namespace braid::cost {

/// One class of link: its bandwidth in each direction, its latency, its noise.
struct LinkClass {
  std::string name;         ///< "nvlink", "nic", "leaf-spine"
  BytesPerSecond bandwidth; ///< each direction
  Seconds latency;
  FabricProfile profile;
};

/// An accelerator (or the cores of a CPU host) of one kind.
struct Device {
  std::string name;                           ///< "H100 SXM"
  std::map<std::string, FlopsPerSecond> peak; ///< by element type: "bf16", "f32", ...
  std::string f32Dot = "f32";  ///< entry of `peak` that products of f32 matrices run at: "tf32" where the
                               ///< compiler's default precision allows it (XLA on Ampere and later)
  double matmulEfficiency = 1; ///< fraction of the peak that large matmuls reach
  BytesPerSecond memoryBandwidth;
  double memoryEfficiency = 1; ///< fraction of the memory bandwidth that kernels reach
  Bytes memory;
  Seconds launch;           ///< overhead of one kernel launch
  BytesPerSecond reduction; ///< rate at which two operands are combined

  /// Peak of a matrix product of this element type (MLIR's spelling), before matmulEfficiency. Types that the file does
  /// not name run at the rate of f32, or, without it, of the slowest type named; `assumed` then says so.
  FlopsPerSecond dotPeak(const std::string &elementType, bool *assumed = nullptr) const;
};

/// How much ranks differ in the time of their computation, and what communication takes from it. Communication itself is not
/// slowed by computation.
struct ComputeNoise {
  double skewPerJob = 0,
         skewPerStep = 0; ///< sigma of ln(factor on a rank's compute time), mean 1: drawn per job, per step
  double slowdown[2] = {1,
                        1}; ///< factor on a kernel's time while a collective is in flight, by Fabric; both: the product

  bool skewed() const { return skewPerJob > 0 || skewPerStep > 0; }
  bool slowed() const { return slowdown[0] > 1 || slowdown[1] > 1; }
};

/// What NCCL's published model needs to know of a cluster (facts of the machine, not of a job).
struct NcclSettings {
  BytesPerSecond busBandwidthIntra; ///< bus bandwidth of a large all_reduce inside one host
  BytesPerSecond busBandwidthInter; ///< bus bandwidth per GPU of a large all_reduce over hosts
  std::string architecture;         ///< "volta", "ampere", "hopper", "blackwell"
  std::string cpu;                  ///< "intel", "amd", "other": picks the ring's intra-host overhead
  int channels = 16;
};

/// Equal hosts in a row. A cluster whose hosts differ (fewer cards, another kind) lists several.
struct HostGroup {
  int hosts = 0;
  int devicesPerHost = 0;
  int nicsPerHost = 0;
  Device device;
};

/// Two devices of a host that are joined directly, by so many links of the intra class.
struct MeshLink {
  int a, b, count;
};

/// Switches that add what ranks send and send the sum to all of them (SHARP, NVLS).
struct InNetwork {
  std::string at;                 ///< "host": the switch inside each host; "fabric": leaves, and one switch above them
  std::vector<std::string> types; ///< element types that they add
  Bytes smallest, largest;        ///< operand of a rank
  int groups = 0;                 ///< that they serve at once; 0: there are none
  bool granted() const { return groups > 0; }
};

/// How switches deal flows over equal links up.
///   Static    by destination (the routing of InfiniBand subnets): shifts do not contend
///   Hash      by a hash of both ends and the source port, one seed per switch stage
///   SharedHash  the same, all stages with one seed: what one stage has put together the next cannot deal out
enum class Routing { Static, Hash, SharedHash };

/// A constant as it stands in a file.
struct WrittenConstant {
  std::string key;    ///< "inter.latency"
  std::string place;  ///< "file:line"
  std::string source; ///< its own, or that of the section around it; "": an assumption, or none is given
};

struct Cluster {
  std::string name;
  std::string path; ///< of the file it came from
  std::string hash; ///< of its meaning (not of its comments); part of each plan's fingerprint
  int hosts = 0;
  int devicesPerHost = 0;        ///< of the fullest host
  int nicsPerHost = 0;           ///< of the fullest host
  std::vector<HostGroup> groups; ///< hosts that differ, in order; empty: all are equal
  Device device;                 ///< of all; where kinds differ, what each of them reaches
  LinkClass intra;               ///< device to device inside a host
  /// Of each host, where devices are not all joined by a switch: who is joined to whom. Others reach each other through the
  /// host, at hostLink's bandwidth.
  std::vector<MeshLink> mesh;
  LinkClass inter;      ///< NIC to NIC over the fabric, under one leaf switch; latency from device to device
  LinkClass hostLink;   ///< device to NIC; its latency is in addition to inter's (mostly zero: inter's includes it);
                        ///< bandwidth 0: never the bottleneck
  std::string topology; ///< builder: "single_switch", "rail_optimized", "fat_tree" or "three_tier"
  double oversubscription = 1;
  int hostsPerLeaf = 0; ///< hosts under one leaf switch (rail_optimized: under one set of rail switches); 0: all
  Seconds spineLatency; ///< what a message takes longer when it crosses a spine switch
  int leavesPerPod = 0; ///< three_tier: leaf switches of a pod; pods are joined by core switches
  double coreOversubscription = 1; ///< three_tier: of a pod's spines, links down / links up
  Seconds coreLatency;             ///< what a message takes longer when it crosses a core switch
  int planes =
      1; ///< separate fabrics; each NIC has a port of 1 / planes of its bandwidth on each (dual ToR, dual plane)
  Routing routing = Routing::Static;
  uint64_t hashSeed = 0;
  FlowHash flowHash; ///< where routing hashes
  /// False: a what-if, in which links that messages of several ranks take at once give each of them their whole bandwidth.
  bool contention = true;
  /// Whether two hosts are under the same leaf switch (rail_optimized: set of rail switches).
  bool sameLeaf(int hostA, int hostB) const {
    return hostsPerLeaf <= 0 || hostA / hostsPerLeaf == hostB / hostsPerLeaf;
  }
  ComputeNoise compute;
  InNetwork inNetwork;
  NcclSettings nccl;
  FittedConstants ncclFit;    ///< of calibration.nccl; empty: NCCL is priced by its published formula
  FittedConstants messageFit; ///< of calibration.messages
  double defaultQuantile = 0.5;
  std::vector<std::string> assumptions; ///< "key: why" of each constant that is an assumption
  std::vector<WrittenConstant> written; ///< every constant that a file gives
  std::string
      unreachableNccl;   ///< a bus bandwidth between hosts that their NICs can't carry, with its place; empty: they can
  std::string staleNccl; ///< why prices of engine nccl are not to be trusted: both places; empty: they are

  int ranks() const; ///< devices of all hosts
  int nics() const;  ///< of all hosts
  /// Devices are numbered host by host, from 0; so are NICs.
  int hostOf(int device) const;
  int deviceInHost(int device) const;
  int firstDevice(int host) const;
  int firstNic(int host) const;
  int devicesIn(int host) const;
  int nicsIn(int host) const;
  const Device &kindOf(int device) const;
};

/// One constant of a link class as prices see it.
struct ResolvedConstant {
  std::string key;    ///< "spike_probability"
  std::string value;  ///< "0.0003", "30.0 us"
  std::string origin; ///< "file.yaml:7", "fit, file.yaml:7", "default of infiniband", ...
};
/// Of "intra", "inter" or "host_link": bandwidth, latency and all of its fabric profile.
std::vector<ResolvedConstant> resolved(const Cluster &cluster, const std::string &link);
/// Of "nccl" or "messages": the constants of its calibration; none where there is none.
std::vector<ResolvedConstant> resolvedCalibration(const Cluster &cluster, const std::string &model);

/// Of its compute section; none where it has none.
std::vector<ResolvedConstant> resolvedCompute(const Cluster &cluster);

/// A key of a cluster file with another value: {"inter.latency", "2 us"}.
using ClusterOverride = std::pair<std::string, std::string>;

/// Reads and checks a cluster file; the overrides lie on top of it as a file that names it as its base would.
Result<Cluster> readCluster(const std::string &path, const std::vector<ClusterOverride> &overrides = {});

/// The files that readCluster(path) reads: the file itself, those that it is based on, tables of paths. Of a file that is
/// wrong, those that could be found.
std::vector<std::string> clusterFiles(const std::string &path);

/// Rank -> device number, counted host by host.
struct Placement {
  std::vector<int> deviceOf;
  int hostOf(int rank, const Cluster &cluster) const { return cluster.hostOf(deviceOf[rank]); }
};

/// "packed" (rank i on device i; the number of ranks must equal the cluster's devices) or "host:gpu,host:gpu,..." (one
/// entry per rank; fewer ranks than devices are allowed then).
Result<Placement> readPlacement(const std::string &text, int ranks, const Cluster &cluster);

} // namespace braid::cost

#endif
