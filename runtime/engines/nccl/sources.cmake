set(BRAID_RT_NCCL_SOURCES
  engines/nccl/Calls.cpp
  engines/nccl/Devices.cpp
  engines/nccl/Engine.cpp
  engines/nccl/Group.cpp
  engines/nccl/Library.cpp)

# Our declarations of NCCL against its header, where there is one.
find_path(BRAID_NCCL_INCLUDE nccl.h HINTS ${BRAID_CUDA_INCLUDE} ENV NCCL_HOME ENV CUDA_HOME /usr/local/cuda
  PATH_SUFFIXES include)
