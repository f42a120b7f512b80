//===- Stream.h - writes that leave the cache alone ---------------------------------------------------------------===//
//
// An ordinary store first reads the line that it writes. What is larger than the cache and is not read again soon is cheaper
// past it: a copy of m bytes through memory moves 2 m bytes instead of 3 m, and the rest of the cache stays warm.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_REDUCE_STREAM_H
#define BRAID_RUNTIME_REDUCE_STREAM_H

#include <cstddef>

namespace braid::runtime {

/// memcpy past the cache; visible to whoever sees a store that comes after.
void streamCopy(void *to, const void *from, size_t bytes);

/// memcpy, past the cache if `stream`.
void copyBytes(void *to, const void *from, size_t bytes, bool stream);

/// Bytes of the last level of cache; 32 MiB if the machine does not tell.
size_t cacheBytes();

} // namespace braid::runtime

#endif
