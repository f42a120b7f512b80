//===- KernelBody.h - what one thread of a kernel does --------------------------------------------------------------===//
//
// For devices and hosts: a test runs each thread's part on the CPU, so that all of a kernel but the machine is tested there. The
// arithmetic is that of Arithmetic.h.
//
// Threads load and store 16 bytes at a time, `depth` of them in flight. Where the operands' addresses differ modulo 16, no
// vector is aligned in all of them, and the elements go one by one; what lies before the first vector and after the last too.
// A thread reads an element before it writes the one of the same index and no other thread touches it, so a result may be an
// operand (in place).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELBODY_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELBODY_H

#include "reduce/Conversion.h"
#include "transports/cuda/KernelArguments.h"

namespace braid::runtime::cuda {

/// Which thread of how many in the whole launch.
struct Place {
  size_t thread, threads;
};

constexpr size_t vectorBytes = 16;

struct alignas(vectorBytes) Vector {
  uint32_t word[4];
};

template <typename T> struct Elements {
  T each[vectorBytes / sizeof(T)];
};

BRAID_HOST_DEVICE size_t addressOf(const void *at) { return reinterpret_cast<size_t>(at); }
BRAID_HOST_DEVICE size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/// to[i] = also[i] = function(a[i], b[i]) for this thread's i; `also` may be null.
template <size_t depth, typename T, typename Function>
BRAID_HOST_DEVICE void combineAll(Place place, T *to, T *also, const T *a, const T *b, size_t count,
                                  Function function) {
  constexpr size_t perVector = vectorBytes / sizeof(T);
  size_t shift = addressOf(to) % vectorBytes;
  size_t others = (addressOf(a) ^ shift) | (addressOf(b) ^ shift) | (also ? addressOf(also) ^ shift : 0);
  size_t head = others % vectorBytes ? count : smaller(count, (vectorBytes - shift) % vectorBytes / sizeof(T));
  size_t vectors = (count - head) / perVector, tail = head + vectors * perVector;

  const Vector *x = reinterpret_cast<const Vector *>(a + head), *y = reinterpret_cast<const Vector *>(b + head);
  Vector *first = reinterpret_cast<Vector *>(to + head), *second = reinterpret_cast<Vector *>(also + (also ? head : 0));
  auto both = [&](const Vector &p, const Vector &q) {
    auto left = arithmetic::bitsAs<Elements<T>>(p), right = arithmetic::bitsAs<Elements<T>>(q);
    for (size_t e = 0; e < perVector; ++e)
      left.each[e] = function(left.each[e], right.each[e]);
    return arithmetic::bitsAs<Vector>(left);
  };
  size_t i = place.thread;
  for (; i + (depth - 1) * place.threads < vectors; i += depth * place.threads) {
    Vector p[depth], q[depth];
    for (size_t d = 0; d < depth; ++d) {
      p[d] = x[i + d * place.threads];
      q[d] = y[i + d * place.threads];
    }
    for (size_t d = 0; d < depth; ++d) {
      p[d] = both(p[d], q[d]);
      first[i + d * place.threads] = p[d];
      if (also)
        second[i + d * place.threads] = p[d];
    }
  }
  for (; i < vectors; i += place.threads) {
    Vector result = both(x[i], y[i]);
    first[i] = result;
    if (also)
      second[i] = result;
  }
  for (size_t single = place.thread; single < head + count - tail; single += place.threads) {
    size_t at = single < head ? single : single - head + tail;
    T result = function(a[at], b[at]);
    to[at] = result;
    if (also)
      also[at] = result;
  }
}

/// Vectors in flight of each operand: less code where elements are small and each of them is many instructions.
template <typename T> constexpr size_t depthOf = sizeof(T) == 1 ? 1 : 4;

template <typename T, arithmetic::Op op, bool average>
BRAID_HOST_DEVICE void reduceBody(Place place, const ReduceArguments &k) {
  combineAll<depthOf<T>>(place, static_cast<T *>(k.to), static_cast<T *>(k.also), static_cast<const T *>(k.a),
                         static_cast<const T *>(k.b), k.count, [&](T a, T b) {
                           T r = arithmetic::combine<op>(a, b);
                           if constexpr (average)
                             r = arithmetic::divide(r, k.ranks);
                           return r;
                         });
}

/// The last step of an average that no reduction has taken.
template <typename T> BRAID_HOST_DEVICE void divideBody(Place place, const ReduceArguments &k) {
  T *to = static_cast<T *>(k.to);
  for (size_t i = place.thread; i < k.count; i += place.threads)
    to[i] = arithmetic::divide(to[i], k.ranks);
}

template <typename To, typename From> BRAID_HOST_DEVICE void convertBody(Place place, const ReduceArguments &k) {
  To *to = static_cast<To *>(k.to);
  const From *from = static_cast<const From *>(k.a);
  for (size_t i = place.thread; i < k.count; i += place.threads)
    to[i] = arithmetic::convertTo<To>(from[i]);
}

template <typename Word>
BRAID_HOST_DEVICE void copyWords(Place place, void *to, void *also, const void *from, size_t bytes) {
  constexpr size_t depth = sizeof(Word) == vectorBytes ? 4 : 1;
  const Word *x = static_cast<const Word *>(from);
  Word *first = static_cast<Word *>(to), *second = static_cast<Word *>(also);
  size_t words = bytes / sizeof(Word), i = place.thread;
  for (; i + (depth - 1) * place.threads < words; i += depth * place.threads) {
    Word w[depth];
    for (size_t d = 0; d < depth; ++d)
      w[d] = x[i + d * place.threads];
    for (size_t d = 0; d < depth; ++d) {
      first[i + d * place.threads] = w[d];
      if (also)
        second[i + d * place.threads] = w[d];
    }
  }
  for (; i < words; i += place.threads) {
    Word w = x[i];
    first[i] = w;
    if (also)
      second[i] = w;
  }
}

/// to = also = a, `count` bytes at any addresses: in the widest words that are aligned in all of them, once `to` is.
BRAID_HOST_DEVICE void copyBody(Place place, const ReduceArguments &k) {
  uint8_t *to = static_cast<uint8_t *>(k.to), *also = static_cast<uint8_t *>(k.also);
  const uint8_t *from = static_cast<const uint8_t *>(k.a);
  size_t shift = addressOf(to);
  size_t differ = (addressOf(from) ^ shift) | (also ? addressOf(also) ^ shift : 0);
  size_t width = differ % 4 ? 1 : differ % vectorBytes ? 4 : vectorBytes;
  size_t head = smaller(k.count, (width - shift % width) % width);
  size_t body = (k.count - head) / width * width, tail = k.count - head - body;
  copyWords<uint8_t>(place, to, also, from, head);
  uint8_t *alsoBody = also ? also + head : nullptr;
  if (width == vectorBytes)
    copyWords<Vector>(place, to + head, alsoBody, from + head, body);
  else if (width == 4)
    copyWords<uint32_t>(place, to + head, alsoBody, from + head, body);
  else
    copyWords<uint8_t>(place, to + head, alsoBody, from + head, body);
  copyWords<uint8_t>(place, to + head + body, alsoBody ? alsoBody + body : nullptr, from + head + body, tail);
}

} // namespace braid::runtime::cuda

#endif
