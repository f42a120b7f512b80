//===- NcclConstants.h - the constants of NCCL's published tuning model -----------------------------------------===//
//
// From NVIDIA/nccl 2.30.7, src/graph/tuning.cc and src/enqueue.cc (facts re-typed as tables; no code taken over). NCCL
// uses them to choose an algorithm and a protocol; Braid uses them for the same and as a price. Times in microseconds,
// rates in GB/s, as there. They are tuned on NVIDIA's machines and unexplained in the source (nccl#1334); against one
// InfiniBand NDR system the absolute time is off by 16 % in the median and up to 2x from 128 KiB to 8 MiB, the choice
// right in 41 of 45.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_NCCLCONSTANTS_H
#define BRAID_COST_MODELS_PRICING_NCCLCONSTANTS_H

namespace braid::cost::nccl {

enum Algorithm { Tree, Ring };
enum Protocol { LL, LL128, Simple };
constexpr const char *protocolNames[] = {"LL", "LL128", "Simple"};

// Start of the kernel and first synchronisation, by algorithm and protocol.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr double baseLatencyUs[2][3] = {{6.8, 14, 8.4}, {6.6, 14, 8.4}};

// One hop.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr double hopNvlinkUs[2][3] = {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}};
constexpr double hopPcieUs[2][3] = {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}};
constexpr double hopNetUs[2][3] = {{5.0, 8.5, 14}, {2.7, 4.0, 14}};

// What one step of a ring over hosts costs at least, even inside a host: the proxy's work. Three times that for Simple.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr double netOverheadUs = 1, netOverheadAmdUs = 2;

enum Architecture { Volta, Ampere, Hopper, Blackwell };
// Columns: 1 host, 2 hosts, more hosts.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr double llTotal[4][3] = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}};
constexpr double ringLl128PerChannel[4][3] = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}};
constexpr double treeLl128PerChannel[4][3] = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
constexpr double treePerChannel[4][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};

// What trees lose at middle sizes: factor on the bandwidth of a tree all_reduce, entry i at 64 B x 2^i.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr int treeFactors = 24;
constexpr double treeFactorBytes = 64; // of entry 0
constexpr double treeFactor[3][treeFactors] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

// "Plateau" of a Simple ring all_reduce over hosts: its latency grows by this when each channel and rank has 64 bytes
// or more.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr double plateau = 1.4, plateauVolta = 1.9;
constexpr long plateauBytes = 64;

// What protocols and trees leave of the bus bandwidth: a ring of LL128 and a tree 0.92 of it; a tree of LL 1 / 3.8, of LL128 7/9
// inside a host. LL sends a flag with each word of data, LL128 8 bytes of flags with 120 of data.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr double ringLl128 = 0.92, treeShare = 0.92, treeLl = 1 / 3.8, treeLl128Inside = 7.0 / 9;
constexpr double llData = 0.5, ll128Data = 120.0 / 128;
// Work of the proxy for Simple, in units of LL's and LL128's.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr int netOverheadSimple = 3;

// Collectives of one group call that NCCL starts together: 1,024-byte batches.
// assumption: entries of about 110 bytes
constexpr int batchedCollectives = 9;

// Point-to-point: LL up to 16 KiB a message where both ends have LL buffers, which network connections by default have
// not.
// source: NVIDIA/nccl 2.30.7 src/enqueue.cc
constexpr long pointToPointLlBytes = 16384;

// A ring all_reduce of an 8-bit float over more than 8 ranks would lose accuracy; NCCL makes it prohibitively costly.
// source: NVIDIA/nccl 2.30.7 src/graph/tuning.cc
constexpr double fp8RingPenalty = 1024;
constexpr int fp8RingRanks = 8;

} // namespace braid::cost::nccl

#endif
