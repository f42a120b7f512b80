//===- StandIn.h - what the stand-in for librdmacm has counted -----------------------------------------------------------===//
#ifndef BRAID_TEST_VERBS_STAND_IN_STANDIN_H
#define BRAID_TEST_VERBS_STAND_IN_STANDIN_H

namespace braid::test {

/// That of standInCounted().
struct RdmaCounted {
  int channels = 0, ids = 0; ///< that are there now
  int given = 0;             ///< events, that are not acknowledged yet
  int mistakes = 0;          ///< what the real one would hang of
  int failsWith = 0;         ///< reading events, from now on
};

} // namespace braid::test

#endif
