//===- Engines.h - the list of engines -----------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_ENGINES_H
#define BRAID_RUNTIME_ENGINES_ENGINES_H

#include "engines/Engine.h"

namespace braid::runtime {

/// The runtime's own step programs, which need no Engine.
inline constexpr const char *braidEngine = "braid";

/// "mpi", or several: "braid,nccl". The first is that of operations that name none. Empty: braid.
Outcome readEngines(const std::string &text, std::vector<std::string> &names);

/// Makes and connects an engine by name, on all members.
Outcome makeEngine(const std::string &name, const EngineContext &context, std::unique_ptr<Engine> &engine);

/// An engine beside those of this build, for tests.
void addEngine(const std::string &name, EngineMaker make);

/// Where a library that the runtime opens lies: beside it, in lib/ beside its folder, or where the linker looks, the first that
/// is there. BRAID_ENGINE_PATH, a folder, goes before.
std::vector<std::string> enginePlaces(const std::string &library);

// One function per folder of engines/.
Outcome makeMpiEngine(const EngineContext &context, std::unique_ptr<Engine> &engine);
Outcome makeNcclEngine(const EngineContext &context, std::unique_ptr<Engine> &engine);

} // namespace braid::runtime

#endif
