//===- Direct.cpp - whether a host's devices read each other's memory ------------------------------------------------===//
#include "core/Direct.h"
#include "transports/cuda/Current.h"
#include <cstring>

namespace braid::runtime {

using cuda::Current;

const char *whyNot(Directness said) {
  switch (said) {
  case Directness::Can:
    return "";
  case Directness::Disabled:
    return "its environment turns it off";
  case Directness::OtherDevice:
    return "its buffers are of several devices, or of another than those before";
  case Directness::NoHandle:
    return "its buffers can't be opened by other processes, as those of cuMemAlloc can";
  case Directness::NoKernels:
    return "it has no kernels";
  case Directness::Unaligned:
    return "its buffers are not aligned to their elements, as kernels want them";
  default:
    return "its buffers are of the host";
  }
}

Outcome readPeerLevel(const std::function<const char *(const char *)> &variable, PeerLevel &level) {
  auto read = [&](const char *name, std::string &which) -> std::string {
    for (const char *prefix : {"BRAID_", "NCCL_"}) {
      which = std::string(prefix) + name;
      if (const char *value = variable(which.c_str()); value && *value)
        return value;
    }
    return "";
  };
  std::string which, disable = read("P2P_DISABLE", which);
  if (disable != "" && disable != "0" && disable != "1")
    return {BRAID_INVALID, which + ": expected 0 or 1, got '" + disable + "'"};
  level = {};
  if (disable == "1")
    level = {true, false, which + "=1"};
  const std::string given = read("P2P_LEVEL", which);
  std::string named = given; // NCCL's documentation: its numbers of old
  for (auto [number, name] : {std::pair("0", "LOC"), std::pair("1", "PIX"), std::pair("2", "PXB"),
                              std::pair("3", "PHB"), std::pair("4", "SYS"), std::pair("5", "SYS")})
    if (given == number)
      named = name;
  if (named == "LOC" && !level.off)
    level = {true, false, which + "=" + given};
  else if (named == "NVL" || named == "PIX" || named == "PXB" || named == "PHB")
    level.onlyNvlink = true;
  else if (named != "" && named != "LOC" && named != "SYS")
    return {BRAID_INVALID,
            which + ": expected LOC, NVL, PIX, PXB, PHB, SYS, or a number from 0 to 5, got '" + given + "'"};
  const char *blocks = variable("BRAID_CUDA_BLOCKS"); // which Kernels.cpp takes
  const std::string count = blocks ? blocks : "";
  constexpr size_t digits = 5; // setting: of the largest number that is taken
  if (count != "" && (count.size() > digits || count[0] == '0' || count.find_first_not_of("0123456789") != count.npos))
    return {BRAID_INVALID, "BRAID_CUDA_BLOCKS: expected a number from 1 to 99999, got '" + count + "'"};
  return {};
}

Outcome Direct::make(const cuda::Driver &driver, cuda::Context context, const PeerLevel &level, Transport &inner,
                     int me, int ranks, int lane, std::unique_ptr<Direct> &direct) {
  std::unique_ptr<Direct> made(new Direct(driver, context, level, inner, me, ranks, lane));
  Outcome prepared = made->prepare();
  if (prepared)
    direct = std::move(made);
  return prepared;
}

Outcome Direct::prepare() {
  if (level.off)
    return {};
  Current current(driver, its);
  Outcome done = current.outcome();
  if (done)
    done = driver.check(driver.cuCtxGetDevice(&device), "the device of a context");
  if (done)
    done = driver.check(driver.cuDeviceGetUuid_v2(&mine[0].device, device), "the number of a device");
  if (done && !(some = messages.allocate(sizeof(Note))))
    done = {BRAID_OUT_OF_MEMORY, "no memory of the device"};
  if (done)
    if (Outcome opened = cuda::Kernels::open(driver, ownKernels); !opened)
      noKernels = opened.text;
  return done;
}

Direct::~Direct() {
  if (some)
    messages.release(some);
}

Directness Direct::look(const Request &request, cuda::Context context, std::string &why) {
  if (level.off)
    return why = level.why, Directness::Disabled;
  if (its != context)
    return why = whyNot(Directness::OtherDevice), Directness::OtherDevice;
  const bool computes = request.reduces() || request.accumulation != request.type;
  if (computes && !ownKernels)
    return why = noKernels, Directness::NoKernels;
  for (const Tensor &tensor : request.tensors)
    for (auto [at, bytes] : {std::pair<const char *, size_t>(tensor.send, request.operandBytes(tensor)),
                             std::pair<const char *, size_t>(tensor.receive, request.resultBytes(tensor))}) {
      if (bytes == 0)
        continue;
      cuda::Reference reference;
      if (Outcome named = messages.peers.name(at, bytes, reference); !named)
        return why = named.text, Directness::NoHandle;
      if (computes && reinterpret_cast<size_t>(at) % request.elementBytes) // a misaligned access ends the context
        return why = whyNot(Directness::Unaligned), Directness::Unaligned;
    }
  return Directness::Can;
}

Direct::Verdict Direct::verdict() {
  if (begun)
    return found;
  begun = true;
  if (told.size() == 1)
    return found = Yes;
  Outcome named = messages.peers.name(some, 1, mine[0].some);
  mine[0].can = bool(named);
  std::strncpy(mine[0].why, named.text.c_str(), sizeof Note::why - 1);
  return found;
}

/// The peer's memory, as its note names it, by this rank's device.
Outcome Direct::reach(int peer) {
  const Note &note = told[size_t(peer)].first;
  if (!note.can)
    return {BRAID_UNSUPPORTED, std::string(note.why, strnlen(note.why, sizeof Note::why))};
  int devices = 0;
  Outcome done = driver.check(driver.cuDeviceGetCount(&devices), "the number of devices");
  // One that is not among the devices of this process may be reached all the same, by its handle.
  for (int i = 0; done && i < devices; ++i) {
    cuda::Device other = 0;
    cuda::DeviceUuid uuid = {};
    int can = 0, nvlink = 0;
    if (driver.cuDeviceGet(&other, i) != cuda::success || other == device ||
        driver.cuDeviceGetUuid_v2(&uuid, other) != cuda::success || std::memcmp(&uuid, &note.device, sizeof uuid) != 0)
      continue;
    done = driver.check(driver.cuDeviceCanAccessPeer(&can, device, other), "access to another device");
    if (done && !can)
      done = {BRAID_UNSUPPORTED,
              "device " + std::to_string(device) + " has no access to device " + std::to_string(other)};
    if (done && level.onlyNvlink)
      done = driver.check(driver.cuDeviceGetP2PAttribute(&nvlink, cuda::peerNativeAtomics, device, other),
                          "the link to another device");
    if (done && level.onlyNvlink && !nvlink)
      done = {BRAID_UNSUPPORTED, "no NVLink from device " + std::to_string(device) + " to device " +
                                     std::to_string(other) + ", as P2P_LEVEL wants it"};
  }
  const char *at = nullptr;
  if (done)
    done = messages.peers.reach(note.some, lane, at);
  return done;
}

bool Direct::talk() {
  if (!begun || found != Unknown)
    return false;
  bool moved = false, all = true;
  auto others = [&](auto body) {
    for (int peer = 0; peer < int(told.size()); ++peer)
      if (peer != me)
        body(peer, told[size_t(peer)]);
  };
  others([&](int peer, Told &each) {
    while (each.offered < 1 + tried && inner.offer(peer, lane, &mine[each.offered], sizeof(Note))) {
      ++each.offered;
      moved = true;
    }
    Message message;
    while (each.heard < 2 && inner.peek(peer, lane, message)) {
      Note &note = each.heard++ ? each.second : each.first;
      std::memcpy(&note, message.data, std::min(sizeof note, message.bytes));
      inner.accept(peer, lane);
      moved = true;
    }
    all &= each.heard > int(tried) && (!tried || each.offered == 2);
  });
  if (!all)
    return moved;
  if (!tried) {
    tried = true;
    mine[1].whose = -1;
    Outcome reached;
    others([&](int peer, Told &) {
      if (reached)
        if (reached = reach(peer); !reached)
          mine[1].whose = peer;
    });
    messages.peers.close(lane, 1);
    mine[1].can = bool(reached);
    std::strncpy(mine[1].why, reached.text.c_str(), sizeof Note::why - 1);
    return true;
  }
  found = Yes;
  for (int rank = int(told.size()) - 1; rank >= 0; --rank)
    if (const Note &note = rank == me ? mine[1] : told[size_t(rank)].second; !note.can) {
      found = No;
      refusing = rank;
      unreachable = note.whose < int(told.size()) ? note.whose : -1;
      refusal.assign(note.why, strnlen(note.why, sizeof Note::why));
    }
  return true;
}

int Direct::silent() const {
  for (int peer = 0; begun && found == Unknown && peer < int(told.size()); ++peer)
    if (peer != me && told[size_t(peer)].heard <= int(tried))
      return peer;
  return -1;
}

} // namespace braid::runtime
