set(BRAID_RT_REDUCE_SOURCES
  reduce/Convert.cpp
  reduce/KernelsBaseline.cpp
  reduce/Reduce.cpp
  reduce/Stream.cpp)
# -O3: the loops are what the time goes to. No contraction: a multiply-add would round once where the others round twice.
set_source_files_properties(reduce/KernelsBaseline.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND BRAID_RT_REDUCE_SOURCES reduce/KernelsAvx2.cpp)
  set_source_files_properties(reduce/KernelsAvx2.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off;-mavx2;-mf16c")
  list(APPEND BRAID_RT_DEFINITIONS BRAID_RT_AVX2=1)
endif()
