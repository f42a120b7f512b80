# Finds MLIR and defines how libraries on it are made.
#
# braid_add_mlir_library(NAME sources...)  linked to the shared MLIR and LLVM; no exceptions; shares one precompiled header
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir) # "22" alone is rejected by its version file
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(AddLLVM) # mlir_tablegen needs it
include(AddMLIR)
list(APPEND LLVM_TABLEGEN_FLAGS -I ${LLVM_INCLUDE_DIRS}) # so that no folder needs include_directories, which leaks into C++

function(braid_use_mlir name)
  target_include_directories(${name} PUBLIC ${BRAID_INCLUDE_DIRS})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE ${BRAID_WARNINGS} -fno-exceptions)
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()

# One precompiled header for all MLIR code. -fno-pch-timestamp keeps ccache's hits.
add_library(BraidPrecompiled OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
braid_use_mlir(BraidPrecompiled)
target_compile_options(BraidPrecompiled PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
target_precompile_headers(BraidPrecompiled PRIVATE
  <mlir/IR/PatternMatch.h> <mlir/IR/BuiltinOps.h> <mlir/Pass/Pass.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/IR/OpImplementation.h> <mlir/IR/DialectImplementation.h>)

function(braid_add_mlir_library name)
  add_library(${name} STATIC ${ARGN})
  braid_use_mlir(${name})
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # gcc's would be 830 MB and slow
    target_precompile_headers(${name} REUSE_FROM BraidPrecompiled)
  endif()
endfunction()
