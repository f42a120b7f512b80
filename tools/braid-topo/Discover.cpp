//===- Discover.cpp - braid-topo discover: this machine as a cluster file ---------------------------------------===//
//
// hwloc says how many cores this process may use; sysfs names network cards and their speed (verbs devices before plain
// Ethernet); NVML, where its library is, names GPUs.
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "Hwloc.h"
#include "Subcommands.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <hwloc.h>
#include <sstream>
#include <unistd.h>

namespace cl = llvm::cl;

namespace braid::topo {

using cost::Accelerator;
using cost::Machine;
using cost::NetworkCard;

//===- sysfs ----------------------------------------------------------------------------------------------------===//

static std::vector<std::string> entries(const std::string &folder) {
  std::vector<std::string> names;
  if (DIR *open = opendir(folder.c_str())) {
    while (dirent *entry = readdir(open))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    closedir(open);
  }
  std::sort(names.begin(), names.end());
  return names;
}

static std::string firstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Cards with verbs: "/sys/class/infiniband/mlx5_0/ports/1/{rate,link_layer,state}"; rate is like "400 Gb/sec (4X NDR)".
static void findVerbs(const std::string &sysfs, std::vector<NetworkCard> &cards) {
  std::string folder = sysfs + "/class/infiniband/";
  for (const std::string &device : entries(folder))
    for (const std::string &port : entries(folder + device + "/ports")) {
      std::string at = folder + device + "/ports/" + port + "/";
      if (firstLine(at + "state").find("ACTIVE") == std::string::npos)
        continue;
      NetworkCard card;
      card.name = device;
      card.kind = firstLine(at + "link_layer") == "InfiniBand" ? NetworkCard::InfiniBand : NetworkCard::Roce;
      card.bitsPerSecond = std::strtod(firstLine(at + "rate").c_str(), nullptr) * 1e9;
      cards.push_back(card);
    }
}

/// Real Ethernet cards have a device; speed is in Mb/s, -1 where it is not known (virtual cards).
static void findEthernet(const std::string &sysfs, std::vector<NetworkCard> &cards) {
  std::string folder = sysfs + "/class/net/";
  for (const std::string &name : entries(folder)) {
    if (access((folder + name + "/device").c_str(), F_OK) != 0)
      continue;
    NetworkCard card;
    card.name = name;
    card.bitsPerSecond = std::max(0.0, std::strtod(firstLine(folder + name + "/speed").c_str(), nullptr)) * 1e6;
    cards.push_back(card);
  }
}

//===- the processor --------------------------------------------------------------------------------------------===//

/// Numbers of NVML's C interface (nvml.h), which is loaded and not linked: there is none on most machines.
static void findGpus(Machine &machine) {
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return;
  using Device = void *;
  struct Memory {
    unsigned long long total, free, used;
  };
  auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  auto count = reinterpret_cast<int (*)(unsigned *)>(dlsym(library, "nvmlDeviceGetCount_v2"));
  auto handle = reinterpret_cast<int (*)(unsigned, Device *)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  auto name = reinterpret_cast<int (*)(Device, char *, unsigned)>(dlsym(library, "nvmlDeviceGetName"));
  auto memory = reinterpret_cast<int (*)(Device, Memory *)>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
  auto link = reinterpret_cast<int (*)(Device, unsigned, int *)>(dlsym(library, "nvmlDeviceGetNvLinkState"));
  unsigned devices = 0;
  if (init && count && handle && name && memory && init() == 0 && count(&devices) == 0)
    for (unsigned i = 0; i < devices; ++i) {
      Device device;
      char text[96] = "";
      Memory bytes{};
      if (handle(i, &device) != 0 || name(device, text, sizeof text) != 0)
        continue;
      Accelerator gpu;
      gpu.name = text;
      if (memory(device, &bytes) == 0)
        gpu.memory = int64_t(bytes.total);
      for (unsigned l = 0; l < 18 && link; ++l) {
        int active = 0;
        gpu.nvlinks += link(device, l, &active) == 0 && active;
      }
      machine.accelerators.push_back(gpu);
    }
  // The library stays loaded: it has threads and handlers of its own.
}

static void readHwloc(hwloc_topology_t topology, Machine &machine) {
  hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(topology);
  int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  for (int i = 0; i < cores; ++i)
    machine.cores +=
        hwloc_bitmap_intersects(hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, unsigned(i))->cpuset, allowed);
  if (cores == 0)
    machine.cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  machine.memory = int64_t(hwloc_get_root_obj(topology)->total_memory);
  if (hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0))
    if (const char *model = hwloc_obj_get_info_by_name(package, "CPUModel"))
      machine.cpu = model;
  if (const char *host = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "HostName"))
    machine.name = host;
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_osdev(topology, device)) && device->attr) {
    if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC && device->name &&
        std::strncmp(device->name, "cuda", 4) == 0) {
      Accelerator gpu;
      const char *model = hwloc_obj_get_info_by_name(device, "GPUModel");
      gpu.name = model ? model : device->name;
      if (const char *size = hwloc_obj_get_info_by_name(device, "CUDAGlobalMemorySize"))
        gpu.memory = int64_t(std::strtod(size, nullptr)) << 10;
      machine.accelerators.push_back(gpu);
    }
    if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS && device->name) {
      NetworkCard card;
      card.name = device->name;
      card.kind = NetworkCard::InfiniBand;
      machine.cards.push_back(card);
    }
  }
}

std::string readHwlocXml(const std::string &path, Machine &machine) {
  if (access(path.c_str(), R_OK) != 0)
    return path + ": expected a readable file, got: " + std::strerror(errno);
  hwloc_topology_t topology;
  hwloc_topology_init(&topology);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  bool good = hwloc_topology_set_xml(topology, path.c_str()) == 0 && hwloc_topology_load(topology) == 0;
  if (good)
    readHwloc(topology, machine);
  hwloc_topology_destroy(topology);
  machine.source = "read from hwloc's XML";
  return good ? "" : path + ": expected XML of hwloc (lstopo --of xml), got something else";
}

static void readCpuInfo(Machine &machine) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.compare(0, 7, "cpu MHz") == 0)
      machine.clockHz = std::strtod(line.c_str() + line.find(':') + 1, nullptr) * 1e6;
    if (line.compare(0, 5, "flags") == 0)
      machine.vectorBits = line.find(" avx512f") != std::string::npos ? 512
                           : line.find(" avx2") != std::string::npos  ? 256
                                                                      : 128;
  }
}

/// The best of ten copies of 64 MiB: others may be at work, and the first one makes pages.
static double measureCopy() {
  std::vector<char> from(64 << 20, 1), to(64 << 20);
  std::vector<double> rates;
  for (int i = 0; i < 10; ++i) {
    auto begin = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), to.size());
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    from[i] = to[to.size() - 1 - i]; // the copy is used
    rates.push_back(double(to.size()) / taken.count());
  }
  return *std::max_element(rates.begin(), rates.end());
}

/// The machine that this process runs on; `sysfs` is "/sys", or a recorded tree. An error text, or empty.
static std::string discover(const std::string &sysfs, bool measure, Machine &machine) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0)
    return std::string("hwloc: expected this machine's topology, got: ") + std::strerror(errno);
  readHwloc(topology, machine);
  hwloc_topology_destroy(topology);
  machine.cards.clear(); // sysfs knows their speed too
  findVerbs(sysfs, machine.cards);
  findEthernet(sysfs, machine.cards);
  if (machine.accelerators.empty())
    findGpus(machine);
  readCpuInfo(machine);
  if (measure)
    machine.copyRate = measureCopy();
  char host[256] = "machine";
  gethostname(host, sizeof host - 1);
  machine.name = host;
  machine.source = "found on " + machine.name + " by hwloc, sysfs and NVML";
  return {};
}

int runDiscover(int argc, char **argv) {
  cl::OptionCategory category("braid-topo discover");
  cl::opt<std::string> output("o", cl::init("-"), cl::desc("file to write; default: standard output"),
                              cl::cat(category));
  cl::opt<std::string> sysfs("sysfs", cl::init("/sys"), cl::desc("a recorded tree in the place of /sys; default: /sys"),
                             cl::cat(category));
  cl::opt<int> hosts("hosts", cl::init(1), cl::desc("equal hosts in the cluster; default: 1"), cl::cat(category));
  cl::opt<bool> measure("measure", cl::init(true), cl::desc("measure the rate of copies (0.1 s); default: on"),
                        cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "this machine as a cluster file\n");
  if (hosts < 1 || hosts > 1 << 17)
    return fail("--hosts: expected 1 to 131072, got " + std::to_string(hosts));
  if (access(sysfs.c_str(), R_OK) != 0)
    return fail("--sysfs: expected a readable folder, got " + sysfs + ": " + std::strerror(errno));
  if (std::string error = command::checkOutputs({{"-o", output}}); !error.empty())
    return fail(error);
  Machine machine;
  if (std::string error = discover(sysfs, measure, machine); !error.empty())
    return fail(error);
  return write(output, cost::clusterFile(machine, hosts));
}

} // namespace braid::topo
