//===- NcclTunerFilesTest.cpp - a bad file never harms the job ----------------------------------------------------------===//
#include "NcclTunerDriver.h"
#include "braid/cost_models/Choices.h"
#include <cstring>
#include <random>
#include <sys/stat.h>

using namespace tuner_test;
namespace cost = braid::cost;

static std::string goodFile() {
  auto cluster = cost::readCluster(BRAID_SOURCE_DIR "/cost_models/clusters/h100-roce-4x2.yaml");
  REQUIRE(cluster);
  return *cost::emitNcclTuner(*cluster, {});
}

/// All versions go on with NCCL's own choice, and one warning each says why.
static void leavesAlone(const std::string &why) {
  for (int version : {4, 5, 6}) {
    logged.clear();
    ConstantsV5 constants = {};
    Communicator communicator(version, 8, 4, &constants);
    REQUIRE(communicator.status == Success);
    Costs costs = Costs::ringsAndTrees(), before = costs;
    int channels = 0;
    CHECK(communicator.ask(AllReduce, 65536, costs, channels) == Success);
    CHECK(std::memcmp(&costs, &before, sizeof costs) == 0);
    CHECK(channels == 0);
    REQUIRE(logged.size() == 1);
    CHECK(logged[0].level == Warn);
    CHECK_THAT(logged[0].text, Catch::Contains(why));
    CHECK_THAT(logged[0].text, Catch::Contains("NCCL chooses by itself"));
    for (char c : logged[0].text)
      REQUIRE((unsigned char)c >= 0x20);
  }
}

static std::string replaced(std::string text, const std::string &what, const std::string &by) {
  size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

TEST_CASE("NCCL's tuner: no file, or what is no file", "[tuner]") {
  unsetenv("BRAID_TUNER_FILE");
  leavesAlone("BRAID_TUNER_FILE: expected a file of braid-sim emit nccl-tuner, got none");
  TunerFile file("");
  leavesAlone("expected a value, got the end of the text");
  unlink(file.path.c_str());
  leavesAlone("expected a readable file, got: No such file or directory");
  REQUIRE(mkfifo(file.path.c_str(), 0600) == 0); // nobody will ever write to it
  leavesAlone("expected a file, got something else of that name");
  unlink(file.path.c_str());
  REQUIRE(mkdir(file.path.c_str(), 0700) == 0);
  leavesAlone("expected a file, got something else of that name");
  rmdir(file.path.c_str());
  setenv("BRAID_TUNER_FILE", "/dev/zero", 1);
  leavesAlone("expected a file, got something else of that name");
  setenv("BRAID_TUNER_FILE", std::string(5000, 'x').c_str(), 1);
  leavesAlone("expected a readable file");
}

TEST_CASE("NCCL's tuner: files of another version, too large, or of nonsense", "[tuner]") {
  std::string good = goodFile();
  TunerFile file(good);
  auto bad = [&](const std::string &text, const std::string &why) {
    file.write(text);
    leavesAlone(why);
  };
  bad(replaced(good, "braid-nccl-tuner 1", "braid-nccl-tuner 0"), "expected the format \"braid-nccl-tuner 1\"");
  bad(replaced(good, "braid-nccl-tuner 1", "\\n\\r\x1b[2J"), "got \"??"); // nothing that a terminal would act on
  bad("[]", "got none");
  bad(good + std::string(5 << 20, ' '), "expected at most 4 MiB");
  bad(std::string(1 << 20, '['), "less than 64 levels");
  bad("[" + std::string(1 << 20, '0') + "]", "expected");
  std::string many = "[0";
  for (int i = 0; i < 300000; ++i)
    many += ",0";
  bad(many + "]", "expected fewer values");
  bad(replaced(good, "\"tree\"", "\"shrub\""),
      "expected \"algorithm\" and \"protocol\" as NCCL knows them, got \"shrub\"");
  bad(replaced(good, "\"channels\": 4", "\"channels\": 65"), "\"channels\", a whole number from 0 to 64");
  bad(replaced(good, "\"channels\": 4", "\"channels\": -1"), "\"channels\", a whole number from 0 to 64");
  bad(replaced(good, "\"min_bytes\": 1,", "\"min_bytes\": 1e300,"), "\"min_bytes\", a whole number");
  bad(replaced(good, "\"min_bytes\": 1,", "\"min_bytes\": 1e999,"), "a number that a double holds");
  bad(replaced(good, "\"min_bytes\": 1,", "\"min_bytes\": -inf,"), "a number that a double holds");
  bad(replaced(good, "\"min_bytes\": 1,", "\"min_bytes\": 1.5,"), "\"min_bytes\", a whole number");
  bad(replaced(good, "\"max_bytes\": ", "\"max_bytes\": 0, \"x\": "), "expected sizes that rise and do not overlap");
  bad(replaced(good, "\"ranks\": 8", "\"ranks\": \"8\""), "\"ranks\", a whole number");
  bad(replaced(good, "\"all_reduce\"", "\"all_reduced\""), "expected a collective, got \"all_reduced\"");
  bad(replaced(good, "\"collectives\": {",
               "\"constants\": {\"base_latency\": {\"tree\": {\"LL\": 0}}}, \"collectives\": {"),
      "expected a number above 0");
  bad(replaced(good, "\"collectives\": {", "\"constants\": {\"ll_most\": [[],[],[],[],[1]]}, \"collectives\": {"),
      "4 generations at 3 scales");
}

TEST_CASE("NCCL's tuner: a file that is cut off anywhere is no file", "[tuner]") {
  std::string good = goodFile();
  TunerFile file(good);
  while (good.back() == '\n')
    good.pop_back();
  for (size_t length = 0; length < good.size(); length += 1 + length / 20) {
    file.write(good.substr(0, length));
    leavesAlone("expected");
  }
}

TEST_CASE("NCCL's tuner: 2,000 files with changed bytes harm nothing", "[tuner]") {
  std::string good = goodFile();
  TunerFile file(good);
  std::mt19937 random(20261201);
  int read = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bad = good;
    for (int change = 0; change <= round % 4; ++change) {
      size_t at = random() % bad.size();
      switch (random() % 4) {
      case 0:
        bad[at] = round % 2 ? char(random()) : "{}[]\",:0-e.9"[random() % 12];
        break;
      case 1: // another number
        at = bad.find_first_of("0123456789", at);
        if (at != std::string::npos)
          bad[at] = char('0' + random() % 10);
        break;
      case 2:
        bad.erase(at, 1 + random() % 200);
        break;
      default:
        bad.insert(at, bad.substr(random() % bad.size(), 1 + random() % 200));
      }
    }
    file.write(bad);
    logged.clear();
    ConstantsV5 constants = {};
    Communicator communicator(4 + round % 3, 8, 4, &constants);
    REQUIRE(communicator.status == Success);
    REQUIRE(warnings() <= 1);
    read += warnings() == 0;
    for (size_t bytes : {size_t(8), size_t(65536), size_t(1) << 26}) {
      Costs costs = Costs::ringsAndTrees();
      costs.cell[0][0] = impossible;
      int channels = 0;
      REQUIRE(communicator.ask(AllReduce, bytes, costs, channels) == Success);
      REQUIRE(costs.cell[0][0] == impossible);
      for (int a = 2; a < algorithms; ++a)
        for (float cost : costs.cell[a])
          REQUIRE(cost == impossible);
      REQUIRE(channels >= 0);
      REQUIRE(channels <= mostChannels);
    }
  }
  CHECK(read > 100); // with another time, say
  CHECK(read < 1900);
}
