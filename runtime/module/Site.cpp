//===- Site.cpp - a launch of a compiled module, as its constant words say ----------------------------------------===//
#include "module/Site.h"
#include "reduce/Reduce.h"
#include <iterator>

namespace braid::runtime::module {

static const int64_t *ofThisRelease(const int64_t *words) {
  if (words[0] != 4)
    fail("module: site words of version " + std::to_string(words[0]) + ", expected 4: compiled by another release");
  return words;
}

Site::Site(const int64_t *words, const char *algorithm, const char *name)
    : number(ofThisRelease(words)[1]), collective(words[2]), type(words[3]), reduction(words[4]), root(words[5]),
      peer(words[6]), tag(words[7]), channels(words[8]), chunks(words[9]), accumulation(words[10]), memory(words[11]), engine(words[12]),
      algorithm(algorithm ? algorithm : ""), name(name ? name : "site " + std::to_string(words[1])) {
  const int64_t *next = words + 16, *ids = next + words[13];
  for (int64_t group = 0; group < words[13]; ++group) {
    groups.emplace_back(ids, ids + next[group]);
    ids += next[group];
  }
  pairs.assign(ids, ids + 2 * words[15]);
  hash = 0xcbf29ce484222325ull; // FNV-1a
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x100000001b3ull; };
  for (const int64_t *word = words + 2; word < ids + 2 * words[15]; ++word)
    mix(uint64_t(*word));
  for (char letter : this->algorithm)
    mix(uint64_t(letter));
}

const char *Site::engineName() const {
  static const char *const names[] = {nullptr, "braid", "nccl", "mpi"}; // the dialect's numbers, plus one
  if (engine < 0 || engine >= int64_t(std::size(names)))
    fail(name + ": engine of number " + std::to_string(engine) + ": compiled by another release");
  return names[engine];
}

std::string Site::describe() const {
  std::string text = name + " (";
  if (collective == BRAID_ALL_REDUCE || collective == BRAID_REDUCE_SCATTER || collective == BRAID_REDUCE)
    text += std::string(runtime::name(braid_reduction(reduction))) + " of ";
  text += runtime::name(braid_type(type));
  if (groups.size() > 1)
    text += ", " + std::to_string(groups.size()) + " groups";
  if (!algorithm.empty())
    text += " by " + algorithm;
  if (engine > 1)
    text += " of engine " + std::string(engineName());
  return text + ")";
}

} // namespace braid::runtime::module
