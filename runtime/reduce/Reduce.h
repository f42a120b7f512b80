//===- Reduce.h - element types, reductions, and their loops -----------------------------------------------------===//
//
// What the arithmetic is (rounding, NaN, overflow): Arithmetic.h.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_REDUCE_REDUCE_H
#define BRAID_RUNTIME_REDUCE_REDUCE_H

#include "braid/runtime/braid_rt.h"

namespace braid::runtime {

/// Bytes of one element; 0: no such type.
size_t sizeOf(braid_type type);
const char *name(braid_type type);
const char *name(braid_reduction reduction);

/// dst[i] = a[i] op b[i]; dst may be a or b. Operands in either order give the same bytes.
using Combine = void (*)(void *dst, const void *a, const void *b, size_t count);

/// The loop of a reduction (of an average: its sum); null where the type has no such reduction: and, or, xor of floats,
/// average of bool.
Combine combiner(braid_type type, braid_reduction reduction);
/// The last step of an average: dst[i] = dst[i] / ranks.
void divide(braid_type type, void *dst, size_t count, int ranks);

/// A reduction of one operation, in one pass over its operands whatever is to be done.
struct Reducer {
  Combine combine = nullptr;
  braid_type type = BRAID_BOOL;
  int ranks = 1; ///< of an average
  braid_reduction reduction = BRAID_SUM;

  /// dst[i] = a[i] op b[i], then divided by the ranks if `average`, written past the cache if `stream`.
  void run(void *dst, const void *a, const void *b, size_t count, bool average, bool stream) const;
};

/// dst[i] = the value of src[i] in another type, rounded to the nearest, ties to even; integers modulo 2^bits.
void convert(braid_type to, void *dst, braid_type from, const void *src, size_t count);

} // namespace braid::runtime

#endif
