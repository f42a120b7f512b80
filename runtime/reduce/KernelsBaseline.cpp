//===- KernelsBaseline.cpp - the loops for every processor of the architecture -----------------------------------===//
#define BRAID_KERNELS kernelsBaseline
#include "reduce/Kernels.inc"
