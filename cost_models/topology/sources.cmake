# Relative to cost_models/.
set(BRAID_TOPOLOGY_SOURCES
  topology/Aggregators.cpp
  topology/Builders.cpp
  topology/ClusterHash.cpp
  topology/ClusterReader.cpp
  topology/DefaultProfiles.cpp
  topology/Drawing.cpp
  topology/EmitProfile.cpp
  topology/Graph.cpp
  topology/Hosts.cpp
  topology/Machine.cpp
  topology/NcclXml.cpp
  topology/Placement.cpp
  topology/Topology.cpp
  topology/Units.cpp
  topology/YamlSection.cpp)
