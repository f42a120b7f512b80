# StableHLO in.
set(BRAID_IMPORT_SOURCES
  analysis/StablehloOp.cpp
  import/CollectiveImporter.cpp
  import/ImportAsync.cpp
  import/ImportPass.cpp
  import/MeshText.cpp
  import/PlaceholderDialects.cpp
  import/ReductionRegion.cpp
  import/ReplicaGroups.cpp)
