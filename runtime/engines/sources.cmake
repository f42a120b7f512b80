# Each engine is a folder of its own with a sources.cmake, as transports are.
set(BRAID_RT_ENGINES_SOURCES
  engines/Engines.cpp)
