//===- VerbsMisuseTest.cpp - misuse of RDMA verbs ends on the double as it does on a device --------------------------===//
#include "test/verbs/misuse/Misuse.h"
#include "transports/verbs/double/Fabric.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace braid::test;

namespace {

/// test/data/verbs_misuse.txt: how each program ends, by its name.
std::map<std::string, std::string> frozen() {
  std::map<std::string, std::string> table;
  std::ifstream file(BRAID_SOURCE_DIR "/test/data/verbs_misuse.txt");
  for (std::string line; std::getline(file, line);)
    if (size_t colon = line.find(": "); !line.empty() && line[0] != '#' && line[0] != ' ' && colon != std::string::npos)
      table[line.substr(0, colon)] = line.substr(colon + 2);
  return table;
}

/// Programs that end otherwise than the table says.
std::vector<std::string> others(const verbs::FabricSettings &settings) {
  std::map<std::string, std::string> table = frozen();
  std::vector<std::string> found;
  for (const Misuse &misuse : misuses()) {
    auto fabric = verbs::Fabric::create(settings);
    std::string ended = play(misuse, *fabric->provider(0), "double0", std::chrono::milliseconds(20));
    if (ended != table[misuse.name])
      found.push_back(std::string(misuse.name) + ": expected '" + table[misuse.name] + "', got '" + ended + "'");
  }
  return found;
}

} // namespace

TEST_CASE("verbs double: misuse ends as it does on a device", "[verbs]") {
  CHECK(frozen().size() == misuses().size());
  for (uint64_t seed : {1, 2}) {
    verbs::FabricSettings settings;
    settings.seed = seed;
    CHECK(others(settings) == std::vector<std::string>());
  }
}

TEST_CASE("verbs double: one that leaves out a check is found by a program", "[verbs]") {
  for (unsigned check = 1; check < verbs::CheckAll; check <<= 1) {
    INFO("check " << check);
    verbs::FabricSettings settings;
    settings.checks = verbs::CheckAll & ~check;
    CHECK(!others(settings).empty());
  }
}
