set(BRAID_RT_SHM_SOURCES
  transports/shm/Segment.cpp
  transports/shm/Shm.cpp)
