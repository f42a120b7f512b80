//===- Work.h - who moves and combines the bytes of an operation ----------------------------------------------------===//
//
// The host does it at once. A device does it in a stream, in the order in which it was told, and later: a message is offered, and
// accepted, when the device has done what was told before (mark, done).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_WORK_H
#define BRAID_RUNTIME_CORE_WORK_H

#include "core/Plan.h"

namespace braid::runtime {

class Work {
public:
  virtual ~Work() = default;
  /// to = also = from; `also` may be null, and `from`: zeros. `stream`: past the cache.
  virtual Outcome copy(void *to, void *also, const void *from, size_t bytes, bool stream) = 0;
  /// to = also = a op b, and the division of an average that the step completes.
  virtual Outcome combine(const Reducer &reducer, const PlannedStep &step, const void *a, const void *b) = 0;
  virtual Outcome divide(braid_type type, void *data, size_t count, int ranks) = 0;
  virtual Outcome convert(braid_type to, void *there, braid_type from, const void *here, size_t count) = 0;

  /// What a NIC has written to where a step wants it is seen by who reads it from there.
  virtual Outcome landed() { return {}; }
  /// What was told so far is that of `lane`.
  virtual Outcome mark(size_t lane) { return {}; }
  /// Whether what was told before the last mark of `lane` is done.
  virtual Outcome done(size_t lane, bool &is) { return is = true, Outcome(); }
  virtual bool later() const { return false; } ///< things are done later
};

/// The processor of the caller.
class HostWork : public Work {
public:
  Outcome copy(void *to, void *also, const void *from, size_t bytes, bool stream) override;
  Outcome combine(const Reducer &reducer, const PlannedStep &step, const void *a, const void *b) override;
  Outcome divide(braid_type type, void *data, size_t count, int ranks) override;
  Outcome convert(braid_type to, void *there, braid_type from, const void *here, size_t count) override;
};

} // namespace braid::runtime

#endif
