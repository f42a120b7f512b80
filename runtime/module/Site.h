//===- Site.h - a launch of a compiled module, as its constant words say ------------------------------------------===//
#ifndef BRAID_RUNTIME_MODULE_SITE_H
#define BRAID_RUNTIME_MODULE_SITE_H

#include "braid/runtime/braid_rt.h"
#include <cstdint>
#include <string>
#include <vector>

namespace braid::runtime::module {

/// Ends the process, or what the embedder wants instead (braid_module_on_error).
[[noreturn]] void fail(const std::string &message);
/// Does so if the call failed, with the runtime's sentence.
void check(braid_status status, const std::string &what);

/// The words of a site, by name.
struct Site {
  Site(const int64_t *words, const char *algorithm, const char *name);

  int64_t number, collective, type, reduction, root, peer, tag, channels, chunks, accumulation, memory, engine;
  std::vector<std::vector<int32_t>> groups;
  std::vector<int32_t> pairs;
  std::string algorithm, name;
  uint64_t hash; ///< of all that ranks must agree about: not the name

  /// Its plan's engine by the runtime's name; null: none is planned.
  const char *engineName() const;
  /// "all_reduce at train.mlir:7:10 (sum of f32, 2 groups)".
  std::string describe() const;
};

} // namespace braid::runtime::module

#endif
