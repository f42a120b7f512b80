set(BRAID_RT_JSON_SOURCES
  json/Json.cpp)
