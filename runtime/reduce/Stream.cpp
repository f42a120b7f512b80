//===- Stream.cpp - writes that leave the cache alone -------------------------------------------------------------===//
#include "reduce/Stream.h"
#include <cstdint>
#include <cstring>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace braid::runtime {

void streamCopy(void *to, const void *from, size_t bytes) {
#ifdef __SSE2__
  char *out = static_cast<char *>(to);
  const char *in = static_cast<const char *>(from);
  constexpr size_t line = 64; // a whole line at a time, so that it is written without being read
  size_t head = (line - reinterpret_cast<uintptr_t>(out) % line) % line;
  if (bytes < head + line) {
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, head);
  size_t at = head;
  for (; at + line <= bytes; at += line) {
    __m128i part[4];
    for (int i = 0; i < 4; ++i)
      part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + at) + i);
    for (int i = 0; i < 4; ++i)
      _mm_stream_si128(reinterpret_cast<__m128i *>(out + at) + i, part[i]);
  }
  std::memcpy(out + at, in + at, bytes - at);
  _mm_sfence(); // these stores are ordered with no other
#else
  std::memcpy(to, from, bytes);
#endif
}

void copyBytes(void *to, const void *from, size_t bytes, bool stream) {
  if (stream)
    streamCopy(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

size_t cacheBytes() {
  long bytes = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return bytes > 0 ? size_t(bytes) : size_t(32) << 20;
}

} // namespace braid::runtime
