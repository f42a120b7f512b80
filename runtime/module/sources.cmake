set(BRAID_RT_MODULE_SOURCES
  module/Agree.cpp
  module/Bf16Calls.cpp
  module/BusyKernel.cpp
  module/Module.cpp
  module/ModuleCalls.cpp
  module/Pool.cpp
  module/Site.cpp)
