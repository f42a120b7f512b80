# StableHLO out.
set(BRAID_EXPORT_SOURCES
  export/CollectiveExporter.cpp
  export/Combiner.cpp
  export/ExportAsync.cpp
  export/ExportPass.cpp
  export/Packing.cpp
  export/Sidecar.cpp)
