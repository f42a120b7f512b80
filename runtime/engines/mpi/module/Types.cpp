//===- Types.cpp - MPI's types and operations for the runtime's ----------------------------------------------------------===//
#include "engines/mpi/module/Process.h"
#include "reduce/Reduce.h"
#include <array>
#include <utility>

namespace braid::runtime::mpi {

namespace {

constexpr int types = BRAID_F64 + 1, reductions = BRAID_XOR + 1;

/// in op inout; either order gives the same bytes (Reduce.h).
template <int Type, int Reduction> void apply(void *in, void *inout, int *count, MPI_Datatype *) {
  static const Combine combine = combiner(braid_type(Type), braid_reduction(Reduction));
#ifdef BRAID_MPI_PLANTED // a mistake for the bar's control: the last element of each piece of a bf16 is lost
  if (Type == BRAID_BF16 && *count > 1)
    return combine(inout, in, inout, size_t(*count) - 1);
#endif
  combine(inout, in, inout, size_t(*count));
}

template <int... All> constexpr auto tableOf(std::integer_sequence<int, All...>) {
  return std::array<MPI_User_function *, sizeof...(All)>{apply<All / reductions, All % reductions>...};
}
constexpr auto functions = tableOf(std::make_integer_sequence<int, types * reductions>());

/// Null: MPI has none that is the same.
MPI_Op builtin(braid_type type, braid_reduction reduction) {
  // Not what the runtime does: sums of 8 and 16 bits in Open MPI 4.1, whose loops for AVX saturate (ompi/mca/op/avx), and the least and
  // greatest of unsigned ones in MPICH 4.0, which takes them for signed.
  bool integer = type >= BRAID_I8 && type <= BRAID_U64, isSigned = type == BRAID_I32 || type == BRAID_I64;
  bool wide = isSigned || type == BRAID_U32 || type == BRAID_U64 || type == BRAID_F32 || type == BRAID_F64;
  switch (reduction) {
  case BRAID_SUM:
    return wide ? MPI_SUM : MPI_OP_NULL;
  case BRAID_PRODUCT:
    return wide ? MPI_PROD : MPI_OP_NULL;
  case BRAID_MIN:
    return isSigned ? MPI_MIN : MPI_OP_NULL;
  case BRAID_MAX:
    return isSigned ? MPI_MAX : MPI_OP_NULL;
  case BRAID_AND:
    return integer ? MPI_BAND : MPI_OP_NULL;
  case BRAID_OR:
    return integer ? MPI_BOR : MPI_OP_NULL;
  case BRAID_XOR:
    return integer ? MPI_BXOR : MPI_OP_NULL;
  default:
    return MPI_OP_NULL;
  }
}

} // namespace

MPI_Datatype datatypeOf(braid_type type) {
  switch (type) {
  case BRAID_I8:
    return MPI_INT8_T;
  case BRAID_I16:
    return MPI_INT16_T;
  case BRAID_I32:
    return MPI_INT32_T;
  case BRAID_I64:
    return MPI_INT64_T;
  case BRAID_U16:
  case BRAID_F16:
  case BRAID_BF16:
    return MPI_UINT16_T;
  case BRAID_U32:
    return MPI_UINT32_T;
  case BRAID_U64:
    return MPI_UINT64_T;
  case BRAID_F32:
    return MPI_FLOAT;
  case BRAID_F64:
    return MPI_DOUBLE;
  default:
    return MPI_UINT8_T;
  }
}

Outcome operationOf(braid_type type, braid_reduction reduction, MPI_Op &operation) {
  static std::mutex mutex;
  static std::array<MPI_Op, functions.size()> made = [] {
    std::array<MPI_Op, functions.size()> none;
    none.fill(MPI_OP_NULL);
    return none;
  }();
  if (reduction == BRAID_AVERAGE)
    reduction = BRAID_SUM;
  operation = builtin(type, reduction);
  if (operation != MPI_OP_NULL)
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  size_t which = size_t(type) * reductions + size_t(reduction);
  if (made[which] == MPI_OP_NULL)
    if (Outcome done = check(MPI_Op_create(functions[which], /*commute=*/1, &made[which]), "MPI_Op_create"); !done)
      return done;
  operation = made[which];
  return {};
}

} // namespace braid::runtime::mpi
