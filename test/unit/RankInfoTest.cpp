//===- RankInfoTest.cpp - ranks from launchers' variables, and what is refused -------------------------------------===//
#include "bootstrap/RankInfo.h"
#include "bootstrap/HostIdentity.h"
#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace braid::runtime;
using Catch::Matchers::Contains;

namespace {

using Variables = std::map<std::string, std::string>;

/// Reads the variables plus a secret.
Outcome read(Variables variables, RankInfo &info, const std::string &rendezvous = {}) {
  variables.emplace("BRAID_JOB_SECRET", "0123456789abcdef");
  return readRankInfo(info, rendezvous, [&](const char *name) -> const char * {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string error(const Variables &variables) {
  RankInfo info;
  Outcome outcome = read(variables, info);
  CHECK(outcome.status == BRAID_INVALID);
  return outcome.text;
}

const Variables own = {{"BRAID_RANK", "2"}, {"BRAID_RANKS", "4"}, {"BRAID_RENDEZVOUS", "127.0.0.1:29400"}};
const Variables torchrun = {{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "10.0.0.1"},
                            {"MASTER_PORT", "29500"}};
const Variables openMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "2"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Variables pmi = {{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}};
const Variables slurm = {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "1"}};

Variables with(Variables variables, const Variables &more) {
  for (auto &[name, value] : more)
    variables[name] = value;
  return variables;
}

} // namespace

TEST_CASE("a launcher of some of the job's ranks", "[rankinfo]") {
  RankInfo info;
  const Variables some = {{"BRAID_FIRST_RANK", "5"}, {"BRAID_RANKS", "8"}, {"BRAID_RENDEZVOUS", "127.0.0.1:29400"}};
  REQUIRE(read(with(openMpi, some), info));
  CHECK(info.rank == 6);
  CHECK(info.ranks == 8);
  CHECK(info.localRanks == 2);
  CHECK(error(with(with(openMpi, some), {{"BRAID_RANKS", "6"}})) ==
        "BRAID_RANKS: expected at least 7, for 2 ranks of Open MPI from rank 5 on, got 6");
  CHECK(error(with(openMpi, {{"BRAID_FIRST_RANK", "5"}})) ==
        "BRAID_FIRST_RANK is set, but BRAID_RANKS, the ranks of the whole job, is not: expected both or neither");
  CHECK_THAT(error(with(with(openMpi, some), {{"BRAID_FIRST_RANK", "x"}})),
             Contains("BRAID_FIRST_RANK: expected a number"));
}

TEST_CASE("each launcher's variables", "[rankinfo]") {
  RankInfo info;
  REQUIRE(read(own, info));
  CHECK(info.text() == "rank 2 of 4 (braid, store 127.0.0.1:29400)");
  REQUIRE(read(torchrun, info));
  CHECK(info.rank == 5);
  CHECK(info.localRanks == 4);
  CHECK_THAT(info.text(), Contains("rank 5 of 8 (torchrun, local 1 of 4, store 10.0.0.1:"));
  REQUIRE(read(openMpi, info));
  CHECK_THAT(info.text(), Contains("rank 1 of 2 (Open MPI, local 1 of 2, store 127.0.0.1:"));
  REQUIRE(read(pmi, info));
  CHECK_THAT(info.text(), Contains("rank 0 of 3 (PMI, store"));
  REQUIRE(read(slurm, info));
  CHECK_THAT(info.text(), Contains("rank 3 of 4 (Slurm, local 1, store"));
  REQUIRE(read({}, info));
  CHECK(info.text() == "rank 0 of 1 (single)");
}

TEST_CASE("the first launcher in the order decides", "[rankinfo]") {
  Variables all = with(with(with(with(slurm, pmi), openMpi), torchrun), own);
  std::vector<std::pair<std::string, Variables>> order = {{"braid", own}, {"torchrun", torchrun}, {"Open MPI", openMpi},
                                                          {"PMI", pmi},   {"Slurm", slurm},       {"single", {}}};
  for (auto &[source, variables] : order) {
    RankInfo info;
    REQUIRE(read(all, info));
    CHECK(info.source == source);
    for (auto &[name, value] : variables)
      all.erase(name);
  }
}

TEST_CASE("nonsense is an error that names the variable", "[rankinfo]") {
  for (const char *bad : {"", "-1", "1x", " 1", "0x1", "1.0", "99999999999999999999", "1048577"}) {
    INFO(bad);
    CHECK_THAT(error(with(own, {{"BRAID_RANKS", bad}})), Contains("BRAID_RANKS: expected a number"));
    CHECK_THAT(error(with(openMpi, {{"OMPI_COMM_WORLD_RANK", bad}})), Contains("OMPI_COMM_WORLD_RANK: expected"));
  }
  CHECK_THAT(error(with(own, {{"BRAID_RANK", "4"}})),
             Contains("BRAID_RANK: expected less than BRAID_RANKS = 4, got 4"));
  CHECK_THAT(error(with(own, {{"BRAID_RANKS", "0"}, {"BRAID_RANK", "0"}})), Contains("BRAID_RANK: expected less than"));
}

TEST_CASE("contradictions are errors", "[rankinfo]") {
  CHECK_THAT(error({{"BRAID_RANK", "0"}}), Contains("BRAID_RANK is set, but BRAID_RANKS is not"));
  CHECK_THAT(error({{"WORLD_SIZE", "2"}}), Contains("WORLD_SIZE is set, but RANK is not (torchrun)"));
  CHECK_THAT(error(with(torchrun, {{"LOCAL_WORLD_SIZE", "9"}})),
             Contains("LOCAL_WORLD_SIZE: expected a number from 0 to 8"));
  CHECK_THAT(error(with(torchrun, {{"LOCAL_RANK", "4"}})),
             Contains("LOCAL_RANK: expected less than LOCAL_WORLD_SIZE = 4"));
  CHECK_THAT(error(with(torchrun, {{"RANK", "0"}})), Contains("LOCAL_RANK: expected at most RANK = 0, got 1"));
  CHECK_THAT(error(with(own, {{"BRAID_STORE", "etcd"}})),
             Contains("BRAID_STORE: expected launcher or rank0, got \"etcd\""));
}

TEST_CASE("salloc's shell is no task, a step of a job has its own count", "[rankinfo]") {
  RankInfo info;
  REQUIRE(read({{"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}}, info));
  CHECK(info.source == "single");
  REQUIRE(read(with(slurm, {{"SLURM_NTASKS", "64"}, {"SLURM_STEP_NUM_TASKS", "4"}}), info));
  CHECK(info.ranks == 4);
}

TEST_CASE("several ranks need a secret, one does not", "[rankinfo]") {
  CHECK_THAT(error(with(own, {{"BRAID_JOB_SECRET", "short"}})),
             Contains("BRAID_JOB_SECRET: expected a secret of at least 16 bytes") && Contains("got 5 bytes"));
  CHECK_THAT(error(with(own, {{"BRAID_JOB_SECRET", ""}})),
             Contains("got none") && Contains("/proc/sys/kernel/random/uuid"));
  RankInfo info;
  CHECK(read({{"BRAID_JOB_SECRET", ""}}, info));
}

TEST_CASE("where the store is: given, or ports that all ranks of a job compute alike", "[rankinfo]") {
  RankInfo first, second, other, given;
  REQUIRE(read(openMpi, first));
  REQUIRE(read(with(openMpi, {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}), second));
  CHECK(first.rendezvous == second.rendezvous);
  CHECK(std::set<std::string>(first.rendezvous.begin(), first.rendezvous.end()).size() >= 7);
  REQUIRE(read(with(openMpi, {{"BRAID_JOB_SECRET", "another secret, another job"}}), other));
  CHECK(first.rendezvous != other.rendezvous);
  REQUIRE(read(with(openMpi, {{"PMIX_NAMESPACE", "17"}}), other));
  CHECK(first.rendezvous != other.rendezvous);
  REQUIRE(read(torchrun, given, "10.0.0.9:1234"));
  CHECK(given.rendezvous == std::vector<std::string>{"10.0.0.9:1234"});
  // Ranks on other hosts can't find rank 0 by themselves.
  CHECK_THAT(error(with(openMpi, {{"OMPI_COMM_WORLD_SIZE", "4"}})),
             Contains("BRAID_RENDEZVOUS: expected host:port of rank 0"));
  CHECK_THAT(error(with(slurm, {{"SLURM_NNODES", "2"}})), Contains("the step has 2 nodes") && Contains("scontrol"));
}

TEST_CASE("local ranks come from host identities", "[rankinfo][host]") {
  auto host = [](const std::string &name, const std::string &boot = "b", const std::string &memory = "m") {
    HostIdentity identity{name, boot, memory, 0};
    identity.hash = hashOf(identity);
    return identity;
  };
  // Placed round robin and unevenly: rank modulo four would be wrong everywhere.
  std::vector<HostIdentity> all = {host("a"), host("b"), host("a"), host("b"), host("a")};
  CHECK(localPlace(all, 4).rank == 2);
  CHECK(localPlace(all, 4).ranks == 3);
  CHECK(localPlace(all, 3).rank == 1);
  CHECK(localPlace(all, 3).host == 1);
  CHECK(localPlace(all, 3).hosts == 2);
  CHECK_FALSE(host("a").sameAs(host("a", "other boot")));
  CHECK_FALSE(host("a").sameAs(host("a", "b", "other memory")));
  // Hashes collide: the strings decide.
  HostIdentity impostor = host("z");
  impostor.hash = all[0].hash;
  CHECK_FALSE(impostor.sameAs(all[0]));
  HostIdentity back, mine = thisHost();
  REQUIRE(HostIdentity::decode(mine.encode(), back));
  CHECK(back.sameAs(mine));
  CHECK(mine.bootId.size() == 36);
  CHECK_FALSE(HostIdentity::decode(mine.encode().substr(1), back));
}
