//===- PeerMemory.cpp - names and opens memory of devices -----------------------------------------------------------===//
#include "transports/cuda/PeerMemory.h"
#include "transports/cuda/Current.h"
#include <random>
#include <unistd.h>

namespace braid::runtime::cuda {

uint64_t processNumber() {
  static const uint64_t drawn = [] { // a fork shares it, and has another pid
    std::random_device random;
    return uint64_t(random()) << 32 | random();
  }();
  return drawn ^ uint64_t(getpid()) << 20;
}

PeerMemory::~PeerMemory() {
  Current current(driver, context);
  while (!opened.empty())
    close(opened.begin());
}

Outcome PeerMemory::name(const void *data, size_t bytes, Reference &reference) {
  Current current(driver, context);
  if (!current.outcome())
    return current.outcome();
  Address at = reinterpret_cast<Address>(data), base = 0;
  size_t whole = 0;
  unsigned long long number = 0;
  Outcome done = driver.check(driver.cuMemGetAddressRange_v2(&base, &whole, at), "the allocation of a buffer");
  if (done)
    done = driver.check(driver.cuPointerGetAttribute(&number, pointerBufferId, base), "the number of an allocation");
  if (!done)
    return done;
  if (at + bytes > base + whole)
    return {BRAID_INVALID, "cuda: expected a buffer in one allocation, got " + std::to_string(bytes) + " bytes at " +
                               std::to_string(at - base) + " of one of " + std::to_string(whole) + " bytes"};
  auto known = handles.find(number);
  if (known == handles.end()) {
    IpcHandle handle;
    done = driver.check(driver.cuIpcGetMemHandle(&handle, base), "a handle for other processes");
    if (!done)
      return done;
    constexpr size_t mostKept = 4096; // of allocations that are long gone too
    if (handles.size() == mostKept)
      handles.clear();
    known = handles.emplace(number, handle).first;
  }
  reference = {processNumber(), reinterpret_cast<uint64_t>(context), number, base, at - base, bytes, known->second};
  return {};
}

Outcome PeerMemory::reach(const Reference &reference, int user, const char *&at) {
  if (reference.process == processNumber()) {
    if (reference.context != reinterpret_cast<uint64_t>(context) && !enabled.count(reference.context)) {
      Current current(driver, context);
      Result result = driver.cuCtxEnablePeerAccess(reinterpret_cast<Context>(reference.context), 0);
      if (result != success && result != alreadyEnabled)
        return driver.check(result, "access to the memory of another device");
      enabled.insert(reference.context);
    }
    at = reinterpret_cast<const char *>(reference.base + reference.offset);
    return {};
  }
  Key key = {reference.process, reference.buffer};
  auto found = opened.find(key);
  if (found == opened.end()) {
    Current current(driver, context);
    if (!current.outcome())
      return current.outcome();
    for (auto other = opened.lower_bound({reference.process, 0});
         other != opened.end() && other->first.first == reference.process;)
      if (other->second.theirs == reference.base) // it was freed since
        other = close(other);
      else
        ++other;
    Address base = 0;
    Outcome done = driver.check(driver.cuIpcOpenMemHandle_v2(&base, reference.handle, ipcEnablePeerAccess),
                                "opening memory of another process");
    if (!done)
      return done;
    ++opensSoFar;
    found = opened.emplace(key, Opened{base, reference.base, {}}).first;
  }
  found->second.users.insert(user);
  at = reinterpret_cast<const char *>(found->second.base + reference.offset);
  return {};
}

void PeerMemory::close(int firstUser, int count) {
  Current current(driver, context);
  for (auto each = opened.begin(); each != opened.end();) {
    std::set<int> &users = each->second.users;
    users.erase(users.lower_bound(firstUser), users.lower_bound(firstUser + count));
    each = users.empty() ? close(each) : std::next(each);
  }
}

std::map<PeerMemory::Key, PeerMemory::Opened>::iterator PeerMemory::close(std::map<Key, Opened>::iterator which) {
  driver.cuIpcCloseMemHandle(which->second.base); // of a process that has died too
  return opened.erase(which);
}

} // namespace braid::runtime::cuda
