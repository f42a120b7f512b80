//===- Images.cpp - the fat binaries as data ------------------------------------------------------------------------===//
//
// In the section in which cuobjdump looks for them. BRAID_FATBINS is the folder where the build has put them.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/cuda/Images.h"

#define BRAID_IMAGE(name)                                                                                              \
  asm(".pushsection .nv_fatbin, \"a\", @progbits\n"                                                                    \
      ".balign 16\n"                                                                                                   \
      "braid_fatbin_" #name ":\n"                                                                                      \
      ".incbin \"" BRAID_FATBINS "/" #name ".fatbin\"\n"                                                               \
      ".popsection\n");                                                                                                \
  extern "C" __attribute__((visibility("hidden"))) const char braid_fatbin_##name[];

BRAID_IMAGE(Bytes)
BRAID_IMAGE(F8)
BRAID_IMAGE(Floats)
BRAID_IMAGE(Integers)
BRAID_IMAGE(Moves)

extern "C" const braid_cuda_image braid_cuda_images[] = {
    {"Floats", braid_fatbin_Floats},     {"Moves", braid_fatbin_Moves}, {"F8", braid_fatbin_F8},
    {"Integers", braid_fatbin_Integers}, {"Bytes", braid_fatbin_Bytes}, {nullptr, nullptr}};
