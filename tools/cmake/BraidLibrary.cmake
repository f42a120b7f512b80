# How Braid's plain libraries are made.
#
# braid_add_library(NAME sources...)       plain C++17, may use exceptions inside; no LLVM, no MLIR
set(BRAID_WARNINGS -Wall -Wextra -Wno-unused-parameter)

# Every folder's public headers, in the tree and (generated .inc) in the build.
set(BRAID_INCLUDE_DIRS)
foreach(folder dialect cost_models passes runtime)
  list(APPEND BRAID_INCLUDE_DIRS $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${folder}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/${folder}/include>)
endforeach()
list(APPEND BRAID_INCLUDE_DIRS $<INSTALL_INTERFACE:include>)

function(braid_add_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${BRAID_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE ${BRAID_WARNINGS})
endfunction()
