//===- CheckMemory.cpp - how NICs reach memory: IOMMU, GPUDirect, locked pages -----------------------------------------===//
#include "Checks.h"
#include "transports/cuda/DeviceWords.h"
#include <cstdlib>
#include <set>

namespace braid::doctor {

std::vector<std::string> findGpus(Tree &tree) {
  std::vector<std::string> gpus;
  for (const std::string &device : tree.list("/sys/bus/pci/devices")) {
    std::string folder = "/sys/bus/pci/devices/" + device + "/";
    if (tree.read(folder + "vendor").value_or("") == "0x10de" &&
        tree.read(folder + "class").value_or("").rfind("0x0302", 0) == 0) // 3D controller
      gpus.push_back(device);
  }
  return gpus;
}

void checkTranslation(const Patient &patient) {
  std::string commandLine = patient.tree.read("/proc/cmdline").value_or("");
  for (const Port &port : patient.ports) {
    if (port.pci.empty())
      continue;
    std::optional<std::string> type = patient.tree.read("/sys/bus/pci/devices/" + port.pci + "/iommu_group/type");
    if (!type)
      patient.add(Level::Ok, "iommu", port.name(), "not behind an IOMMU");
    else if (*type == "identity")
      patient.add(Level::Ok, "iommu", port.name(), "addresses pass as they are");
    else
      patient.add(
          Level::Problem, "iommu", port.name(), "each address is translated (" + *type + ")", "identity",
          commandLine.find("iommu=pt") == std::string::npos
              ? "boot with iommu=pt (not in hosts of virtual machines)"
              : "iommu=pt is given, and yet it is: iommu.passthrough=1, or the firmware's setting",
          {178.3 / 358, {}, "busbw of 2 x 8 H100 before and after ACS and IOMMU were mended together, nccl#2409"});
  }
}

void checkGpuDirect(const Patient &patient) {
  std::vector<std::string> gpus = findGpus(patient.tree);
  int expected = patient.cluster.devicesPerHost;
  if (patient.clusterGiven && int(gpus.size()) < expected && (!gpus.empty() || patient.cluster.intra.name == "nvlink"))
    patient.add(Level::Problem, "number", "host", std::to_string(gpus.size()) + " GPUs of NVIDIA",
                std::to_string(expected) + " (devices_per_host of " + patient.cluster.name + ")",
                "lspci, nvidia-smi and dmesg (Xid 79) tell of GPUs that have fallen off the bus");
  if (gpus.empty() || patient.ports.empty()) {
    if (gpus.empty()) // else main says that there is no port to look at
      patient.add(patient.clusterGiven && expected > 0 && patient.cluster.intra.name == "nvlink" ? Level::NotChecked
                                                                                                 : Level::Ok,
                  "gpudirect", "host", "no GPUs of NVIDIA");
    return;
  }
  std::string driver = patient.tree.read("/proc/driver/nvidia/version").value_or("");
  std::string kernel = patient.tree.read("/proc/sys/kernel/osrelease").value_or("");
  int major = std::atoi(kernel.c_str()), minor = 0;
  if (size_t dot = kernel.find('.'); dot != std::string::npos)
    minor = std::atoi(kernel.c_str() + dot + 1);
  auto knob = [&](const std::string &name) {
    std::optional<std::string> own = patient.tree.variable("BRAID_" + name);
    return own && !own->empty() ? *own : patient.tree.variable("NCCL_" + name).value_or("");
  };
  bool asked = knob("DMABUF_ENABLE") != "0";
  bool dmaBuf =
      asked && driver.find("Open Kernel Module") != std::string::npos && (major > 5 || (major == 5 && minor >= 12));
  std::string how = std::to_string(gpus.size()) + " GPUs, ";
  // As the transport does it, in this order and in its words.
  if (std::string level = knob("NET_GDR_LEVEL"); level == "LOC" || level == "0")
    patient.add(Level::Warning, "gpudirect", "host",
                how + runtime::cuda::stagedInstead + ": NCCL_NET_GDR_LEVEL=" + level,
                "NICs that read and write GPUs' memory", "unset it, or BRAID_NET_GDR_LEVEL=SYS",
                {72.1 / 178.3, {}, "busbw of 2 x 8 H100 with NCCL_NET_GDR_LEVEL=0 and without, nccl#2409"});
  else if (dmaBuf)
    patient.add(Level::Ok, "gpudirect", "host",
                how + runtime::cuda::byDmaBuf + ": open kernel modules on Linux " + kernel);
  else if (!patient.tree.list("/sys/module/nvidia_peermem").empty())
    patient.add(Level::Ok, "gpudirect", "host",
                how + runtime::cuda::byPeerMemory + " (no " + runtime::cuda::byDmaBuf +
                    (asked ? ")" : ": it is turned off (NCCL_DMABUF_ENABLE))"));
  else
    patient.add(Level::Problem, "gpudirect", "host",
                how + (driver.empty() ? "no driver" : runtime::cuda::byNeither) +
                    (asked ? "" : " (it is turned off (NCCL_DMABUF_ENABLE))") + ", Linux " +
                    (kernel.empty() ? "unknown" : kernel),
                "NICs that read and write GPUs' memory",
                driver.empty() ? "install NVIDIA's driver"
                               : "modprobe nvidia_peermem; or the driver's open kernel modules and Linux 5.12 or later",
                {72.1 / 178.3, {}, "busbw of 2 x 8 H100 with NCCL_NET_GDR_LEVEL=0 and without, nccl#2409"});
}

void checkLockedMemory(const Patient &patient) {
  std::string limits = patient.tree.read("/proc/self/limits").value_or("");
  std::string limit = valueOf(limits, "Max locked memory");
  limit = limit.substr(0, limit.find(' '));
  std::string capabilities = valueOf(patient.tree.read("/proc/self/status").value_or(""), "CapEff");
  constexpr int lockCapability = 14; // CAP_IPC_LOCK of capabilities(7)
  bool above = std::strtoull(capabilities.c_str(), nullptr, 16) >> lockCapability & 1;
  if (limit.empty()) {
    patient.add(Level::NotChecked, "memlock", "limits", "no row in /proc/self/limits", "Max locked memory");
  } else if (limit == "unlimited" || above) {
    patient.add(Level::Ok, "memlock", "limits", limit == "unlimited" ? limit : "this user may lock all (CAP_IPC_LOCK)");
  } else {
    long long bytes = std::atoll(limit.c_str());
    constexpr long long buffersOfAJob = 64 << 20; // NCCL has 4 MiB for each channel and peer
    patient.add(
        bytes < buffersOfAJob ? Level::Problem : Level::Warning, "memlock", "limits",
        cost::toString(cost::Bytes{bytes}) + " may be locked", "unlimited",
        "ulimit -l unlimited; for good in /etc/security/limits.conf (memlock), systemd's LimitMEMLOCK=infinity, "
        "docker run --ulimit memlock=-1");
    patient.findings.back().unpriced = "a buffer beyond it can't be registered, and the job ends";
  }
}

} // namespace braid::doctor
