set(BRAID_RT_ISLANDS_SOURCES
  engines/islands/Compose.cpp
  engines/islands/Islands.cpp
  engines/islands/Layout.cpp)
