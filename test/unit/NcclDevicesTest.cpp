//===- NcclDevicesTest.cpp - which rank has which device ------------------------------------------------------------===//
#include "engines/nccl/Devices.h"
#include <catch2/catch.hpp>
#include <numeric>

using namespace braid::runtime;
using namespace braid::runtime::nccl;
using Catch::Matchers::Contains;

namespace {

/// A rank of the host `name` that sees these devices; UUIDs are told apart by their first character.
RankDevices rank(const std::string &name, const std::string &devices, int current = -1,
                 const std::string &memory = "m") {
  RankDevices made;
  made.host = {name, "boot", memory, 0};
  made.host.hash = hashOf(made.host);
  for (char each : devices)
    made.devices.push_back(std::string(1, each) + std::string(15, '-'));
  made.current = current;
  return made;
}

std::vector<int> numbers(size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> assigned(const std::vector<RankDevices> &ranks) {
  std::vector<int> devices;
  Outcome done = assignDevices(ranks, numbers(ranks.size()), devices);
  INFO(done.text);
  CHECK(done);
  return devices;
}

std::string refused(const std::vector<RankDevices> &ranks) {
  std::vector<int> devices;
  return assignDevices(ranks, numbers(ranks.size()), devices).text;
}

} // namespace

TEST_CASE("each rank has the device of its place among those of its host that see the same", "[nccl]") {
  // In rows, round-robin, 3 + 1: rank modulo the devices would give some device twice in the last two.
  CHECK(assigned({rank("a", "01"), rank("a", "01"), rank("b", "23"), rank("b", "23")}) == std::vector<int>{0, 1, 0, 1});
  CHECK(assigned({rank("a", "01"), rank("b", "23"), rank("a", "01"), rank("b", "23")}) == std::vector<int>{0, 0, 1, 1});
  CHECK(assigned({rank("a", "012"), rank("b", "3"), rank("a", "012"), rank("a", "012")}) ==
        std::vector<int>{0, 0, 1, 2});
  // Each rank sees one device of its own (CUDA_VISIBLE_DEVICES, Slurm's --gpus-per-task).
  CHECK(assigned({rank("a", "0"), rank("a", "1"), rank("a", "2")}) == std::vector<int>{0, 0, 0});
  // The thread's context decides, in any order.
  CHECK(assigned({rank("a", "01", 1), rank("a", "01", 0)}) == std::vector<int>{1, 0});
}

TEST_CASE("hosts of one name, and hosts whose hashes collide, are told apart", "[nccl]") {
  CHECK(assigned({rank("node", "0", -1, "1"), rank("node", "1", -1, "2")}) == std::vector<int>{0, 0});
  std::vector<RankDevices> colliding = {rank("a", "01"), rank("b", "23"), rank("a", "01"), rank("b", "23")};
  for (RankDevices &each : colliding)
    each.host.hash = 42;
  CHECK(assigned(colliding) == std::vector<int>{0, 0, 1, 1});
  // Even where the hosts can't be told apart at all, their devices are.
  CHECK(assigned({rank("same", "0"), rank("same", "1")}) == std::vector<int>{0, 0});
}

TEST_CASE("a device that two ranks would have, and one that is not there, are errors that name the ranks", "[nccl]") {
  CHECK(refused({rank("a", "01", 0), rank("b", "2"), rank("a", "01", 0)}) ==
        "expected a device of its own for each rank, got GPU-302d2d2d-2d2d-2d2d-2d2d-2d2d2d2d2d2d for rank 0 (on a) "
        "and rank "
        "2 (on a); give each rank another (CUDA_VISIBLE_DEVICES, or the context that is current)");
  // Two containers of one machine that were given the same device, and call themselves two hosts.
  CHECK_THAT(refused({rank("a", "0"), rank("b", "0")}), Contains("for rank 0 (on a) and rank 1 (on b)"));
  CHECK_THAT(refused({rank("a", "01"), rank("a", "01"), rank("a", "01")}),
             Contains("expected a device for each rank of a host, got 2 for rank 2 (on a), which is number 2"));
}

TEST_CASE("what a rank says of its devices survives the way, and nothing cut off does", "[nccl]") {
  RankDevices sent = rank("a", "012", 1), back;
  REQUIRE(RankDevices::decode(sent.encode(), back));
  CHECK(back.host.sameAs(sent.host));
  CHECK(back.devices == sent.devices);
  CHECK(back.current == 1);
  std::string text = sent.encode();
  for (size_t length = 0; length < text.size(); ++length)
    CHECK_FALSE(RankDevices::decode(text.substr(0, length), back));
}
