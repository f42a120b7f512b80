# The modules of the engine "mpi": one for each MPI whose compiler wrapper is found, since MPIs have different binary interfaces.
#
# Wrappers are looked for on the PATH: mpicc.openmpi, mpicc.mpich (Debian's names), mpicc; which MPI one is of, its mpi.h says. Without
# any, or with -DBRAID_MPI=OFF, all else is built the same, and the engine says what is missing.
option(BRAID_MPI "build the engine 'mpi' for each MPI that is found" ON)

# Sets BRAID_MPIS (openmpi, mpich), and of each BRAID_MPI_<name>_INCLUDE, _LINK.
function(braid_find_mpis)
  set(found)
  foreach(wrapper mpicc.openmpi mpicc.mpich mpicc)
    find_program(BRAID_WRAPPER_${wrapper} ${wrapper})
    if(NOT BRAID_MPI OR NOT BRAID_WRAPPER_${wrapper})
      continue()
    endif()
    execute_process(COMMAND ${BRAID_WRAPPER_${wrapper}} -show OUTPUT_VARIABLE shown RESULT_VARIABLE failed ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(shown UNIX_COMMAND "${shown}")
    set(include ${shown})
    list(FILTER include INCLUDE REGEX "^-I")
    list(TRANSFORM include REPLACE "^-I" "")
    set(link ${shown})
    list(FILTER link INCLUDE REGEX "^-L|^-l|^-Wl,-rpath")
    file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/mpi.c
      "#include <mpi.h>\n#ifdef OPEN_MPI\nbraid_is openmpi\n#elif defined(MPICH_VERSION)\nbraid_is mpich\n#endif\n")
    set(options ${include})
    list(TRANSFORM options PREPEND "-I")
    execute_process(COMMAND ${CMAKE_C_COMPILER} ${options} -E ${PROJECT_BINARY_DIR}/CMakeFiles/mpi.c OUTPUT_VARIABLE text
      RESULT_VARIABLE unreadable ERROR_QUIET)
    if(failed OR unreadable OR NOT text MATCHES "braid_is ([a-z]+)")
      continue()
    endif()
    if(NOT CMAKE_MATCH_1 IN_LIST found)
      list(APPEND found ${CMAKE_MATCH_1})
      set(BRAID_MPI_${CMAKE_MATCH_1}_INCLUDE ${include} PARENT_SCOPE)
      set(BRAID_MPI_${CMAKE_MATCH_1}_LINK ${link} PARENT_SCOPE)
      list(APPEND texts "${CMAKE_MATCH_1} (${wrapper})")
    endif()
  endforeach()
  set(BRAID_MPIS ${found} PARENT_SCOPE)
  if(texts)
    list(JOIN texts ", " texts)
    message(STATUS "Engine mpi: ${texts}")
  else()
    message(STATUS "Engine mpi: no MPI found (libopenmpi-dev, libmpich-dev), or switched off (BRAID_MPI)")
  endif()
endfunction()

# libbraid-engine-mpi-<mpi>.so, which the runtime opens; it exports one symbol. Of the runtime it has the loops of reductions.
function(braid_add_mpi_module target mpi)
  add_library(${target} MODULE ${ARGN})
  target_compile_options(${target} PRIVATE ${BRAID_WARNINGS})
  target_include_directories(${target} SYSTEM PRIVATE ${BRAID_MPI_${mpi}_INCLUDE})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME braid-engine-mpi-${mpi} CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE BraidRuntimeInternal ${BRAID_MPI_${mpi}_LINK})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/mpi-exports.map "{ global: braid_engine_mpi; local: *; };\n")
  target_link_options(${target} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/mpi-exports.map -Wl,--no-undefined
    -Wl,--gc-sections)
endfunction()
