# The device kernels: found tools, fat binaries for BRAID_CUDA_ARCHITECTURES with PTX, and libbraid_cuda.so, which holds them.
#
# nvcc is looked for in BRAID_CUDA_ROOT, in the environment (CUDA_HOME, CUDA_PATH), on the PATH, in /usr/local/cuda, and in the
# Python environment build/cuda that tools/scripts/build makes where there is none of these. Without it, or with
# -DBRAID_CUDA=OFF, all else is built the same.
option(BRAID_CUDA "compile the device kernels where nvcc is found" ON)
set(BRAID_CUDA_ROOT "" CACHE PATH "CUDA toolkit; empty: looked for")
set(BRAID_CUDA_ARCHITECTURES 80 90 100 CACHE STRING "compute capabilities that kernels are compiled for; PTX is of the first")

# One pass of the front end, whose PTX is assembled for each architecture and kept.
list(GET BRAID_CUDA_ARCHITECTURES 0 BRAID_CUDA_FIRST)
list(TRANSFORM BRAID_CUDA_ARCHITECTURES PREPEND "sm_" OUTPUT_VARIABLE BRAID_CUDA_CODE)
list(JOIN BRAID_CUDA_CODE "," BRAID_CUDA_CODE_LIST)
# No contraction: a multiply-add would round once where the hosts round twice. Uncompressed, so that what is in a fat binary can be
# looked at without NVIDIA's tools.
set(BRAID_NVCC_OPTIONS -std=c++17 -O3 -fmad=false -fatbin -no-compress
  -gencode "arch=compute_${BRAID_CUDA_FIRST},code=[${BRAID_CUDA_CODE_LIST},compute_${BRAID_CUDA_FIRST}]")

# Sets BRAID_NVCC (with the options that name a host compiler), BRAID_CUDA_INCLUDE and BRAID_CUDA_FOUND_TEXT.
function(braid_find_nvcc)
  set(BRAID_CUDA_FOUND_TEXT "switched off (BRAID_CUDA)" PARENT_SCOPE)
  if(NOT BRAID_CUDA)
    return()
  endif()
  if(BRAID_CUDA_ROOT)
    set(where ${BRAID_CUDA_ROOT})
    set(folders ${BRAID_CUDA_ROOT}/bin)
  else()
    set(where "CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda, ${PROJECT_BINARY_DIR}/cuda")
    string(REPLACE ":" ";" on_path "$ENV{PATH}")
    file(GLOB packaged ${PROJECT_BINARY_DIR}/cuda/lib/python3*/site-packages/nvidia/cu[0-9]*/bin)
    set(folders $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin ${on_path} /usr/local/cuda/bin ${packaged})
  endif()
  set(BRAID_CUDA_FOUND_TEXT "no nvcc in ${where}" PARENT_SCOPE)
  set(try ${PROJECT_BINARY_DIR}/CMakeFiles/cuda)
  file(WRITE ${try}.cu "#include <cstdint>\nextern \"C\" __global__ void write(uint32_t *x) { *x = 1; }\n")
  foreach(folder ${folders})
    if(NOT EXISTS ${folder}/nvcc)
      continue()
    endif()
    execute_process(COMMAND ${folder}/nvcc --version OUTPUT_VARIABLE version ERROR_QUIET)
    string(REGEX MATCH "V[0-9.]+" version "${version}")
    # It preprocesses with a compiler of the host: its default (g++), else ours.
    foreach(host "" "-ccbin;${CMAKE_CXX_COMPILER};-allow-unsupported-compiler")
      execute_process(COMMAND ${folder}/nvcc ${host} ${BRAID_NVCC_OPTIONS} ${try}.cu -o ${try}.fatbin
        RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
      if(NOT failed)
        execute_process(COMMAND ${folder}/nvcc ${host} -dryrun ${try}.cu OUTPUT_QUIET ERROR_VARIABLE settings)
        string(REGEX MATCH "_HERE_=([^\n]+)" here "${settings}") # what is on the PATH may be a wrapper or a link
        get_filename_component(root ${CMAKE_MATCH_1} DIRECTORY)
        list(JOIN BRAID_CUDA_CODE " " code)
        set(BRAID_NVCC ${folder}/nvcc ${host} PARENT_SCOPE)
        set(BRAID_CUDA_INCLUDE ${root}/include PARENT_SCOPE)
        set(BRAID_CUDA_BIN ${root}/bin CACHE INTERNAL "where ptxas is")
        set(BRAID_CUDA_FOUND_TEXT "nvcc ${version} (${folder}/nvcc), kernels for ${code} and PTX" PARENT_SCOPE)
        return()
      endif()
    endforeach()
    string(STRIP "${output}" output)
    string(REGEX REPLACE "\n.*" "" output "${output}")
    set(BRAID_CUDA_FOUND_TEXT "${folder}/nvcc ${version} does not compile for these architectures ('${output}')"
      PARENT_SCOPE)
  endforeach()
endfunction()

braid_find_nvcc()
if(BRAID_NVCC)
  message(STATUS "CUDA: ${BRAID_CUDA_FOUND_TEXT}")
else()
  message(STATUS "CUDA: ${BRAID_CUDA_FOUND_TEXT}; built without device kernels")
endif()

# braid_add_kernels(TARGET SOURCE FOLDER kernels...)      a shared library of FOLDER/KERNELS.cu, by SOURCE (BRAID_FATBINS)
function(braid_add_kernels name source folder)
  set(fatbins)
  foreach(kernels ${ARGN})
    set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${kernels}.fatbin)
    add_custom_command(OUTPUT ${fatbin} DEPENDS ${folder}/${kernels}.cu DEPFILE ${fatbin}.d
      COMMAND ${BRAID_NVCC} ${BRAID_NVCC_OPTIONS} -I ${CMAKE_CURRENT_SOURCE_DIR} -MD -MF ${fatbin}.d
        ${folder}/${kernels}.cu -o ${fatbin}
      COMMENT "nvcc ${kernels}.cu" VERBATIM)
    list(APPEND fatbins ${fatbin})
  endforeach()
  add_library(${name} SHARED ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${fatbins}"
    COMPILE_DEFINITIONS BRAID_FATBINS="${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
