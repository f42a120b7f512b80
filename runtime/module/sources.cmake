set(BRAID_RT_MODULE_SOURCES module/ModuleCalls.cpp)
