//===- Convert.cpp - values of one element type in another --------------------------------------------------------===//
//
// What a value becomes: Conversion.h.
//===------------------------------------------------------------------------------------------------------------===//
#include "reduce/Conversion.h"
#include "reduce/Reduce.h"
#include <cstring>

namespace braid::runtime {

namespace {

using namespace arithmetic;

template <typename To, typename From> void loop(void *dst, const void *src, size_t count) {
  To *to = static_cast<To *>(dst);
  const From *from = static_cast<const From *>(src);
  for (size_t i = 0; i < count; ++i)
    to[i] = convertTo<To>(from[i]);
}

using Loop = void (*)(void *, const void *, size_t);

template <typename To> Loop fromFloat(braid_type from) {
  switch (from) {
  case BRAID_F8E4M3FN:
    return loop<To, F8E4M3FN>;
  case BRAID_F8E5M2:
    return loop<To, F8E5M2>;
  case BRAID_F16:
    return loop<To, F16>;
  case BRAID_BF16:
    return loop<To, BF16>;
  case BRAID_F32:
    return loop<To, float>;
  default:
    return loop<To, double>;
  }
}

/// Of signed or of unsigned integers, by the width of the source.
template <typename To> Loop fromInteger(braid_type from) {
  constexpr bool isSigned = std::is_signed_v<To>;
  switch (sizeOf(from)) {
  case 1:
    return loop<To, std::conditional_t<isSigned, int8_t, uint8_t>>;
  case 2:
    return loop<To, std::conditional_t<isSigned, int16_t, uint16_t>>;
  case 4:
    return loop<To, std::conditional_t<isSigned, int32_t, uint32_t>>;
  default:
    return loop<To, std::conditional_t<isSigned, int64_t, uint64_t>>;
  }
}

Loop loopOf(braid_type to, braid_type from) {
  switch (to) {
  case BRAID_I8:
    return fromInteger<int8_t>(from);
  case BRAID_I16:
    return fromInteger<int16_t>(from);
  case BRAID_I32:
    return fromInteger<int32_t>(from);
  case BRAID_I64:
    return fromInteger<int64_t>(from);
  case BRAID_U8:
    return fromInteger<uint8_t>(from);
  case BRAID_U16:
    return fromInteger<uint16_t>(from);
  case BRAID_U32:
    return fromInteger<uint32_t>(from);
  case BRAID_U64:
    return fromInteger<uint64_t>(from);
  case BRAID_F8E4M3FN:
    return fromFloat<F8E4M3FN>(from);
  case BRAID_F8E5M2:
    return fromFloat<F8E5M2>(from);
  case BRAID_F16:
    return fromFloat<F16>(from);
  case BRAID_BF16:
    return fromFloat<BF16>(from);
  case BRAID_F32:
    return fromFloat<float>(from);
  default:
    return fromFloat<double>(from);
  }
}

} // namespace

void convert(braid_type to, void *dst, braid_type from, const void *src, size_t count) {
  if (to == from)
    std::memcpy(dst, src, count * sizeOf(to));
  else
    loopOf(to, from)(dst, src, count);
}

} // namespace braid::runtime
