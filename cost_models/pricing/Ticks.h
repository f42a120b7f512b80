//===- Ticks.h - what is at once -----------------------------------------------------------------------------------===//
//
// Two messages that reach a link at once take it by their senders' places in the group. Whether they are at once must not hang on
// how a sum of latencies is rounded: 1.3 us + 0.5 us + 1.3 us is not always 3.1 us in floating point, and who is first then decides
// by as much as a message's whole transfer. So latencies and times of transfer are whole ticks of 2^-50 s (0.9 fs). Sums of them
// are exact up to 8 s, in any order, and whoever plays finds the same ties.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_TICKS_H
#define BRAID_COST_MODELS_PRICING_TICKS_H

namespace braid::cost {

/// The nearest whole number of ticks, as seconds: a double in [4, 8) is a multiple of 2^-50.
inline double inTicks(double seconds) { return (seconds + 6) - 6; }

} // namespace braid::cost

#endif
