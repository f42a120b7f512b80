//===- Driver.cpp - a stand-in for NVIDIA's driver ------------------------------------------------------------------===//
//
// The functions of Driver.h for a machine without a GPU, loaded by BRAID_CUDA_DRIVER (and BRAID_CUDA_KERNELS) in the place of the
// real ones. What programs get wrong on a GPU goes wrong here too:
//
//   - device memory has addresses that the CPU can't touch: the pages behind them are mapped a second time, for kernels only;
//   - work of a stream is done late: one piece of it each time that somebody asks for an event, all when a stream is
//     synchronised. What does not wait reads and writes too early.
//   - a copy to or from memory of the host that was not registered is counted (fake_pageable_copies);
//   - memory that was freed, or closed, or is another device's without access to it, ends what touches it, and all later work, in
//     an error (Machine.h), and its addresses are given out again.
//
// With BRAID_FAKE_CUDA=no-wait streams do not wait for events, with no-query events have always come: what a program that forgets
// them would see. What machines lack that have other memory than this one: Peers.cpp.
//
// A kernel is run thread by thread on the CPU, from the source that nvcc compiles (HostKernels).
//
// There is one device, whose context every thread has. With BRAID_FAKE_CUDA_DEVICES=n there are n, and a thread has the context that
// it makes current; a process in another network namespace is one of another machine, whose devices have other UUIDs. What else a
// stand-in needs to put work into streams (test/nccl) is fake_enqueue, fake_inside and fake_stream_device.
//===------------------------------------------------------------------------------------------------------------===//
#include "test/cuda/HostKernels.h"
#include "test/cuda/Machine.h"
#include "transports/cuda/Current.h"
#include "transports/cuda/Images.h"
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid::test;

namespace {

thread_local std::vector<intptr_t> contexts;

} // namespace

intptr_t braid::test::current() { return !contexts.empty() ? contexts.back() : devices() ? 0 : 1; }

extern "C" {

const braid_cuda_image braid_cuda_images[] = {{"on the CPU", "image"}, {nullptr, nullptr}};

uint64_t fake_pageable_copies() { return machine().pageable; }
uint64_t fake_launches() { return machine().launches; }
/// Bytes that were copied between host and device so far.
uint64_t fake_staged_bytes() { return machine().staged; }
uint64_t fake_flushes() { return machine().flushes; }
/// A piece of work is done each so many times that somebody asks for an event.
void fake_slow(uint64_t queries) {
  Lock lock(machine().mutex);
  machine().slowness = queries;
}
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
Result cuGetErrorString(Result error, const char **text) {
  *text = error == illegalAddress ? "an illegal memory access was encountered" : "refused by the stand-in";
  return success;
}

Result cuPointerGetAttribute(void *value, int attribute, Address at) {
  Lock lock(machine().mutex);
  uintptr_t base;
  const Block *device = machine().find(at, base);
  if (!device && !machine().isPinned(at, 1))
    return invalid;
  if (attribute == pointerMemoryType)
    *static_cast<unsigned *>(value) = device ? memoryDevice : memoryHost;
  else if (attribute == pointerContext)
    *static_cast<Context *>(value) =
        device && device->pool ? nullptr : reinterpret_cast<Context>(intptr_t(device ? device->device : 0) + 1);
  else if (attribute == pointerBufferId)
    *static_cast<unsigned long long *>(value) = device ? device->number : 0;
  else
    *static_cast<int *>(value) = device ? device->device : 0;
  return success;
}

Result cuMemAlloc_v2(Address *at, size_t bytes) {
  Lock lock(machine().mutex);
  if (!current())
    return noContext;
  int fd = bytes ? memfd_create("device", MFD_CLOEXEC) : -1;
  if (fd < 0 || ftruncate(fd, off_t(bytes)) != 0 || !(*at = machine().map(fd, bytes, int(current() - 1)))) {
    close(fd);
    return bytes ? outOfMemory : invalid;
  }
  return success;
}

/// A file whose position is where the range begins. With BRAID_FAKE_CUDA=no-export there is none.
Result cuMemGetHandleForAddressRange(void *handle, Address at, size_t bytes, int type, unsigned long long flags) {
  Lock lock(machine().mutex);
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  uintptr_t base = 0;
  const Block *block = machine().find(at, base);
  if (broken("no-export"))
    return notSupported;
  if (!block || type != rangeAsDmaBuf || flags || at % page || bytes % page || bytes == 0 ||
      at - base + bytes > block->mapped)
    return invalid;
  int file = open(("/proc/self/fd/" + std::to_string(block->fd)).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 || lseek(file, off_t(at - base), SEEK_SET) < 0)
    return invalid;
  return *static_cast<int *>(handle) = file, success;
}

Result cuMemFree_v2(Address at) {
  Lock lock(machine().mutex);
  auto found = machine().blocks.find(at);
  if (found == machine().blocks.end() || found->second.imports)
    return invalid;
  machine().unmap(found);
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
    if (!machine().find(at, base))
      machine().pageable += !machine().isPinned(at, bytes);
  if (!machine().find(to, base) != !machine().find(from, base))
    machine().staged += bytes;
  int device = fake_stream_device(stream);
  streamOf(stream).work.push_back([=] {
    void *target = machine().touched(reinterpret_cast<void *>(to), device, false);
    void *source = machine().touched(reinterpret_cast<void *>(from), device, false);
    if (target && source)
      std::memcpy(target, source, bytes);
    return true;
  });
  return machine().fault;
}

Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Stream stream) {
  Lock lock(machine().mutex);
  int device = fake_stream_device(stream);
  streamOf(stream).work.push_back([=] {
    if (void *target = machine().touched(reinterpret_cast<void *>(to), device, true))
      std::memset(target, value, bytes);
    return true;
  });
  return machine().fault;
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
  return machine().fault;
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
  if (fake->come < fake->recorded && ++machine().queries % machine().slowness == 0)
    machine().step();
  return machine().fault != success ? machine().fault : fake->come < fake->recorded ? notReady : success;
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
  int device = fake_stream_device(stream);
  streamOf(stream).work.push_back([=]() mutable {
    for (void **at : {&k.to, &k.also, const_cast<void **>(&k.a), const_cast<void **>(&k.b)})
      if (*at && !(*at = machine().touched(*at, device, true)))
        return true;
    for (size_t thread = 0; thread < threads; ++thread)
      kernel(thread, threads, k);
    return true;
  });
  return machine().fault;
}
}
