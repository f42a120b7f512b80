# Relative to cost_models/.
set(BRAID_TOPOLOGY_SOURCES
  topology/Graph.cpp
  topology/Topology.cpp
  topology/Units.cpp)
