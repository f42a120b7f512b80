set(BRAID_FABRIC_SOURCES
  fabrics/Draws.cpp
  fabrics/Collisions.cpp)
