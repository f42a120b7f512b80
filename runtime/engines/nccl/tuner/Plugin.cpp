//===- Plugin.cpp - the symbols that NCCL looks for -------------------------------------------------------------===//
//
// Nothing leaves these functions but success: NCCL ends the job on any other result, and it can't catch an exception. A context
// that could not be made is null, with which NCCL chooses by itself.
//===------------------------------------------------------------------------------------------------------------===//
#include "engines/nccl/tuner/Tuner.h"
#include <new>

using namespace braid::nccl;

static void make(void **context, size_t ranks, size_t nodes, Logger logger, ConstantsV5 *constants) noexcept {
  if (!context)
    return;
  *context = nullptr;
  try {
    *context = new Tuner(ranks, nodes, logger, constants);
  } catch (...) { // no memory
    if (logger)
      logger(Warn, All, __FILE_NAME__, __LINE__, "braid tuner: the choices could not be read; NCCL chooses by itself");
  }
}

static int initV4(size_t ranks, size_t nodes, Logger logger, void **context) {
  make(context, ranks, nodes, logger, nullptr);
  return Success;
}

static int initV5(void **context, uint64_t, size_t ranks, size_t nodes, Logger logger, NvlDomainInfoV5 *,
                  ConstantsV5 *constants) {
  make(context, ranks, nodes, logger, constants);
  return Success;
}

static int getCollInfo(void *context, int function, size_t bytes, int operations, float **costs, int algorithmCount,
                       int protocolCount, int, int *channels) {
  try {
    if (context)
      static_cast<const Tuner *>(context)->decide(function, bytes, operations, reinterpret_cast<float *>(costs),
                                                  algorithmCount, protocolCount, channels);
  } catch (...) { // no memory for a line of the log
  }
  return Success;
}

static int finalize(void *context) {
  delete static_cast<Tuner *>(context);
  return Success;
}

/// Prices are those of NCCL's own chunks, so these stay. (A chunk from outside that is too large has given wrong results: nccl#2408.)
static int getChunkSize(void *, int, size_t, int, int, int, size_t *) { return Success; }

extern "C" {
__attribute__((visibility("default"))) extern const TunerV4 ncclTunerPlugin_v4;
__attribute__((visibility("default"))) extern const TunerV5 ncclTunerPlugin_v5;
__attribute__((visibility("default"))) extern const TunerV6 ncclTunerPlugin_v6;
const TunerV4 ncclTunerPlugin_v4 = {"braid", initV4, getCollInfo, finalize};
const TunerV5 ncclTunerPlugin_v5 = {"braid", initV5, getCollInfo, finalize};
const TunerV6 ncclTunerPlugin_v6 = {"braid", initV5, getCollInfo, finalize, getChunkSize};
}
