//===- Peers.cpp - devices that read each other's memory, behind the stand-in ---------------------------------------===//
//
// What goes wrong on machines that differ, by words in BRAID_FAKE_CUDA:
//
//   no-peer   no device has access to another's memory
//   no-ipc    no memory can be opened by other processes
//   no-open   no process opens another's memory
//   no-link   access between devices is not over NVLink
//===------------------------------------------------------------------------------------------------------------===//
#include "test/cuda/Machine.h"
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid::test;

namespace {

struct Handle { ///< in an IpcHandle
  int pid, fd, device;
  uint64_t file, bytes;
};
static_assert(sizeof(Handle) <= sizeof(IpcHandle));

} // namespace

extern "C" {

/// After so many times nothing of another process can be opened any more.
void fake_set_devices(int count) { machine().devices = count; }
void fake_fail_opens(int64_t after) { machine().opensLeft = after; }
/// Memory as that of cuMemAllocAsync.
Result cuMemAlloc_v2(Address *at, size_t bytes);
Result fake_alloc_from_pool(Address *at, size_t bytes) {
  Lock lock(machine().mutex);
  Result done = cuMemAlloc_v2(at, bytes);
  if (done == success)
    machine().blocks[*at].pool = true;
  return done;
}
/// Allocations of other processes that are open here.
uint64_t fake_open() {
  Lock lock(machine().mutex);
  uint64_t open = 0;
  for (auto &[at, block] : machine().blocks)
    open += block.imports > 0;
  return open;
}

Result cuDeviceCanAccessPeer(int *can, Device device, Device peer) {
  return *can = device != peer && !broken("no-peer"), success;
}

Result cuDeviceGetP2PAttribute(int *value, int, Device device, Device peer) {
  return *value = device != peer && !broken("no-link"), success;
}

Result cuCtxEnablePeerAccess(Context peer, unsigned) {
  Lock lock(machine().mutex);
  int to = int(reinterpret_cast<intptr_t>(peer) - 1), from = int(current() - 1);
  if (from == to || broken("no-peer"))
    return from == to ? noContext : noPeer;
  return machine().access.insert({from, to}).second ? success : alreadyEnabled;
}

Result cuMemGetAddressRange_v2(Address *base, size_t *bytes, Address at) {
  Lock lock(machine().mutex);
  uintptr_t begin = 0;
  const Block *block = machine().find(at, begin);
  if (!block)
    return notFound;
  *base = begin;
  *bytes = block->bytes;
  return success;
}

Result cuIpcGetMemHandle(IpcHandle *handle, Address at) {
  Lock lock(machine().mutex);
  auto found = machine().blocks.find(at);
  if (found == machine().blocks.end() || found->second.pool || found->second.imports)
    return invalid;
  if (broken("no-ipc"))
    return notSupported;
  struct stat file = {};
  fstat(found->second.fd, &file);
  Handle mine = {getpid(), found->second.fd, found->second.device, uint64_t(file.st_ino), found->second.bytes};
  *handle = {};
  std::memcpy(handle, &mine, sizeof mine);
  return success;
}

Result cuIpcOpenMemHandle_v2(Address *at, IpcHandle handle, unsigned flags) {
  Lock lock(machine().mutex);
  Handle theirs;
  std::memcpy(&theirs, &handle, sizeof theirs);
  if (!current() || theirs.pid == getpid())
    return noContext;
  if (broken("no-open") || machine().opensLeft-- <= 0)
    return mapFailed;
  if (theirs.device != int(current() - 1) && (broken("no-peer") || !(flags & ipcEnablePeerAccess)))
    return noPeer;
  std::string path = "/proc/" + std::to_string(theirs.pid) + "/fd/" + std::to_string(theirs.fd);
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat file = {};
  if (fd < 0 || fstat(fd, &file) != 0 || uint64_t(file.st_ino) != theirs.file) { // freed, and another one's since
    close(fd);
    return mapFailed;
  }
  for (auto &[base, block] : machine().blocks)
    if (struct stat known = {}; block.imports && fstat(block.fd, &known) == 0 && known.st_ino == file.st_ino) {
      close(fd);
      ++block.imports;
      return *at = base, success;
    }
  *at = machine().map(fd, theirs.bytes, theirs.device);
  if (!*at)
    return close(fd), mapFailed;
  machine().blocks[*at].imports = 1;
  return success;
}

Result cuIpcCloseMemHandle(Address at) {
  Lock lock(machine().mutex);
  auto found = machine().blocks.find(at);
  if (found == machine().blocks.end() || !found->second.imports)
    return invalid;
  if (--found->second.imports == 0)
    machine().unmap(found);
  return success;
}
}
