# What `cmake --install` writes, and what find_package(Braid) then finds:
#
#   include/braid/FOLDER          public headers, with the generated ones
#   lib                           static libraries, libbraid_rt.so, BraidPlugin.so, libnccl-tuner-braid.so
#   lib/cmake/Braid               BraidConfig.cmake and a file of targets for each component
#   bin                           the tools that were built
#   share/braid/clusters          cluster files
#
# Components: Runtime (Braid::Runtime, Braid::Algorithms, Braid::Trace, Braid::Draws; no LLVM), CostModels, Passes (Braid::Passes,
# Braid::Dialect). Each needs those before it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(BRAID_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Braid)

# braid_install(COMPONENT targets...)      BraidX becomes Braid::X
function(braid_install component)
  foreach(target ${ARGN})
    string(REGEX REPLACE "^Braid" "" name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_compile_features(${target} INTERFACE cxx_std_17)
  endforeach()
  install(TARGETS ${ARGN} EXPORT Braid${component}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT Braid${component}Targets NAMESPACE Braid:: DESTINATION ${BRAID_CONFIG_DIR})
endfunction()

braid_install(Runtime BraidRuntime BraidAlgorithms BraidTrace BraidDraws)
set(folders runtime)
if(NOT BRAID_RUNTIME_ONLY)
  braid_install(CostModels BraidCostModels)
  braid_install(Passes BraidDialect BraidPasses)
  list(APPEND folders cost_models dialect passes)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/cost_models/clusters DESTINATION ${CMAKE_INSTALL_DATADIR}/braid)
endif()
foreach(folder ${folders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/ ${PROJECT_BINARY_DIR}/${folder}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()
foreach(tool braid-bench braid-doctor braid-launch braid-opt braid-run braid-sim braid-skeleton braid-topo BraidPlugin BraidCuda BraidNcclTuner
    BraidEngineMpi_openmpi BraidEngineMpi_mpich)
  if(TARGET ${tool})
    install(TARGETS ${tool} OPTIONAL # those that were built
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/BraidConfig.cmake.in ${PROJECT_BINARY_DIR}/BraidConfig.cmake
  INSTALL_DESTINATION ${BRAID_CONFIG_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/BraidConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/BraidConfig.cmake ${PROJECT_BINARY_DIR}/BraidConfigVersion.cmake
  DESTINATION ${BRAID_CONFIG_DIR})
