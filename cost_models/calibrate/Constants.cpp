//===- Constants.cpp - where fits start, and how far machines differ ---------------------------------------------===//
//
// Tables of data. Starts of the model nccl are NCCL's published constants or fractions of them; the widths say by how
// much its latencies (a factor of 1.35 each way for one standard deviation) and the rates of its protocols missed the
// published ones on the InfiniBand and RoCE systems whose tables are in test/data/measured. A start that no publication
// gives says so.
//
// Starts of the model messages are what one machine gave, MareNostrum 5; their widths are how far a second one, Leonardo, was
// from it, each fitted from wide starts: the same generation of processors, so reduction, memory and cache differ by a
// fifth, rendezvous and the slowest link by a factor of 1.8. Wider starts fit no better (median |error| 16 % for 15 % over 67 halves of
// Leonardo's table held out) and choose worse: what half a table does not say, they make up.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Calibration.h"

namespace braid::cost {

const char *name(CalibratedModel model) { return model == CalibratedModel::Nccl ? "nccl" : "messages"; }

static const char *const published = "NCCL 2.30.7 src/graph/tuning.cc";
static const char *const mareNostrum =
    "fit of Open MPI on MareNostrum 5 alone (HLC-Lab/pico, medians of all_reduce, 32 and 60 hosts)";

const std::vector<ConstantInfo> &constantsOf(CalibratedModel model) {
  static const std::vector<ConstantInfo> nccl = {
      {"startup", 1, 0.7, false, "factor on the published start-up of each protocol (6.6, 14, 8.4 us)", published},
      {"ring_hop_ll", 1, 0.3, false, "factor on the published time of a ring's hop, LL", published},
      {"ring_hop_ll128", 1, 0.3, false, "the same, LL128", published},
      {"ring_hop_simple", 1, 0.3, false, "the same, Simple", published},
      {"tree_hop_ll", 1, 0.3, false, "factor on the published time of a tree's hop, LL", published},
      {"tree_hop_ll128", 1, 0.3, false, "the same, LL128", published},
      {"tree_hop_simple", 1, 0.3, false, "the same, Simple", published},
      {"bandwidth_ll", 1, 0.3, false, "factor on the published bandwidth of LL, half of the bus and at most its cap",
       published, true},
      {"bandwidth_ll128", 0.92, 0.3, false,
       "part of Simple's bandwidth that LL128 reaches; 120/128 at most, as the rest are flags", published, true},
      {"bandwidth_simple", 0.9, 0.2, false, "the same, Simple", "NCCL's ring search leaves 4 to 10 % of the NICs' rate",
       true},
      {"tree_bandwidth", 0.9, 0.3, false, "a tree's bus bandwidth over a ring's", published, true},
      {"long_trees", 0.1, 1, true,
       "exponent: a tree's hop between hosts takes hosts^x longer, as partners are further away",
       "no publication: a hop takes 1.2 times as long on 8 hosts as on 2, unless a table says otherwise"},
      {"contention", 0.03, 1, true, "exponent: the bandwidth between hosts falls as hosts^-x",
       "no publication: 6 % less on 16 hosts than on 2, unless a table says otherwise"},
      {"tree_chunk", 131072, 1, false, "bytes that a tree passes on at once: filling it takes this much at each level",
       "NCCL's step of Simple, 4 MiB buffers of 8 steps, over 4 channels"},
      {"loaded_ring", 0.3, 1, false, "a ring whose blocks all move takes this much longer per hop than one block alone",
       "no publication: one processor thread per host moves all blocks of a step"},
  };
  static const std::vector<ConstantInfo> messages = {
      {"latency", 2.2, 0.5, false, "us of one short message", mareNostrum},
      {"rendezvous", 1.9, 0.6, false, "times the latency that a long message takes to agree on its buffer",
       mareNostrum},
      {"bandwidth", 0.65, 0.2, false, "part of the NIC's rate that a message reaches", mareNostrum, true},
      {"reduction", 14.5, 0.2, false, "GB/s at which one core combines two operands in its cache", mareNostrum, true},
      {"memory", 9, 0.25, false, "GB/s at which messages pass through main memory when they do not fit the cache",
       mareNostrum, true},
      {"cache", 36e6, 0.25, false, "bytes of received data that stay in the cache", "last-level caches of 24 to 48 MB"},
      {"slowest_link", 0.18, 0.6, true, "exponent: a ring runs at its slowest link, ranks^-x of a link's rate",
       mareNostrum},
      {"neighbour", 0.62, 0.2, false, "latency to the next rank over that to a distant one", mareNostrum},
  };
  return model == CalibratedModel::Nccl ? nccl : messages;
}

} // namespace braid::cost
