//===- ClusterTexts.h - a cluster file and its mistakes, for tests of the reader --------------------------------===//
#ifndef BRAID_TEST_UNIT_CLUSTERTEXTS_H
#define BRAID_TEST_UNIT_CLUSTERTEXTS_H

#include "braid/cost_models/Cluster.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::cost {

/// A complete file; tests change one line of it.
inline const std::string complete = R"(name: small
hosts: 4
devices_per_host: 2
nics_per_host: 2
source: made up for a test
device:
  name: gpu
  peak: {bf16: "100 TFLOP/s", f32: "10 TFLOP/s"}
  matmul_efficiency: 0.5
  memory_bandwidth: "1 TB/s"
  memory_efficiency: 1
  memory: "16 GiB"
  launch: "5 us"
  reduction: "300 GB/s"
intra:
  name: nvlink
  bandwidth: "300 GB/s"
  latency: "0.6 us"
  profile: {fabric: quiet}
inter:
  name: ib
  bandwidth: "200 Gb/s"
  latency: "1.3 us"
  profile:
    fabric: infiniband
topology:
  builder: single_switch
nccl:
  bus_bandwidth_intra: "200 GB/s"
  bus_bandwidth_inter: "40 GB/s"
  architecture: ampere
  cpu: amd
  channels: 4
)";

class Folder {
public:
  Folder() { ::mkdir(path.c_str(), 0700); }
  ~Folder() { (void)!std::system(("rm -rf '" + path + "'").c_str()); }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(path + "/" + name) << text;
    return path + "/" + name;
  }
  std::string path = "/tmp/braid-cluster-test-" + std::to_string(::getpid());
};

inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

inline Result<Cluster> readText(const std::string &text) {
  Folder folder;
  Result<Cluster> result = readCluster(folder.write("c.yaml", text));
  if (result)
    return result;
  Error error = result.error(); // without the folder, so that tests can compare
  size_t at = error.place.rfind('/');
  error.place = at == std::string::npos ? error.place : error.place.substr(at + 1);
  return error;
}

inline std::string errorOf(const std::string &text) {
  Result<Cluster> result = readText(text);
  REQUIRE_FALSE(result);
  return result.error().text();
}
inline std::string errorOf(const std::string &from, const std::string &to) {
  return errorOf(replaced(complete, from, to));
}

} // namespace braid::cost

#endif
