set(BRAID_RT_EMULATED_SOURCES
  transports/emulated/Emulated.cpp
  transports/emulated/Emulation.cpp
  transports/emulated/Fibers.cpp
  transports/emulated/InProcess.cpp
  transports/emulated/Json.cpp
  transports/emulated/Parker.cpp
  transports/emulated/Profile.cpp)
