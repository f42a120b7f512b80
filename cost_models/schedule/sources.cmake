# Schedules: buckets, list scheduling, policies, the plan, its verifier; playing, memory, bounds.
set(BRAID_SCHEDULE_SOURCES
  schedule/Bucketize.cpp
  schedule/Contraction.cpp
  schedule/ListSchedule.cpp
  schedule/Plan.cpp
  schedule/Policies.cpp
  schedule/Release.cpp
  schedule/Search.cpp
  schedule/Verify.cpp
  simulate/Flatten.cpp
  simulate/Memory.cpp
  simulate/Play.cpp
  simulate/Quantiles.cpp
  simulate/Timeline.cpp
  bounds/LowerBound.cpp)
