//===- Version.cpp - what the shared library adds to its parts ----------------------------------------------------===//
#include "braid/runtime/braid_rt.h"

extern "C" uint32_t braid_version(void) { return BRAID_RT_VERSION; }
