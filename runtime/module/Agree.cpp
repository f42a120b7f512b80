//===- Agree.cpp - all ranks have the same program ----------------------------------------------------------------===//
//
// Before the first step: sites in program order, as hashes. Where they differ, the first that does is named on every rank
// by what each has there. What depends on data, or on the rank, is compared when it runs (Communicator::announce).
//===------------------------------------------------------------------------------------------------------------===//
#include "module/Module.h"
#include <algorithm>
#include <cstring>

namespace braid::runtime::module {

std::vector<uint64_t> Module::gather(const std::vector<uint64_t> &mine) {
  std::vector<uint64_t> everybody(mine.size() * size_t(world.ranks));
  braid_buffer buffer = {mine.data(), everybody.data(), mine.size(), everybody.size()};
  braid_op_options options = {};
  options.engine = "braid";
  options.size = sizeof options;
  options.collective = BRAID_ALL_GATHER;
  options.type = BRAID_U64;
  options.tensors = 1;
  options.buffers = &buffer;
  options.name = "the program's collectives";
  braid_op *op = nullptr;
  check(braid_op_plan(world.comm, &options, &op), "module");
  check(braid_op_start(op), "module");
  check(braid_op_wait(op), "module");
  check(braid_op_destroy(op), "module");
  return everybody;
}

/// "all_reduce at a.mlir:3:5 on ranks 0, 2; broadcast at b.mlir:4:5 on rank 1".
static std::string byText(const std::vector<std::string> &texts) {
  std::string all;
  std::vector<bool> told(texts.size());
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    std::string ranks;
    size_t count = 0;
    for (size_t other = rank; other < texts.size(); ++other)
      if (!told[other] && texts[other] == texts[rank]) {
        told[other] = true;
        ranks += (count++ ? ", " : "") + std::to_string(other);
      }
    if (count)
      all += (all.empty() ? "" : "; ") + texts[rank] + " on rank" + (count > 1 ? "s " : " ") + ranks;
  }
  return all;
}

void Module::agree() {
  std::vector<SiteState *> list = std::move(described);
  described.clear();
  size_t ranks = size_t(all().ranks);
  if (ranks > 1) {
    uint64_t whole = list.size();
    for (SiteState *state : list)
      whole = (whole ^ state->site.hash) * 0x100000001b3ull;
    // Also where messages carry no data and nothing can be compared: what comes after it has the same number then, and the same
    // delays on an emulated fabric.
    std::vector<uint64_t> heads = gather({whole, list.size()});
    bool same = true;
    size_t most = 0;
    for (size_t rank = 0; rank < ranks && carriesData(); ++rank) {
      same &= heads[2 * rank] == whole;
      most = std::max(most, size_t(heads[2 * rank + 1]));
    }
    constexpr size_t mostSites = 1 << 24; // a rank that tells of more is none of ours
    if (most > mostSites)
      fail("rank " + std::to_string(world.rank) + ": expected at most " + std::to_string(mostSites) +
           " collectives on all ranks, got " + std::to_string(most));
    if (!same) {
      std::vector<uint64_t> hashes(most);
      for (size_t i = 0; i < list.size(); ++i)
        hashes[i] = list[i]->site.hash;
      std::vector<uint64_t> everybody = gather(hashes);
      size_t first = most;
      for (size_t i = 0; i < everybody.size(); ++i)
        if (everybody[i] != everybody[i % most]) // compared with rank 0, so that all find the same place
          first = std::min(first, i % most);
      constexpr size_t words = 32;
      std::vector<uint64_t> text(words);
      std::string own = first < list.size() ? list[first]->site.describe() : "the end of the program";
      std::memcpy(text.data(), own.data(), std::min(own.size(), words * sizeof(uint64_t) - 1));
      text = gather(text);
      std::vector<std::string> texts;
      for (size_t rank = 0; rank < ranks; ++rank) {
        const char *theirs = reinterpret_cast<const char *>(text.data() + rank * words);
        texts.emplace_back(theirs, strnlen(theirs, words * sizeof(uint64_t)));
      }
      fail("rank " + std::to_string(world.rank) + ": expected one program on all ranks, got collective " +
           std::to_string(first + 1) + ": " + byText(texts));
    }
  }
  for (SiteState *state : list)
    state->members = membersOf(state->site);
}

} // namespace braid::runtime::module
