//===- Lengthened.cpp - exchanges of too many messages, by what fewer ranks take -------------------------------------===//
//
// In a pairwise exchange each rank sends a message for each rank more. Where all leaves are whole, one leaf plays for all of them
// (SymmetricKinds.cpp). Where the last one is cut, messages meet on spines in each round, and who is late makes others late; but
// each round is as the one before. So the time is nearly a line in the number of ranks, block for block, through two numbers that
// are small enough to play them all and cut the last leaf at the same place. An estimate.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/Levels.h"
#include "pricing/Kinds.h"
#include "pricing/Lines.h"
#include "pricing/Terms.h"
#include <algorithm>

namespace braid::cost {

namespace {
class Lengthened : public ClosedForm {
public:
  struct Part {
    int ranks = 0;
    std::unique_ptr<KindProgram> program;
  };
  Lengthened(const FormQuestion &q, Part few, Part more)
      : kind(q.kind), ranks(q.ranks), chunks(q.algorithm.program(q.kind, q.ranks, 0, q.options).chunks),
        few(std::move(few)), more(std::move(more)) {}

  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                              BytesPerSecond reduction) const override {
    double chunk = double(algorithms::bufferBytes(kind, ranks, operand.value)) / chunks;
    std::optional<Seconds> less = few.program->playChunks(chunk, links, reduction);
    std::optional<Seconds> most = more.program->playChunks(chunk, links, reduction);
    if (!less || !most)
      return std::nullopt;
    return *most + (*most - *less) * (double(ranks - more.ranks) / (more.ranks - few.ranks));
  }
  bool exact() const override { return false; }
  int players() const override { return few.ranks + more.ranks; }
  std::string how() const override { return text("a line through %d and %d ranks", few.ranks, more.ranks); }

private:
  CollectiveKind kind;
  int ranks, chunks;
  Part few, more;
};
} // namespace

std::unique_ptr<ClosedForm> lengthenedForm(const FormQuestion &q) {
  const Cluster &cluster = q.topology.cluster();
  if (q.algorithm.name != "pairwise_exchange" || q.ranks <= mostPlayedRanks)
    return nullptr;
  int leafHosts = cluster.topology == "single_switch" || cluster.hostsPerLeaf <= 0 ? 1 : cluster.hostsPerLeaf;
  int leaf = leafHosts * cluster.devicesPerHost;
  int fewest = std::max(48, 2 * leaf) /* setting: played */, few = fewest + (q.ranks - fewest % leaf) % leaf;
  int more = few + std::max(1, (mostPlayedRanks - few) / leaf) * leaf;
  if (more > mostPlayedRanks)
    return nullptr;
  auto everyone = [&](int ranks) {
    algorithms::StepOptions options = q.options;
    std::vector<int> hosts;
    for (int rank = 0; rank < ranks; ++rank)
      hosts.push_back(cluster.hostOf(q.first + rank));
    options.hosts = algorithms::levels(std::move(hosts));
    return Lengthened::Part{ranks, KindProgram::everyone(q.algorithm, q.kind, ranks, options, q.topology, q.first)};
  };
  Lengthened::Part small = everyone(few), larger = everyone(more);
  if (!small.program || !larger.program)
    return nullptr;
  return std::make_unique<Lengthened>(q, std::move(small), std::move(larger));
}

} // namespace braid::cost
