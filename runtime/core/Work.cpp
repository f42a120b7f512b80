//===- Work.cpp - the host moves and combines bytes -----------------------------------------------------------------===//
#include "core/Work.h"
#include "reduce/Stream.h"
#include <cstring>

namespace braid::runtime {

Outcome HostWork::copy(void *to, void *also, const void *from, size_t bytes, bool stream) {
  if (from)
    copyBytes(to, from, bytes, stream);
  else
    std::memset(to, 0, bytes);
  if (also)
    std::memcpy(also, to, bytes);
  return {};
}

Outcome HostWork::combine(const Reducer &reducer, const PlannedStep &step, const void *a, const void *b) {
  reducer.run(step.to, a, b, step.count, step.average, step.stream);
  if (step.also)
    std::memcpy(step.also, step.to, step.bytes);
  return {};
}

Outcome HostWork::divide(braid_type type, void *data, size_t count, int ranks) {
  runtime::divide(type, data, count, ranks);
  return {};
}

Outcome HostWork::convert(braid_type to, void *there, braid_type from, const void *here, size_t count) {
  runtime::convert(to, there, from, here, count);
  return {};
}

} // namespace braid::runtime
