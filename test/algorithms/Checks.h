//===- Checks.h - promises about algorithms ---------------------------------------------------------------------===//
#ifndef BRAID_TEST_ALGORITHMS_CHECKS_H
#define BRAID_TEST_ALGORITHMS_CHECKS_H

namespace braid::test {

/// Every program of the registry is correct on 1 to 33, 64, 100 and 128 ranks, and has the steps and bytes that its file says.
int prove(bool control);
/// What the simplest algorithms cost on one switch.
int oneSwitch(bool control);
/// Switches that reduce, executed on the emulated fabric by aggregators; and what is said where there are none.
int inNetwork(bool control);
/// Packed trees against TE-CCL's published schedules: CSV files of links and of finish times.
int teccl(const char *edges, const char *schedules, bool control);

} // namespace braid::test

#endif
