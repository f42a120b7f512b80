//===- KernelsAvx2.cpp - the loops for x86-64 with AVX2; compiled with -mavx2 -------------------------------------===//
#define BRAID_KERNELS kernelsAvx2
#include "reduce/Kernels.inc"
