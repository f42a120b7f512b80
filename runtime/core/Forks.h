//===- Forks.h - which process a handle was made in -----------------------------------------------------------------===//
//
// A fork has copies of its parent's communicators, and shares their connections and memory: what it sent would be taken for the
// parent's, and what it received the parent would miss. So it may not use them.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_FORKS_H
#define BRAID_RUNTIME_CORE_FORKS_H

namespace braid::runtime {

/// How many forks lie between this process and the first one that asked: without a system call, unlike getpid.
unsigned forksBefore();

/// A connection whose end says that this process has ended: forks do not hold it open. Until `closesNow`.
void keepFromForks(int descriptor);
void closesNow(int descriptor);

} // namespace braid::runtime

#endif
