//===- Driver.cpp - a stand-in for NVIDIA's driver ------------------------------------------------------------------===//
//
// The functions of Driver.h for a machine without a GPU, loaded by BRAID_CUDA_DRIVER (and BRAID_CUDA_KERNELS) in the place of the
// real ones. What programs get wrong on a GPU goes wrong here too:
//
//   - device memory has addresses that the CPU can't touch: the pages behind them are mapped a second time, for kernels only;
//   - work of a stream is done late: one piece of it each time that somebody asks for an event, all when a stream is
//     synchronised. What does not wait reads and writes too early.
//   - a copy to or from memory of the host that was not registered is counted (fake_pageable_copies).
//
// With BRAID_FAKE_CUDA=no-wait streams do not wait for events, with no-query events have always come: what a program that forgets
// them would see.
//
// A kernel is run thread by thread on the CPU, from the source that nvcc compiles (HostKernels).
//
// There is one device, whose context every thread has. With BRAID_FAKE_CUDA_DEVICES=n there are n, and a thread has the context that
// it makes current; a process in another network namespace is one of another machine, whose devices have other UUIDs. What else a
// stand-in needs to put work into streams (test/nccl) is fake_enqueue, fake_inside and fake_stream_device.
//===------------------------------------------------------------------------------------------------------------===//
#include "test/cuda/HostKernels.h"
#include "transports/cuda/Current.h"
#include "transports/cuda/Images.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace braid::runtime::cuda;
using braid::test::HostKernel;
using braid::test::hostKernel;

namespace {

constexpr Result invalid = 1, outOfMemory = 2, noContext = 201, notFound = 500;

int devices() {
  static const char *asked = std::getenv("BRAID_FAKE_CUDA_DEVICES");
  static const int count = asked ? std::atoi(asked) : 0;
  return count;
}

/// Contexts are numbers of devices, plus one.
thread_local std::vector<intptr_t> contexts;
intptr_t current() { return !contexts.empty() ? contexts.back() : devices() ? 0 : 1; }

struct Block {
  size_t bytes, mapped;
  char *inside; ///< where kernels see it
  int device;
  int file; ///< the pages
};

struct FakeEvent {
  uint64_t recorded = 0, come = 0;
};

struct FakeStream {
  std::deque<std::function<bool()>> work; ///< false: not yet
  int device = 0;
};

struct Machine {
  std::recursive_mutex mutex;
  std::map<uintptr_t, Block> blocks; ///< of device memory, by address
  std::map<uintptr_t, size_t> registered;
  std::set<FakeStream *> streams;
  FakeStream defaultStream;
  uint64_t pageable = 0, launches = 0, staged = 0, flushes = 0;

  Machine() { streams.insert(&defaultStream); }

  const Block *find(uintptr_t at, uintptr_t &base) const {
    auto after = blocks.upper_bound(at);
    if (after == blocks.begin())
      return nullptr;
    --after;
    base = after->first;
    return at < base + after->second.bytes ? &after->second : nullptr;
  }
  /// Where a kernel sees what the program names by `at`.
  void *inside(const void *at) const {
    uintptr_t base = 0;
    const Block *block = find(reinterpret_cast<uintptr_t>(at), base);
    return block ? block->inside + (reinterpret_cast<uintptr_t>(at) - base) : const_cast<void *>(at);
  }
  bool isPinned(uintptr_t at, size_t bytes) const {
    auto after = registered.upper_bound(at);
    return after != registered.begin() && at + bytes <= std::prev(after)->first + std::prev(after)->second;
  }
  /// The next piece of work of some stream that can be done. False: there is none.
  bool step() {
    for (FakeStream *stream : streams)
      if (!stream->work.empty() && stream->work.front()()) {
        stream->work.pop_front();
        return true;
      }
    return false;
  }
};

Machine &machine() {
  static auto *made = new Machine;
  return *made;
}
bool broken(const char *how) {
  static const char *asked = std::getenv("BRAID_FAKE_CUDA");
  return asked && std::strcmp(asked, how) == 0;
}

using Lock = std::lock_guard<std::recursive_mutex>;

FakeStream &streamOf(Stream stream) { return stream ? *static_cast<FakeStream *>(stream) : machine().defaultStream; }

} // namespace

extern "C" {

const braid_cuda_image braid_cuda_images[] = {{"on the CPU", "image"}, {nullptr, nullptr}};

uint64_t fake_pageable_copies() { return machine().pageable; }
uint64_t fake_launches() { return machine().launches; }
/// Bytes that were copied between host and device so far.
uint64_t fake_staged_bytes() { return machine().staged; }
uint64_t fake_flushes() { return machine().flushes; }
/// `work` is called in its turn in the stream until it returns true.
void fake_enqueue(Stream stream, bool (*work)(void *), void *with) {
  Lock lock(machine().mutex);
  streamOf(stream).work.push_back([=] { return work(with); });
}
/// Where the CPU sees what a device does.
void *fake_inside(const void *at) {
  Lock lock(machine().mutex);
  return machine().inside(at);
}
/// The device of a stream, or -1: there is no such stream. Of the default one: the caller's.
int fake_stream_device(Stream stream) {
  Lock lock(machine().mutex);
  auto *fake = static_cast<FakeStream *>(stream);
  return !stream ? int(current() - 1) : machine().streams.count(fake) ? fake->device : -1;
}

Result cuInit(unsigned) { return success; }
Result cuDriverGetVersion(int *version) { return *version = 13000, success; }
Result cuDeviceGetCount(int *count) { return *count = devices() ? devices() : 1, success; }
Result cuDeviceGet(Device *device, int ordinal) {
  return ordinal < 0 || ordinal >= (devices() ? devices() : 1) ? invalid : (*device = ordinal, success);
}
Result cuDeviceGetUuid_v2(DeviceUuid *uuid, Device device) {
  struct stat machine = {};
  stat("/proc/self/ns/net", &machine);
  *uuid = {};
  uint64_t words[2] = {uint64_t(machine.st_ino), uint64_t(device)};
  std::memcpy(uuid->bytes, words, sizeof words);
  return success;
}
/// NICs may write to it, in an order that has to be forced. With BRAID_FAKE_CUDA=no-direct they may not.
Result cuDeviceGetAttribute(int *value, int attribute, Device) {
  *value = attribute == directSupported ? !broken("no-direct") : attribute == directFlushOptions ? flushByHost : 0;
  return success;
}
Result cuFlushGPUDirectRDMAWrites(int target, int scope) {
  Lock lock(machine().mutex);
  ++machine().flushes;
  return current() && target == flushCurrentContext && scope == flushToOwner ? success : invalid;
}
Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  return *context = reinterpret_cast<Context>(intptr_t(device) + 1), success;
}
Result cuCtxGetDevice(Device *device) { return current() ? (*device = int(current() - 1), success) : noContext; }
Result cuCtxGetCurrent(Context *context) { return *context = reinterpret_cast<Context>(current()), success; }
Result cuCtxSetCurrent(Context context) {
  if (!contexts.empty())
    contexts.pop_back();
  contexts.push_back(reinterpret_cast<intptr_t>(context));
  return success;
}
Result cuCtxPushCurrent_v2(Context context) { return contexts.push_back(reinterpret_cast<intptr_t>(context)), success; }
Result cuCtxPopCurrent_v2(Context *context) {
  if (contexts.empty())
    return noContext;
  *context = reinterpret_cast<Context>(contexts.back());
  contexts.pop_back();
  return success;
}
Result cuGetErrorString(Result, const char **text) { return *text = "refused by the stand-in", success; }

Result cuPointerGetAttribute(void *value, int attribute, Address at) {
  Lock lock(machine().mutex);
  uintptr_t base;
  const Block *device = machine().find(at, base);
  if (!device && !machine().isPinned(at, 1))
    return invalid;
  if (attribute == pointerMemoryType)
    *static_cast<unsigned *>(value) = device ? memoryDevice : memoryHost;
  else if (attribute == pointerContext)
    *static_cast<Context *>(value) = reinterpret_cast<Context>(intptr_t(device ? device->device : 0) + 1);
  else
    *static_cast<int *>(value) = device ? device->device : 0;
  return success;
}

Result cuMemAlloc_v2(Address *at, size_t bytes) {
  Lock lock(machine().mutex);
  size_t page = size_t(sysconf(_SC_PAGESIZE)), mapped = (bytes + page - 1) / page * page;
  int fd = memfd_create("device", MFD_CLOEXEC);
  if (!current())
    return close(fd), noContext;
  if (bytes == 0 || fd < 0 || ftruncate(fd, off_t(mapped)) != 0)
    return bytes ? outOfMemory : invalid;
  void *outside = mmap(nullptr, mapped, PROT_NONE, MAP_SHARED, fd, 0);
  void *inside = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (outside == MAP_FAILED || inside == MAP_FAILED)
    return outOfMemory;
  *at = reinterpret_cast<uintptr_t>(outside);
  machine().blocks[*at] = {bytes, mapped, static_cast<char *>(inside), int(current() - 1), fd};
  return success;
}

/// A file whose position is where the range begins. With BRAID_FAKE_CUDA=no-export there is none.
Result cuMemGetHandleForAddressRange(void *handle, Address at, size_t bytes, int type, unsigned long long flags) {
  Lock lock(machine().mutex);
  constexpr Result notSupported = 801;
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  uintptr_t base = 0;
  const Block *block = machine().find(at, base);
  if (broken("no-export"))
    return notSupported;
  if (!block || type != rangeAsDmaBuf || flags || at % page || bytes % page || bytes == 0 ||
      at - base + bytes > block->mapped)
    return invalid;
  int file = open(("/proc/self/fd/" + std::to_string(block->file)).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 || lseek(file, off_t(at - base), SEEK_SET) < 0)
    return invalid;
  return *static_cast<int *>(handle) = file, success;
}

Result cuMemFree_v2(Address at) {
  Lock lock(machine().mutex);
  auto found = machine().blocks.find(at);
  if (found == machine().blocks.end())
    return invalid;
  while (machine().step())
    ;
  munmap(reinterpret_cast<void *>(at), found->second.mapped);
  munmap(found->second.inside, found->second.mapped);
  close(found->second.file);
  machine().blocks.erase(found);
  return success;
}

Result cuMemHostRegister_v2(void *at, size_t bytes, unsigned) {
  Lock lock(machine().mutex);
  constexpr Result already = 712;
  uintptr_t begin = reinterpret_cast<uintptr_t>(at);
  auto after = machine().registered.lower_bound(begin);
  bool overlaps = (after != machine().registered.end() && after->first < begin + bytes) ||
                  (after != machine().registered.begin() && std::prev(after)->first + std::prev(after)->second > begin);
  if (overlaps)
    return already;
  machine().registered[begin] = bytes;
  return success;
}

Result cuMemHostUnregister(void *at) {
  Lock lock(machine().mutex);
  return machine().registered.erase(reinterpret_cast<uintptr_t>(at)) ? success : invalid;
}

Result cuMemcpyAsync(Address to, Address from, size_t bytes, Stream stream) {
  Lock lock(machine().mutex);
  uintptr_t base;
  for (Address at : {to, from})
    if (!machine().find(at, base) && !machine().isPinned(at, bytes))
      ++machine().pageable;
  if (!machine().find(to, base) != !machine().find(from, base))
    machine().staged += bytes;
  streamOf(stream).work.push_back([=] {
    std::memcpy(machine().inside(reinterpret_cast<void *>(to)), machine().inside(reinterpret_cast<void *>(from)),
                bytes);
    return true;
  });
  return success;
}

Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Stream stream) {
  Lock lock(machine().mutex);
  streamOf(stream).work.push_back(
      [=] { return std::memset(machine().inside(reinterpret_cast<void *>(to)), value, bytes), true; });
  return success;
}

Result cuStreamCreate(Stream *stream, unsigned) {
  Lock lock(machine().mutex);
  if (!current())
    return noContext;
  auto *made = new FakeStream;
  made->device = int(current() - 1);
  machine().streams.insert(made);
  return *stream = made, success;
}

Result cuStreamSynchronize(Stream stream) {
  Lock lock(machine().mutex);
  while (!streamOf(stream).work.empty())
    if (!machine().step())
      return invalid; // it waits for itself
  return success;
}

Result cuStreamDestroy_v2(Stream stream) {
  Lock lock(machine().mutex);
  Result done = cuStreamSynchronize(stream);
  machine().streams.erase(static_cast<FakeStream *>(stream));
  delete static_cast<FakeStream *>(stream);
  return done;
}

Result cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  Lock lock(machine().mutex);
  auto *fake = static_cast<FakeEvent *>(event);
  uint64_t until = broken("no-wait") ? 0 : fake->recorded;
  streamOf(stream).work.push_back([=] { return fake->come >= until; });
  return success;
}

Result cuEventCreate(Event *event, unsigned) { return *event = new FakeEvent, success; }
Result cuEventDestroy_v2(Event event) {
  Lock lock(machine().mutex);
  while (machine().step())
    ;
  delete static_cast<FakeEvent *>(event);
  return success;
}

Result cuEventRecord(Event event, Stream stream) {
  Lock lock(machine().mutex);
  auto *fake = static_cast<FakeEvent *>(event);
  uint64_t number = ++fake->recorded;
  streamOf(stream).work.push_back([=] { return fake->come = number, true; });
  return success;
}

Result cuEventQuery(Event event) {
  Lock lock(machine().mutex);
  auto *fake = static_cast<FakeEvent *>(event);
  if (broken("no-query"))
    return success;
  if (fake->come < fake->recorded)
    machine().step();
  return fake->come < fake->recorded ? notReady : success;
}

Result cuModuleLoadData(Module *module, const void *image) {
  return *module = const_cast<void *>(image), image ? success : invalid;
}

Result cuModuleGetFunction(Function *function, Module, const char *name) {
  HostKernel kernel = hostKernel(name);
  return *function = reinterpret_cast<void *>(kernel), kernel ? success : notFound;
}

Result cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                      unsigned blockY, unsigned blockZ, unsigned, Stream stream, void **arguments, void **) {
  Lock lock(machine().mutex);
  auto kernel = reinterpret_cast<HostKernel>(function);
  size_t threads = size_t(gridX) * blockX;
  if (gridY * gridZ * blockY * blockZ != 1 || threads == 0 || blockX > blockThreads)
    return invalid;
  ++machine().launches;
  ReduceArguments k = *static_cast<ReduceArguments *>(arguments[0]);
  streamOf(stream).work.push_back([=]() mutable {
    k.to = machine().inside(k.to);
    k.also = machine().inside(k.also);
    k.a = machine().inside(k.a);
    k.b = machine().inside(k.b);
    for (size_t thread = 0; thread < threads; ++thread)
      kernel(thread, threads, k);
    return true;
  });
  return success;
}
}
