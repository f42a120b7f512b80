# The driver by dlopen and the launches: compiled everywhere. The kernels are BraidCuda.cmake's.
set(BRAID_RT_CUDA_SOURCES
  transports/cuda/Current.cpp
  transports/cuda/Driver.cpp
  transports/cuda/GpuDirect.cpp
  transports/cuda/Kernels.cpp
  transports/cuda/PeerMemory.cpp)
list(APPEND BRAID_RT_LIBRARIES ${CMAKE_DL_LIBS})
