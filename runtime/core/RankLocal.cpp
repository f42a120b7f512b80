//===- RankLocal.cpp - one pointer for each rank of a process -----------------------------------------------------===//
#include "core/RankLocal.h"

namespace braid::runtime {

static void *ofProcess = nullptr;
static thread_local void **place = nullptr;

void *&rankLocal() { return place ? *place : ofProcess; }
void useRankLocal(void **of) { place = of; }

} // namespace braid::runtime
