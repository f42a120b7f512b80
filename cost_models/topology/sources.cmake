# Relative to cost_models/.
set(BRAID_TOPOLOGY_SOURCES
  topology/Units.cpp)
