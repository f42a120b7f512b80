//===- AbiCheck.cpp - our declarations of NCCL against its own ------------------------------------------------------===//
//
// Compiled where nccl.h is found; there is nothing in it to run. Types are compared as they are passed: pointers are pointers, enums are
// ints, the unique id is 128 bytes by value.
//===------------------------------------------------------------------------------------------------------------===//
#include "engines/nccl/Abi.h"
#include <nccl.h>
#include <type_traits>

namespace braid::runtime::nccl {

template <typename T>
using Passed = std::conditional_t<
    std::is_pointer_v<T>, void *,
    std::conditional_t<std::is_enum_v<T>, int, std::conditional_t<std::is_same_v<T, ncclUniqueId>, UniqueId, T>>>;
template <typename F> struct Signature;
template <typename R, typename... A> struct Signature<R (*)(A...)> {
  using type = Passed<R> (*)(Passed<A>...);
};

#define BRAID_NCCL_CHECK(version, function, parameters)                                                                \
  static_assert(version > NCCL_VERSION_CODE || std::is_same_v<typename Signature<decltype(&::function)>::type,         \
                                                              typename Signature<Result(*) parameters>::type>,         \
                #function " differs from nccl.h");
BRAID_NCCL_FUNCTIONS(BRAID_NCCL_CHECK)

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(int(ok) == ncclSuccess && int(unhandledCudaError) == ncclUnhandledCudaError &&
              int(systemError) == ncclSystemError && int(internalError) == ncclInternalError &&
              int(invalidArgument) == ncclInvalidArgument && int(invalidUsage) == ncclInvalidUsage &&
              int(remoteError) == ncclRemoteError && int(inProgress) == ncclInProgress);
static_assert(int(i8) == ncclInt8 && int(u8) == ncclUint8 && int(i32) == ncclInt32 && int(u32) == ncclUint32 &&
              int(i64) == ncclInt64 && int(u64) == ncclUint64 && int(f16) == ncclFloat16 && int(f32) == ncclFloat32 &&
              int(f64) == ncclFloat64 && int(bf16) == ncclBfloat16);
#if NCCL_VERSION_CODE >= 22400
static_assert(int(f8e4m3) == ncclFloat8e4m3 && int(f8e5m2) == ncclFloat8e5m2);
#endif
static_assert(int(sum) == ncclSum && int(product) == ncclProd && int(max) == ncclMax && int(min) == ncclMin &&
              int(average) == ncclAvg);
static_assert(sizeof(Config) <= sizeof(ncclConfig_t) && offsetof(Config, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking));
constexpr ncclConfig_t initial = NCCL_CONFIG_INITIALIZER;
static_assert(initial.magic == Config().magic && noColor == NCCL_SPLIT_NOCOLOR);

} // namespace braid::runtime::nccl
