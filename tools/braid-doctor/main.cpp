//===- main.cpp - braid-doctor: checks how a host's fabric is set up ---------------------------------------------------===//
#include "../command/Arguments.h"
#include "../command/Command.h"
#include "Checks.h"
#include "Report.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <sstream>

using namespace braid;

static const char *const usage = R"(usage: braid-doctor [--cluster FILE] [options]

Looks at how this host is set up for RoCE or InfiniBand, from /sys, /proc, ibv_devinfo, dcb and limits, and says of each
finding what it costs by the model of the cluster, and what mends it: state and rate of ports, addresses (GIDs), MTU, traffic
class with PFC and ECN, PCIe slots, ACS, IOMMU, GPUDirect, locked memory, queue pairs, counters of losses.

  --cluster FILE    cluster file that the host is to be a part of: its rates are expected, and findings are priced on it;
                    default: 16 hosts of 8 H100 on the fabric that the ports have
  --devices LIST    ports that the job uses, as NCCL_IB_HCA names them: mlx5_0,mlx5_1:1; =EXACT; ^ALL_BUT (default: that
                    variable, else all)
  --all             show what is as it should be, too; default: how many
  --json            findings as JSON; default: text
  -o FILE           write the report to a file; default: standard output
  --record DIR      keep all that was read, to be looked at elsewhere: it has addresses and names of this host;
                    default: nothing is kept
  --since DIR       counters of losses, retries, congestion and pauses since such a record was made, of a run between: with
                    --all also those that did not grow; default: since the start of the host
  --root DIR        look at such a record, or at a copy of a host's /sys and /proc; default: this host

Exit status: 0 no problem was found, 1 some were, 2 for a wrong command line or files that can't be read or written.
)";

static int fail(const std::string &message) {
  std::fprintf(stderr, "braid-doctor: error: %s\n", message.c_str());
  return 2;
}

/// The cluster files lie beside the program in the build and where it is installed.
static std::string defaultCluster(bool ethernet) {
  std::string name = ethernet ? "h100-roce-16x8.yaml" : "h100-ib-ndr-16x8.yaml";
  std::error_code failed;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  std::filesystem::path installed = program / "../share/braid/clusters" / name;
  return std::filesystem::exists(installed, failed) ? installed.string() : BRAID_CLUSTERS "/" + name;
}

static std::string hostName(doctor::Tree &tree) {
  std::string name = tree.read("/proc/sys/kernel/hostname").value_or("");
  return (name.empty() ? "a host" : "host " + name) + ", Linux " +
         tree.read("/proc/sys/kernel/osrelease").value_or("unknown");
}

static int run(int argc, char **argv) {
  std::string cluster, devices, root, record, since, output = "-";
  bool all = false, json = false;
  command::Arguments arguments = command::readArguments(
      argc, argv,
      {command::textOption("cluster", cluster), command::textOption("devices", devices),
       command::textOption("root", root), command::textOption("record", record), command::textOption("since", since),
       command::textOption("o", output), command::flagOption("all", all), command::flagOption("json", json)});
  if (arguments.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (!arguments.error.empty() || !arguments.words.empty())
    return fail(arguments.error.empty() ? "expected options only, got '" + arguments.words[0] + "'" : arguments.error);
  std::error_code failed;
  if (!root.empty() && !std::filesystem::is_directory(root, failed))
    return fail("--root: expected a folder, got '" + root + "'");
  if (!since.empty() && !std::filesystem::is_directory(since, failed))
    return fail("--since: expected a folder that --record has made, got '" + since + "'");
  if (!record.empty() && std::filesystem::exists(record, failed))
    return fail("--record: expected a folder that is yet to be made, got '" + record + "'");
  if (std::string wrong = command::checkOutputs({{"-o", output}}, {{"--cluster", cluster}}); !wrong.empty())
    return fail(wrong);

  doctor::Tree tree(root, record);
  std::string only = devices.empty() ? doctor::namedPorts(tree) : devices;
  std::vector<doctor::Port> ports = doctor::readPorts(tree, only);
  bool ethernet = false;
  for (const doctor::Port &port : ports)
    ethernet |= port.ethernet;
  cost::Result<cost::Cluster> read = cost::readCluster(cluster.empty() ? defaultCluster(ethernet) : cluster);
  if (!read)
    return fail("--cluster: " + read.error().text());

  std::vector<doctor::Finding> findings;
  std::vector<doctor::Port> others;
  auto isOther = [](const doctor::Port &port) { return !port.ethernet && port.linkLayer != "InfiniBand"; };
  std::copy_if(ports.begin(), ports.end(), std::back_inserter(others), isOther);
  ports.erase(std::remove_if(ports.begin(), ports.end(), isOther), ports.end());
  doctor::Tree before(since, "");
  doctor::Patient patient{tree, ports, *read, !cluster.empty(), findings, since.empty() ? nullptr : &before};
  for (const doctor::Port &port : others)
    patient.add(doctor::Level::NotChecked, "link layer", port.name(), port.linkLayer, "InfiniBand or Ethernet",
                "see the library that reaches it (for EFA: aws-ofi-nccl, libfabric)");
  if (ports.empty() && others.empty()) {
    bool named = !only.empty() && !doctor::readPorts(tree, "").empty();
    patient.add(doctor::Level::Problem, "devices", "host",
                named ? "none of its RDMA devices is named by '" + only + "'"
                      : "no RDMA devices in /sys/class/infiniband",
                "one or more",
                named ? "--devices or NCCL_IB_HCA: names as ls /sys/class/infiniband shows them"
                      : "load the driver of the NIC (mlx5_ib, bnxt_re, irdma, ...); lspci shows whether there is one");
  }
  if (!ports.empty() && !only.empty() && only[0] != '^') // a name of nothing, beside others
    for (auto [names, name] = std::pair(std::istringstream(only.substr(only[0] == '=')), std::string());
         std::getline(names, name, ',');)
      if (doctor::readPorts(tree, (only[0] == '=' ? "=" : "") + name).empty())
        patient.add(doctor::Level::Problem, "devices", "host", "no RDMA device or port is named '" + name + "'",
                    "all names of '" + only + "'",
                    "--devices or NCCL_IB_HCA: names as ls /sys/class/infiniband shows them");
  for (auto check : {doctor::checkPorts, doctor::checkGids, doctor::checkMtu, doctor::checkLossless, doctor::checkPci,
                     doctor::checkTranslation, doctor::checkGpuDirect, doctor::checkLockedMemory,
                     doctor::checkQueuePairs, doctor::checkManager, doctor::checkCounters})
    check(patient);
  if (patient.ports.empty())
    for (const char *check : {"state", "rate", "firmware", "gid", "mtu", "lossless", "pcie", "acs", "iommu",
                              "gpudirect", "qps", "counters"})
      if (std::none_of(findings.begin(), findings.end(), [&](const doctor::Finding &f) { return f.check == check; }))
        patient.add(doctor::Level::NotChecked, check, "host", "no port of InfiniBand or RoCE to look at");

  doctor::Heading heading{hostName(tree), *read, !cluster.empty(), all};
  std::string report = json ? doctor::jsonReport(heading, findings) : doctor::textReport(heading, findings);
  if (!tree.recordError().empty())
    return fail("--record: " + tree.recordError());
  if (output == "-")
    std::fputs(report.c_str(), stdout);
  else if (std::string wrong = command::writeFile(output, report); !wrong.empty())
    return fail(wrong);
  bool problems = false;
  for (const doctor::Finding &finding : findings)
    problems |= finding.level == doctor::Level::Problem;
  return problems ? 1 : 0;
}

int main(int argc, char **argv) {
  command::Tool tool("braid-doctor");
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::puts(command::versionOf("braid-doctor").c_str());
    return tool.finish(0);
  }
  return tool.finish(run(argc, argv));
}
