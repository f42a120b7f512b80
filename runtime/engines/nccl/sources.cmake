set(BRAID_RT_NCCL_SOURCES
  engines/nccl/Calls.cpp
  engines/nccl/Devices.cpp
  engines/nccl/Engine.cpp
  engines/nccl/Group.cpp
  engines/nccl/Library.cpp)
