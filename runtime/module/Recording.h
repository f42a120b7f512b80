//===- Recording.h - what a compiled module did, and when --------------------------------------------------------===//
#ifndef BRAID_RUNTIME_MODULE_RECORDING_H
#define BRAID_RUNTIME_MODULE_RECORDING_H

#include "braid/runtime/braid_module.h"
#include "braid/runtime/braid_rt.h"
#include <vector>

namespace braid::runtime::module {

/// Computation between marks, and collectives from start to end. While it is off, a mark costs a comparison.
class Recording {
public:
  void turn(bool on) {
    recording = on;
    events.clear();
    open = -1;
  }
  bool on() const { return recording; }
  /// Ends what was computed; `mark`: what is computed from now on, negative for none.
  void mark(braid_comm *comm, int64_t mark) {
    if (!recording)
      return;
    double now = 0;
    (void)braid_now(comm, &now);
    if (open >= 0)
      events.push_back({open, since, now, nullptr, nullptr, 0, 0, 0, slowed});
    open = mark;
    since = now;
    slowed = 0;
  }
  /// What is computed now takes so many seconds more than it would by itself.
  void slowedBy(double seconds) { slowed += seconds; }
  void collective(const braid_module_event &event) { events.push_back(event); }

  std::vector<braid_module_event> events;

private:
  bool recording = false;
  int64_t open = -1; ///< what is computed now
  double since = 0, slowed = 0;
};

} // namespace braid::runtime::module

#endif
