//===- RankLocal.h - one pointer for each rank of a process -------------------------------------------------------===//
//
// A process is one rank, except where ranks are fibers of a thread: then each fiber has a pointer of its own, which its
// scheduler puts in place before it lets the fiber run.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_RANKLOCAL_H
#define BRAID_RUNTIME_CORE_RANKLOCAL_H

namespace braid::runtime {

void *&rankLocal();
/// The calling thread's, from here on; null: the process's.
void useRankLocal(void **place);

} // namespace braid::runtime

#endif
