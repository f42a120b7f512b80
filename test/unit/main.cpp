// Catch2's main, compiled once (half a minute) and linked to every unit test.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
