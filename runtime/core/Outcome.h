//===- Outcome.h - a status and its sentence --------------------------------------------------------------------===//
//
// What every fallible function of the runtime returns. The sentence becomes braid_last_error() at the C boundary.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_OUTCOME_H
#define BRAID_RUNTIME_CORE_OUTCOME_H

#include "braid/runtime/braid_rt.h"
#include <string>
#include <utility>

namespace braid::runtime {

struct [[nodiscard]] Outcome {
  braid_status status = BRAID_OK;
  std::string text;

  Outcome() = default;
  Outcome(braid_status status, std::string text) : status(status), text(std::move(text)) {}
  /// True: it worked.
  explicit operator bool() const { return status == BRAID_OK; }
};

} // namespace braid::runtime

#endif
