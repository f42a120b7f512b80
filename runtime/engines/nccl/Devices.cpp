//===- Devices.cpp - which rank has which device --------------------------------------------------------------------===//
#include "engines/nccl/Devices.h"
#include "bootstrap/Wire.h"
#include "transports/cuda/Driver.h"
#include <cstdio>
#include <map>

namespace braid::runtime::nccl {

namespace {

/// "GPU-12345678-1234-...", as nvidia-smi -L has it.
std::string uuidText(const std::string &uuid) {
  std::string text = "GPU-";
  for (size_t i = 0; i < uuid.size(); ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(uuid[i]));
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(two);
  }
  return text;
}

} // namespace

std::string RankDevices::encode() const {
  std::string text;
  Writer writer(text);
  writer.string(host.encode()).u64(uint64_t(current + 1)).u64(devices.size());
  for (const std::string &each : devices)
    writer.string(each);
  return text;
}

bool RankDevices::decode(const std::string &text, RankDevices &rank) {
  Reader reader(text);
  bool whole = HostIdentity::decode(reader.string(), rank.host);
  rank.current = int(reader.u64()) - 1;
  uint64_t count = reader.u64();
  rank.devices.clear();
  for (uint64_t i = 0; i < count && i < text.size(); ++i)
    rank.devices.push_back(reader.string());
  return whole && reader.complete() && rank.current < int(rank.devices.size());
}

Outcome seeDevices(RankDevices &mine) {
  Outcome done;
  const cuda::Driver *driver = cuda::Driver::find(done);
  if (!driver)
    return done;
  mine.host = thisHost();
  int count = 0;
  done = driver->check(driver->cuDeviceGetCount(&count), "the number of devices");
  for (int ordinal = 0; ordinal < count && done; ++ordinal) {
    cuda::Device device = 0;
    cuda::DeviceUuid uuid = {};
    done = driver->check(driver->cuDeviceGet(&device, ordinal), "device " + std::to_string(ordinal));
    if (done)
      done = driver->check(driver->cuDeviceGetUuid_v2(&uuid, device), "the UUID of device " + std::to_string(ordinal));
    mine.devices.emplace_back(uuid.bytes, sizeof uuid.bytes);
  }
  cuda::Context context = nullptr;
  cuda::Device device = 0;
  if (done && driver->cuCtxGetCurrent(&context) == cuda::success && context &&
      driver->cuCtxGetDevice(&device) == cuda::success)
    mine.current = device; // a CUdevice is its number
  return done;
}

Outcome assignDevices(const std::vector<RankDevices> &ranks, const std::vector<int> &names, std::vector<int> &devices) {
  auto named = [&](size_t rank) {
    return "rank " + std::to_string(names[rank]) + " (on " + ranks[rank].host.host + ")";
  };
  devices.clear();
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankDevices &mine = ranks[rank];
    int place = 0; // among the ranks of this host that see these devices
    for (size_t before = 0; before < rank; ++before)
      place += ranks[before].host.sameAs(mine.host) && ranks[before].devices == mine.devices;
    devices.push_back(mine.current >= 0 ? mine.current : place);
    if (mine.current < 0 && place >= int(mine.devices.size()))
      return {BRAID_INVALID, "expected a device for each rank of a host, got " + std::to_string(mine.devices.size()) +
                                 " for " + named(rank) + ", which is number " + std::to_string(place) +
                                 " of those that see them; start fewer ranks there, or make a context current first"};
  }
  std::map<std::string, size_t> taken;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::string &uuid = ranks[rank].devices[size_t(devices[rank])];
    auto [other, fresh] = taken.emplace(uuid, rank);
    if (!fresh)
      return {BRAID_INVALID, "expected a device of its own for each rank, got " + uuidText(uuid) + " for " +
                                 named(other->second) + " and " + named(rank) +
                                 "; give each rank another (CUDA_VISIBLE_DEVICES, or the context that is current)"};
  }
  return {};
}

} // namespace braid::runtime::nccl
