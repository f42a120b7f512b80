//===- Islands.h - several engines in one communicator -----------------------------------------------------------------===//
//
// An engine whose operations are collectives of smaller communicators: the neighbours on an island (by its engine), the leaders of
// islands, and everybody (both by Braid's step programs). Collectives run one after another, in the order of their starts, so that
// all ranks start the parts in one order; sends and receives run beside them.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_ISLANDS_ISLANDS_H
#define BRAID_RUNTIME_ENGINES_ISLANDS_ISLANDS_H

#include "engines/Engine.h"
#include "engines/islands/Layout.h"

namespace braid::runtime {

class Communicator;

namespace islands {

/// Of all ranks of `comm`, which makes the smaller ones.
Outcome make(Communicator &comm, const Layout &layout, std::unique_ptr<Engine> &engine);

} // namespace islands
} // namespace braid::runtime

#endif
