# Messages over RDMA verbs, and the double that tests run them on. Nothing links to rdma-core: with its headers here, its library is
# opened where it is asked for.
set(BRAID_RT_VERBS_SOURCES
  transports/verbs/Connect.cpp
  transports/verbs/Control.cpp
  transports/verbs/DeviceRegion.cpp
  transports/verbs/Failover.cpp
  transports/verbs/Gids.cpp
  transports/verbs/Knobs.cpp
  transports/verbs/Lanes.cpp
  transports/verbs/Library.cpp
  transports/verbs/Managed.cpp
  transports/verbs/ManagerLibrary.cpp
  transports/verbs/Moves.cpp
  transports/verbs/Rail.cpp
  transports/verbs/Registrations.cpp
  transports/verbs/Statuses.cpp
  transports/verbs/VerbsTransport.cpp
  transports/verbs/double/Devices.cpp
  transports/verbs/double/Manager.cpp
  transports/verbs/double/Network.cpp
  transports/verbs/double/Transitions.cpp)
find_path(BRAID_IBVERBS_INCLUDE infiniband/verbs.h)
mark_as_advanced(BRAID_IBVERBS_INCLUDE)
if(BRAID_IBVERBS_INCLUDE)
  message(STATUS "RDMA verbs: with libibverbs, opened when it is asked for (headers in ${BRAID_IBVERBS_INCLUDE})")
  list(APPEND BRAID_RT_DEFINITIONS BRAID_RT_HAVE_IBVERBS=1)
else()
  message(STATUS "RDMA verbs: only the double of the tests; libibverbs needs its headers (Debian: libibverbs-dev)")
endif()
find_path(BRAID_RDMACM_INCLUDE rdma/rdma_cma.h)
mark_as_advanced(BRAID_RDMACM_INCLUDE)
if(BRAID_RDMACM_INCLUDE AND BRAID_IBVERBS_INCLUDE)
  message(STATUS "RDMA verbs: with librdmacm, opened when it is asked for (BRAID_IB_CM=rdma_cm)")
  set_source_files_properties(transports/verbs/ManagerLibrary.cpp PROPERTIES COMPILE_DEFINITIONS BRAID_RT_HAVE_RDMACM=1)
else()
  message(STATUS "RDMA verbs: without rdma_cm; it needs its headers (Debian: librdmacm-dev)")
endif()
list(APPEND BRAID_RT_LIBRARIES ${CMAKE_DL_LIBS})
