set(BRAID_LOWERING_SOURCES
  lowering/ExpandCopies.cpp
  lowering/PrepareCompute.cpp
  lowering/RuntimeCalls.cpp
  lowering/Site.cpp
  lowering/ToDestination.cpp
  lowering/ToRuntime.cpp
  lowering/VerifyInFlight.cpp)
