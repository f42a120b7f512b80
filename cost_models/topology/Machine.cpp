//===- Machine.cpp - a cluster file of what was found -----------------------------------------------------------===//
#include "braid/cost_models/Machine.h"
#include <algorithm>
#include <cstdio>

namespace braid::cost {

namespace {

/// Data sheet figures, per device and dense; bandwidths per direction.
struct Known {
  const char *part; ///< of the name
  const char *peaks;
  double memoryBandwidth; ///< bytes/s
  double nvlink;          ///< bytes/s, each direction
  const char *architecture;
  const char *source;
};
// source: the last field of each row
const Known knownDevices[] = {
    {"H200", "bf16: \"989 TFLOP/s\", f16: \"989 TFLOP/s\", tf32: \"495 TFLOP/s\", f32: \"67 TFLOP/s\"", 4.8e12, 450e9,
     "hopper", "NVIDIA H200 data sheet"},
    {"H100", "bf16: \"989 TFLOP/s\", f16: \"989 TFLOP/s\", tf32: \"495 TFLOP/s\", f32: \"67 TFLOP/s\"", 3.35e12, 450e9,
     "hopper", "NVIDIA H100 data sheet (SXM)"},
    {"A100", "bf16: \"312 TFLOP/s\", f16: \"312 TFLOP/s\", tf32: \"156 TFLOP/s\", f32: \"19.5 TFLOP/s\"", 2.039e12,
     300e9, "ampere", "NVIDIA A100 data sheet (SXM, 80 GB)"},
    {"V100", "f16: \"125 TFLOP/s\", f32: \"15.7 TFLOP/s\"", 0.9e12, 150e9, "volta", "NVIDIA V100 data sheet (SXM2)"},
};

// assumption: an accelerator of some years ago; what is written says that the rate is not known
constexpr double unknownMemory = 500e9; ///< bytes/s
// assumption: one core of some years ago, by its clock and by what it copies; what is written says that it was not measured
constexpr double unknownClock = 2e9, unknownCopy = 5e9; ///< Hz, bytes/s
// assumption: 10 Gb/s Ethernet; what is written says that no speed was found
constexpr double unknownCard = 10e9; ///< bits/s
// assumption: streaming kernels reach this of the memory's bandwidth, NCCL this of NVLink's (360 of 450 GB/s in the files that ship)
constexpr double memoryEfficiency = 0.8, nvlinkEfficiency = 0.8;
// assumption: what NCCL reaches of the network cards' rate
constexpr double cardEfficiency = 0.9;
constexpr double bitsPerByte = 8; // setting: a unit

const Known *find(const std::string &name) {
  for (const Known &known : knownDevices)
    if (name.find(known.part) != std::string::npos)
      return &known;
  return nullptr;
}

std::string text(const char *format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// As a quoted YAML scalar.
std::string quoted(const std::string &words) {
  std::string out = "\"";
  for (char c : words)
    out += c == '"' || c == '\\' ? std::string("\\") + c : (unsigned char)c < 0x20 ? " " : std::string(1, c);
  return out + "\"";
}

std::string stated(const std::string &value, bool known, const std::string &why) {
  return "{value: " + value + ", " + (known ? "source: " : "assumption: ") + quoted(why) + "}";
}

std::string gpuDevice(const Machine &m) {
  const Accelerator &gpu = m.accelerators[0];
  const Known *known = find(gpu.name);
  std::string out = "device:\n  name: " + quoted(gpu.name) + "\n";
  out += known ? std::string("  source: ") + quoted(known->source) + "\n"
               : "  assumption: the rates of this device are not known to braid-topo; write those of its data sheet\n";
  out += "  peak: {" + std::string(known ? known->peaks : "f32: \"10 TFLOP/s\"") + "}\n";
  out += "  matmul_efficiency: {value: 0.5, assumption: large matmuls reach half of the peak}\n";
  out += "  memory_bandwidth: \"" + text("%g GB/s", (known ? known->memoryBandwidth : unknownMemory) / 1e9) + "\"\n";
  out += "  memory_efficiency: {value: 0.8, assumption: streaming kernels}\n";
  out += "  memory: " +
         (gpu.memory ? stated(text("\"%.0f MiB\"", double(gpu.memory >> 20)), true, m.source)
                     : stated("\"16 GiB\"", false, "not found")) +
         "\n";
  out += "  launch: {value: \"5 us\", assumption: one kernel launch}\n";
  double rate = (known ? known->memoryBandwidth : unknownMemory) * memoryEfficiency / 3;
  out += "  reduction: " +
         stated(text("\"%g GB/s\"", std::max(1.0, double(int64_t(rate / 1e9)))), false,
                "two operands read and one written at 80 % of the memory bandwidth") +
         "\n\n";
  double nvlink = known && gpu.nvlinks > 0 ? known->nvlink : 0;
  out += "intra:\n  name: " + std::string(nvlink > 0 ? "nvlink" : "pcie") + "\n  bandwidth: " +
         (nvlink > 0 ? stated(text("\"%g GB/s\"", nvlink / 1e9), true, known->source)
                     : stated("\"25 GB/s\"", false, "PCIe 4.0 x16, as no NVLink was found")) +
         "\n  latency: " + stated(nvlink > 0 ? "\"0.6 us\"" : "\"1 us\"", false, "not measured") +
         "\n  profile: {fabric: " + (nvlink > 0 ? "nvlink" : "pcie") + "}\n\n";
  return out;
}

std::string cpuDevice(const Machine &m) {
  // Two fused multiply-adds per cycle on vectors of this width, 2 flops each.
  double clock = m.clockHz > 0 ? m.clockHz : unknownClock, peak = clock * 2 * 2 * m.vectorBits / 32;
  double copy = m.copyRate > 0 ? m.copyRate : unknownCopy;
  std::string measured =
      m.copyRate > 0 ? "one core copied 64 MiB at half of this, reads and writes counted" : "not measured";
  std::string out = "device: # one core\n  name: " + quoted(m.cpu.empty() ? "core" : m.cpu) + "\n";
  out += "  peak: {f32: " +
         stated(text("\"%.0f GFLOP/s\"", peak / 1e9), false,
                "two multiply-adds per cycle of " + std::to_string(m.vectorBits) + " bits at " +
                    text("%.2f GHz", clock / 1e9) + (m.clockHz > 0 ? "" : ", a guess")) +
         "}\n";
  out += "  matmul_efficiency: {value: 0.5, assumption: large matmuls reach half of the peak}\n";
  out += "  memory_bandwidth: " + stated(text("\"%.1f GB/s\"", 2 * copy / 1e9), m.copyRate > 0, measured) + "\n";
  out += "  memory_efficiency: {value: 1, assumption: the bandwidth is that of a copy}\n";
  int64_t share = m.memory / std::max(1, m.cores);
  out += "  memory: " +
         (share ? stated(text("\"%.0f MiB\"", double(share >> 20)), true, m.source + "; an equal share")
                : stated("\"1 GiB\"", false, "not found")) +
         "\n";
  out += "  launch: {value: \"0 us\", assumption: a call costs nothing}\n";
  out += "  reduction: " +
         stated(text("\"%.1f GB/s\"", 2 * copy / 3 / 1e9), false,
                "two operands read and one written at the memory's bandwidth") +
         "\n\n";
  out += "intra:\n  name: shared memory\n  bandwidth: " +
         stated(text("\"%.1f GB/s\"", copy / 1e9), m.copyRate > 0, measured) +
         "\n  latency: {value: \"0.2 us\", assumption: a cache line between cores}\n  profile: {fabric: quiet}\n\n";
  return out;
}

} // namespace

std::string clusterFile(const Machine &m, int hosts) {
  bool gpus = !m.accelerators.empty();
  int devices = gpus ? int(m.accelerators.size()) : std::max(1, m.cores);
  const NetworkCard *best = nullptr; // the kind that the most capable card is
  for (const NetworkCard &card : m.cards)
    if (!best || card.kind > best->kind || (card.kind == best->kind && card.bitsPerSecond > best->bitsPerSecond))
      best = &card;
  int cards = 0;
  for (const NetworkCard &card : m.cards)
    cards += card.kind == best->kind && card.bitsPerSecond == best->bitsPerSecond;
  std::string out = "# Written by braid-topo; " + m.source + ".\n";
  for (const Accelerator &gpu : m.accelerators)
    if (gpu.name != m.accelerators[0].name)
      out += "# Not all accelerators are alike (" + gpu.name + "); this file says that they are.\n";
  out += "name: " + quoted(m.name.empty() ? "machine" : m.name) + "\nhosts: " + std::to_string(hosts) +
         "\ndevices_per_host: " + std::to_string(devices) +
         "\nnics_per_host: " + std::to_string(std::max(hosts > 1, cards > 0) ? std::max(1, cards) : 0) + "\n\n";
  out += gpus ? gpuDevice(m) : cpuDevice(m);
  bool rdma = best && best->kind != NetworkCard::Ethernet;
  bool rate = best && best->bitsPerSecond > 0;
  out += "inter:\n  name: " + quoted(best ? best->name : "none") + "\n  bandwidth: " +
         stated(text("\"%g Gb/s\"", (rate ? best->bitsPerSecond : unknownCard) / 1e9), rate,
                rate   ? m.source
                : best ? "the card does not tell its speed"
                       : "no network card found") +
         "\n  latency: " + stated(rdma ? "\"2 us\"" : "\"20 us\"", false, "not measured; braid-bench probe does") +
         "\n  profile: {fabric: " + (best && best->kind == NetworkCard::InfiniBand ? "infiniband" : "roce") + "}\n\n";
  const Known *known = gpus ? find(m.accelerators[0].name) : nullptr;
  std::string bus = text("\"%g GB/s\"", std::max(1.0, (rate ? best->bitsPerSecond : unknownCard) / bitsPerByte / 1e9 *
                                                          std::max(1, cards) * cardEfficiency));
  out += "topology:\n  builder: single_switch\n\nnccl:\n  bus_bandwidth_intra: " +
         stated(known && m.accelerators[0].nvlinks ? text("\"%g GB/s\"", known->nvlink * nvlinkEfficiency / 1e9)
                                                   : "\"12 GB/s\"",
                false, "not measured") +
         "\n  bus_bandwidth_inter: " + stated(bus, false, "90 % of the network cards' rate; not measured") +
         "\n  architecture: " + (known ? known->architecture : "ampere") + "\n  cpu: " +
         stated(m.cpu.find("AMD") != std::string::npos     ? "amd"
                : m.cpu.find("Intel") != std::string::npos ? "intel"
                                                           : "other",
                !m.cpu.empty(), m.cpu.empty() ? "not found" : m.source) +
         "\n  channels: " + stated("16", false, "not measured") + "\n";
  return out;
}

} // namespace braid::cost
