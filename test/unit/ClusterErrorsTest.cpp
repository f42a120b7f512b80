//===- ClusterErrorsTest.cpp - mistakes in cluster files ---------------------------------------------------------===//
#include "ClusterTexts.h"
#include "braid/cost_models/Topology.h"
#include <algorithm>

using namespace braid::cost;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("each mistake is one error that names the line, the key, what was expected and what was there") {
  CHECK(errorOf("hosts: 4", "hosts: four") == "c.yaml:2: hosts: expected a whole number, got \"four\"");
  CHECK(errorOf("hosts: 4", "hosts: 0") == "c.yaml:2: hosts: expected a whole number from 1 to 131072, got 0");
  CHECK(errorOf("hosts: 4", "hosts: 4.5") == "c.yaml:2: hosts: expected a whole number, got \"4.5\"");
  CHECK(errorOf("hosts: 4", "hosts: 010") == "c.yaml:2: hosts: expected a whole number without leading zeros, got "
                                             "\"010\", which is octal to some readers of YAML "
                                             "and decimal to others");
  CHECK(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: 00.5") ==
        "c.yaml:9: device.matmul_efficiency: expected a number without leading zeros, got \"00.5\"");
  CHECK_THAT(
      errorOf("fabric: infiniband", "fabric: infiniband\n    spike_probability: 1e-400"),
      Contains("c.yaml:26: inter.profile.spike_probability: expected a number, got \"1e-400\", which is too small"));
  CHECK_THAT(errorOf("\"1.3 us\"", "1e-400 us"), Contains("c.yaml:23: inter.latency: "));
  CHECK(errorOf("hosts: 4", "hosts: [4]") == "c.yaml:2: hosts: expected one value, got a list");
  CHECK(errorOf("hosts: 4", "hosts:") == "c.yaml:2: hosts: expected one value, got nothing");
  // unknown keys, with what was probably meant
  CHECK_THAT(errorOf("  launch:", "  launhc:"),
             Contains("device.launch: expected this key, got none (there is \"launhc\")"));
  CHECK(errorOf("nccl:", "colour: 1\nnccl:").find("c.yaml:28: colour: expected a known key, got this one (known: ") ==
        0);
  CHECK(errorOf("    fabric: infiniband", "    fabric: infiniband\n    spike_probabilty: 0.1") ==
        "c.yaml:26: inter.profile.spike_probabilty: expected a known key, got this one; did you mean "
        "\"spike_probability\"?");
  // missing keys
  const std::string wayOut = "; set it in this file, or in one that this one is based on (base: FILE)";
  CHECK(errorOf("  latency: \"1.3 us\"\n", "") == "c.yaml:20: inter.latency: expected this key, got none" + wayOut);
  CHECK_THAT(errorOf("topology:\n  builder: single_switch\n", ""),
             EndsWith("topology: expected this mapping, got none" + wayOut));
  CHECK(errorOf(complete.substr(0, complete.find("nccl:"))) ==
        "c.yaml:1: nccl: expected this mapping, got none" + wayOut);
  // units
  CHECK(errorOf("\"1.3 us\"", "1.3") ==
        "c.yaml:23: inter.latency: expected a time with a unit, like \"1.3 us\", got \"1.3\", which has no unit");
  CHECK(errorOf("\"200 Gb/s\"", "\"-200 Gb/s\"") ==
        "c.yaml:22: inter.bandwidth: expected a bandwidth from 1.00 kB/s to 1000000 TB/s, got \"-200 Gb/s\"");
  CHECK(errorOf("\"200 Gb/s\"", "\"0 Gb/s\"") ==
        "c.yaml:22: inter.bandwidth: expected a bandwidth from 1.00 kB/s to 1000000 TB/s, got \"0 Gb/s\"");
  CHECK_THAT(errorOf("\"200 Gb/s\"", "\"200 us\""), Contains("with the unit \"us\" (known: B/s"));
  CHECK_THAT(errorOf("\"16 GiB\"", "\"0 GiB\""), Contains("device.memory: expected a size above zero"));
  CHECK_THAT(errorOf("bf16: \"100 TFLOP/s\"", "bf16: 100"),
             Contains("c.yaml:8: device.peak.bf16: expected a rate with a unit"));
  CHECK_THAT(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: 1.5"),
             Contains("expected a number from 0.001 to 1, got 1.5"));
  CHECK_THAT(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: nan"),
             Contains("expected a number from 0.001 to 1, got nan"));
  // how computation varies
  for (auto [wrong, error] :
       {std::pair("skew: {per_job: -0.1}", "c.yaml:29: compute.skew.per_job: expected a number from 0 to 10, got -0.1"),
        std::pair("skew: {per_step: much}",
                  "c.yaml:29: compute.skew.per_step: expected a number without a unit, got \"much\""),
        std::pair("slowdown: {intra: 0.9}",
                  "c.yaml:29: compute.slowdown.intra: expected a number from 1 to 100, got 0.9"),
        std::pair("slowdown: {host: 2}", "c.yaml:29: compute.slowdown.host: expected a known key, got this one (known: "
                                         "inter or intra)"),
        std::pair("slowdwn: {}", "c.yaml:29: compute.slowdwn: expected a known key, got this one; did you mean "
                                 "\"slowdown\"?"),
        std::pair("slowdown: 2", "c.yaml:29: compute.slowdown: expected a mapping of keys, got \"2\"")})
    CHECK_THAT(errorOf("nccl:", std::string("compute:\n  ") + wrong + "\nnccl:"), StartsWith(error));
  // words
  CHECK(errorOf("single_switch", "single_swich") ==
        "c.yaml:27: topology.builder: expected single_switch, rail_optimized, "
        "fat_tree or three_tier, got \"single_swich\"; did you mean \"single_switch\"?");
  CHECK_THAT(errorOf("fabric: infiniband", "fabric: infinband"), Contains("did you mean \"infiniband\"?"));
  CHECK_THAT(errorOf("bf16:", "bf61:"),
             Contains("device.peak.bf61: expected an element type in MLIR's spelling, got this "
                      "one; did you mean \"bf16\"?"));
  // shape
  CHECK(errorOf("hosts: 4", "hosts: 4\nhosts: 5") ==
        "c.yaml:3: hosts: expected once, got it twice (first in line 2); leave one out");
  CHECK_THAT(errorOf("  name: ib\n", "  name: ib\n  name: ib\n"), Contains("inter.name: expected once, got it twice"));
  CHECK_THAT(errorOf("device:\n", "device: 3\nx:\n"), Contains("device: expected a mapping of keys, got \"3\""));
  CHECK(
      errorOf("nics_per_host: 2", "nics_per_host: 0").find("c.yaml:4: nics_per_host: expected a whole number from 1") ==
      0);
  CHECK_THAT(errorOf("builder: single_switch", "builder: fat_tree"),
             Contains("topology.hosts_per_leaf: expected this key"));
  CHECK(errorOf("builder: single_switch", "builder: single_switch\n  hosts_per_leaf: 2") ==
        "c.yaml:28: topology.hosts_per_leaf: expected no such key with builder single_switch, got one (those of a base "
        "stay "
        "in force; take one without a topology)");
  CHECK_THAT(errorOf("builder: single_switch",
                     "builder: fat_tree\n  hosts_per_leaf: 2\n  spine_latency: 1 us\n  core_latency: 1 us"),
             Contains("topology.core_latency: expected no such key with builder fat_tree"));
  CHECK_THAT(errorOf("fabric: infiniband", "fabric: roce\n    pause_longest: \"1 us\""),
             Contains("pause_shortest: expected at most pause_longest (1.00 us), got 10.0 us"));
}

TEST_CASE("an error is one line, whatever the file has in its values") {
  Folder folder;
  for (const char *value : {"|\n  text", "\"a\\nb\"", "\"a\\e[31mb\"", "\"a\\\nb\""}) {
    std::string text = complete;
    text.replace(text.find("devices_per_host: 2"), 19, std::string("devices_per_host: ") + value);
    Result<Cluster> cluster = readCluster(folder.write("odd.yaml", text));
    REQUIRE_FALSE(bool(cluster));
    for (char c : cluster.error().text())
      CHECK((unsigned char)c >= 0x20);
  }
  Result<Cluster> escape = readCluster(folder.write("escape.yaml", "name: \"a\\\n"));
  REQUIRE_FALSE(bool(escape));
  CHECK(escape.error().text().find('\n') == std::string::npos);
}

TEST_CASE("did you mean: an optional key with a slip") {
  CHECK_THAT(errorOf("    fabric: infiniband", "    fabric: infiniband\n    bulk_mean: 0.1\n    bulk_maen: 0.1"),
             Contains("inter.profile.bulk_maen: expected a known key, got this one; did you mean \"bulk_mean\"?"));
}

TEST_CASE("files that are no cluster files are errors, not exceptions") {
  CHECK(errorOf("") == "c.yaml: cluster file: expected a mapping of keys, got an empty file");
  CHECK(errorOf("# only a comment\n") == "c.yaml: cluster file: expected a mapping of keys, got an empty file");
  CHECK_THAT(errorOf("- a\n- b\n"), Contains("expected a mapping of keys, got a list"));
  CHECK_THAT(errorOf("just text"), Contains("expected a mapping of keys, got \"just text\""));
  CHECK_THAT(errorOf("a: [1, 2\nb: }"), Contains("expected YAML, got: "));
  CHECK_THAT(errorOf("a: b: c"), Contains("c.yaml:1: cluster file: expected YAML"));
  // more than one document
  std::string second = ": cluster file: expected one document, got another one; keep one cluster in a file";
  CHECK_THAT(errorOf(complete + "---\nname: again\n"), Contains("c.yaml:34" + second));
  CHECK_THAT(errorOf("device:", "---\ndevice:"), Contains("c.yaml:6" + second));
  CHECK_THAT(errorOf("---\n" + complete + "---\n"), Contains("c.yaml:35" + second));
  CHECK(readText("%YAML 1.2\n# one\n---\n" + complete));
  // tabs
  CHECK(errorOf("  launch", "\tlaunch") == "c.yaml:13: cluster file: expected spaces as indentation, got a tab");
  CHECK(errorOf("  builder", "  \tbuilder") == "c.yaml:27: cluster file: expected spaces as indentation, got a tab");
  CHECK(readText(replaced(complete, "topology:", "# comment\n \t\ntopology:")));
  CHECK_THAT(errorOf(std::string("\x00\x01\x02\xff", 4)), Contains("cluster file"));
  CHECK_THAT(errorOf(complete.substr(0, complete.size() / 2)), Contains("expected")); // truncated
  CHECK_THAT(errorOf(std::string(20000, '[')), Contains("expected YAML"));            // too deep
  CHECK_THAT(errorOf("name: &a\n  x: *a\n"), Contains("expected"));                   // holds itself
  CHECK_THAT(errorOf(std::string((1 << 20) + 10, '#')), Contains("less than 1 MiB"));
  CHECK(readCluster("/no/such/file.yaml").error().text() ==
        "/no/such/file.yaml: cluster file: expected a readable file, got: No such file or directory");
  CHECK(readCluster("/tmp").error().text() == "/tmp: cluster file: expected a file, got a directory");
  Folder folder;
  std::string path = folder.write("secret.yaml", complete);
  ::chmod(path.c_str(), 0);
  if (::geteuid() != 0) // root may read anything
    CHECK_THAT(readCluster(path).error().text(), Contains("Permission denied"));
}

TEST_CASE("every prefix of a file is read or refused without a crash") {
  for (size_t length = 0; length < complete.size(); length += 7)
    (void)readText(complete.substr(0, length));
}

TEST_CASE("NCCL's bandwidth between hosts goes with the NICs: what a change of them leaves behind is named, with both "
          "places") {
  Folder folder;
  std::string base = std::string(BRAID_SOURCE_DIR) + "/cost_models/clusters/base/h100-roce.yaml";
  auto stale = [&](const std::string &keys) {
    std::string file = folder.write("mine.yaml", "base: " + base + "\nname: mine\nhosts: 3\ndevices_per_host: 4\n" +
                                                     keys + "topology: {builder: single_switch}\n");
    Result<Cluster> read = readCluster(file);
    REQUIRE(read);
    return read->staleNccl;
  };
  CHECK(stale("nics_per_host: 8\n").empty()); // what the base's bandwidth is for
  std::string fewer = stale("nics_per_host: 4\n");
  CHECK_THAT(fewer, Contains("h100.yaml:") && Contains("384 GB/s") && Contains("nics_per_host of ") &&
                        Contains("mine.yaml:5 ") && Contains("200 GB/s"));
  CHECK(stale("nics_per_host: 4\nnccl: {bus_bandwidth_inter: \"192 GB/s\"}\n").empty());
  CHECK_THAT(stale("nics_per_host: 16\n"), Contains("800 GB/s"));
  // A replaced value is another one, however near.
  CHECK_THAT(stale("nics_per_host: 8\ninter: {bandwidth: \"390 Gb/s\"}\n"), Contains("inter.bandwidth of "));
}

TEST_CASE("a wrong shape is one error with the line and the way out") {
  std::string hosts = "hosts: 4\ndevices_per_host: 2\nnics_per_host: 2\n";
  std::string alike = "; where hosts are alike, take the key out and set hosts, devices_per_host and nics_per_host";
  CHECK(errorOf(hosts, "host_groups: []\n") ==
        "c.yaml:2: host_groups: expected a list of mappings, got an empty list" + alike);
  CHECK(errorOf(hosts, "host_groups:\n") == "c.yaml:2: host_groups: expected a list of mappings, got nothing" + alike);
  CHECK_THAT(errorOf(hosts, "host_groups: [3]\n"),
             Contains("c.yaml:2: host_groups[0]: expected a mapping of keys, got \"3\""));
  CHECK(errorOf("device:\n", "device:\n  - a: b\nx:\n") == "c.yaml:6: device: expected a mapping of keys, got a list; "
                                                           "write \"key: value\", with neither dashes nor brackets");
  CHECK(errorOf("topology:\n  builder: single_switch", "topology:") ==
        "c.yaml:26: topology: expected a mapping of keys, got nothing; write its keys below it, indented by spaces");
  // base
  CHECK(errorOf("name: small", "base: [a, b]\nname: small") ==
        "c.yaml:1: base: expected the path of one file, got a list; a file has one base, which may have one itself");
  CHECK(errorOf("name: small", "name: small\nbase: {a: b}") ==
        "c.yaml:2: base: expected the path of a file, got a mapping");
  for (const char *nothing : {"base:", "base: ''", "base: '  '", "base: ~"})
    CHECK(errorOf("name: small", std::string(nothing) + "\nname: small") ==
          "c.yaml:1: base: expected the path of a file, got nothing; leave the key out where there is none");
  CHECK_THAT(errorOf("name: small", "base: a.yaml\nname: small\nbase: b.yaml"),
             Contains("c.yaml:3: base: expected once"));
  // An alias stands for what it names; mappings are not merged.
  std::string alias = replaced(complete, "latency: \"0.6 us\"", "latency: &l \"0.6 us\"");
  CHECK(readText(replaced(alias, "\"1.3 us\"", "*l"))->inter.latency.value == Approx(0.6e-6));
  CHECK_THAT(errorOf("\"1.3 us\"", "*l"),
             Contains("c.yaml:23: cluster file: expected YAML, got: the referenced anchor"));
  std::string merged = replaced(replaced(complete, "intra:\n", "intra: &i\n"), "inter:\n", "inter:\n  <<: *i\n");
  CHECK_THAT(errorOf(merged),
             Contains("c.yaml:21: inter.<<: expected no merge of mappings, got one; write the keys out") &&
                 Contains("base: FILE"));
}

TEST_CASE("a constant that no machine has is an error with the line and the range") {
  std::string bandwidth = "c.yaml:22: inter.bandwidth: expected a bandwidth from 1.00 kB/s to 1000000 TB/s, got \"";
  for (std::string wrong : {"1e-3 b/s", "7 kb/s", "1e30 b/s", "0 Gb/s", "-1 Gb/s", "-0 Gb/s", "nan Gb/s", "inf Gb/s",
                            "-inf Gb/s", "1e400 Gb/s", ".nan", ".inf", "-.inf"})
    CHECK(errorOf("\"200 Gb/s\"", "\"" + wrong + "\"") == bandwidth + wrong + "\"");
  for (std::string wrong : {"1e9 s", "11 s", "-1 us", "nan us", ".inf", "1e400 us"})
    CHECK(errorOf("\"1.3 us\"", "\"" + wrong + "\"") ==
          "c.yaml:23: inter.latency: expected a time from 0 s to 10.0 s, got \"" + wrong + "\"");
  for (std::string wrong : {"1 FLOP/s", "1e22 FLOP/s", "nan TFLOP/s", "-5 TFLOP/s"})
    CHECK(errorOf("\"100 TFLOP/s\"", "\"" + wrong + "\"") ==
          "c.yaml:8: device.peak.bf16: expected a rate from 1.00 kFLOP/s to 1000000 PFLOP/s, got \"" + wrong + "\"");
  for (std::string wrong : {".nan", "inf", "-1"})
    CHECK(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: " + wrong) ==
          "c.yaml:9: device.matmul_efficiency: expected a number from 0.001 to 1, got " + wrong);
  // What machines have, the slowest and the fastest of them.
  for (const char *right : {"9600 b/s", "1 kB/s", "21 TB/s", "1000000 TB/s"})
    CHECK(readText(replaced(complete, "\"200 Gb/s\"", std::string("\"") + right + "\"")));
  for (const char *right : {"0 us", "0.1 ns", "300 ms", "10 s"})
    CHECK(readText(replaced(complete, "\"1.3 us\"", std::string("\"") + right + "\"")));
}

TEST_CASE("a source that says nothing is an error with the line") {
  std::string expected = ": expected a sentence that says where the figures are from (source) or why they are taken "
                         "(assumption), got ";
  for (std::string blank : {"\"\"", "\"   \"", "\"-\"", "\"?\"", "\"...\"", "\"n/a\"", "\"N/A\"",
                            "\"TO"
                            "DO\"",
                            "\"to"
                            "do: look it up\"",
                            "\"TBD\"",
                            "\"FIX"
                            "ME\"",
                            "\"none\"", "\"unknown\"", "\"source\"", "\"12\"", "\"x\""}) {
    CHECK(errorOf("source: made up for a test", "source: " + blank) == "c.yaml:5: source" + expected + blank);
    CHECK(errorOf("launch: \"5 us\"", "launch: {value: \"5 us\", assumption: " + blank + "}") ==
          "c.yaml:13: device.launch.assumption" + expected + blank);
  }
  CHECK_THAT(errorOf("  launch", "  source: [a]\n  launch"),
             Contains("c.yaml:13: device.source" + expected + "a list"));
  CHECK(errorOf("source: made up for a test", "source:") == "c.yaml:5: source" + expected + "nothing");
  for (const char *good : {"NDR port", "n/a is what the vendor says", "a guess", "资料"})
    CHECK(readText(replaced(complete, "made up for a test", good)));
}
