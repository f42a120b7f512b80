# Without mpi.h: it is the modules' (BraidMpi.cmake), one for each MPI.
set(BRAID_RT_MPI_SOURCES
  engines/mpi/MpiEngine.cpp)
list(APPEND BRAID_RT_LIBRARIES ${CMAKE_DL_LIBS})
