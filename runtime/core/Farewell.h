//===- Farewell.h - the end of a process that destroys nothing --------------------------------------------------===//
//
// A process that ends well without destroying its communicators has left, as if it had: on an emulated clock it must not hold
// up the time of the others, and what it sent is still theirs. One that ends in another way after a communicator has failed
// says why on all of them: else who waits on another one would take this end for the cause. Any other end is a death, of which
// nothing is said, and is missed by whoever waits for it.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_FAREWELL_H
#define BRAID_RUNTIME_CORE_FAREWELL_H

#include "core/Family.h"
#include <memory>

namespace braid::runtime {

/// When this process ends, the family's members say farewell, or why they failed, if they are still there.
void sayFarewellAtExit(const std::shared_ptr<Family> &family);

/// When this process ends, after all farewells; `good`: with status 0. For libraries that have an end of their own.
void atFarewell(void (*body)(bool good));

} // namespace braid::runtime

#endif
