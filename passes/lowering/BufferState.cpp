//===- BufferState.cpp - which memory a value may be, and what is in flight, at one point of the program --------===//
#include "lowering/BufferState.h"

namespace mlir::braid {

bool BufferObjects::mayBe(const BufferObjects &other) const {
  if (empty() || other.empty())
    return false;
  if (begin()->isUnknown() || other.begin()->isUnknown()) // no name is the smallest
    return true;
  return llvm::any_of(*this, [&](const BufferObject &object) { return other.count(object); });
}

bool BufferObjects::add(const BufferObjects &other) {
  size_t before = size();
  insert(other.begin(), other.end());
  return size() != before;
}

void BufferObjects::age(const void *name) {
  if (erase({name, false}))
    insert({name, true});
}

void Flight::add(const Buffer &buffer, SmallVectorImpl<Buffer> &to) {
  to.push_back(buffer);
  const BufferObjects &objects = buffer.objects;
  if (objects.size() == 1 && !objects.begin()->isUnknown() && !objects.begin()->older)
    certain.add(objects);
}

void Flight::age(const void *name) {
  for (SmallVectorImpl<Buffer> *buffers : {&read, &written})
    for (Buffer &buffer : *buffers)
      buffer.objects.age(name);
  certain.erase({name, false}); // one of several from now on
}

static bool joinAll(SmallVectorImpl<Buffer> &known, ArrayRef<Buffer> other) {
  bool changed = other.size() > known.size();
  for (size_t index = 0; index < other.size(); ++index) {
    if (index >= known.size()) {
      known.push_back(other[index]);
      continue;
    }
    changed |= known[index].objects.add(other[index].objects);
    if (known[index].identity && known[index].identity != other[index].identity) {
      known[index].identity = nullptr;
      changed = true;
    }
  }
  return changed;
}

bool Flight::join(const Flight &other) {
  size_t before = launches.size();
  launches.insert_range(other.launches);
  bool changed = launches.size() != before;
  changed |= joinAll(read, other.read);
  changed |= joinAll(written, other.written);
  for (auto object = certain.begin(); object != certain.end();) {
    bool stays = other.certain.count(*object);
    changed |= !stays;
    object = stays ? std::next(object) : certain.erase(object);
  }
  changed |= everywhere && !other.everywhere;
  everywhere &= other.everywhere;
  return changed;
}

//===------------------------------------------------------------------------------------------------------------===//
// State
//===------------------------------------------------------------------------------------------------------------===//

Buffer BufferState::of(Value buffer) const {
  auto found = buffers.find(buffer.getAsOpaquePointer());
  return found == buffers.end() ? Buffer() : found->second;
}

void BufferState::set(Value buffer, BufferObjects what, const void *identity) {
  const void *own = buffer.getAsOpaquePointer();
  buffers[own] = {std::move(what), identity ? identity : own};
  for (auto &[token, flight] : flights) // its identity was another buffer's, in the trip before
    for (SmallVectorImpl<Buffer> *all : {&flight.read, &flight.written})
      for (Buffer &each : *all)
        if (each.identity == own)
          each.identity = nullptr;
}

void BufferState::allocate(Value buffer, const void *name) {
  for (auto &[value, held] : buffers)
    held.objects.age(name);
  for (auto &[token, flight] : flights)
    flight.age(name);
  set(buffer, {BufferObject{name, false}});
}

bool BufferState::areApart(const Buffer &one, const Buffer &other) const {
  if (!one.objects.mayBe(other.objects))
    return true;
  return one.identity && other.identity && one.identity != other.identity &&
         different.count(std::minmax(one.identity, other.identity));
}

bool BufferState::mayBe(const Buffer &buffer, ArrayRef<Buffer> inFlight) const {
  return llvm::any_of(inFlight, [&](const Buffer &each) { return !areApart(buffer, each); });
}

void BufferState::pass(ArrayRef<std::pair<Value, Value>> pairs) {
  SmallVector<std::pair<const void *, Buffer>> next;
  std::map<const void *, const void *> renamed; // identities
  std::set<const void *> taken;
  for (auto [from, to] : pairs) {
    const void *own = to.getAsOpaquePointer();
    next.push_back({own, of(from)});
    if (next.back().second.identity)
      renamed.insert({next.back().second.identity, own});
    taken.insert(own);
  }
  std::set<std::pair<const void *, const void *>> apart;
  for (const auto &pair : different) // of what stays
    if (!taken.count(pair.first) && !taken.count(pair.second))
      apart.insert(pair);
  for (size_t index = 0; index < next.size(); ++index) {
    auto &[own, buffer] = next[index];
    for (size_t other = 0; other < index; ++other)
      if (areApart(buffer, next[other].second))
        apart.insert(std::minmax(own, next[other].first));
    for (const void *stays : passed)
      if (auto known = buffers.find(stays); known != buffers.end() && !taken.count(stays))
        if (areApart(buffer, known->second))
          apart.insert(std::minmax(own, stays));
  }
  for (auto &[token, flight] : flights)
    for (SmallVectorImpl<Buffer> *all : {&flight.read, &flight.written})
      for (Buffer &each : *all) {
        auto to = renamed.find(each.identity);
        if (to != renamed.end())
          each.identity = to->second;
        else if (taken.count(each.identity))
          each.identity = nullptr;
      }
  for (auto &[own, buffer] : next)
    buffers[own] = {std::move(buffer.objects), own};
  passed.insert(taken.begin(), taken.end());
  different = std::move(apart);
}

bool BufferState::join(const BufferState &other) {
  bool changed = false;
  for (const auto &[value, held] : other.buffers) {
    auto [mine, isNew] = buffers.try_emplace(value, held);
    changed |= isNew || mine->second.objects.add(held.objects);
    if (!isNew && mine->second.identity && mine->second.identity != held.identity) {
      mine->second.identity = nullptr;
      changed = true;
    }
  }
  passed.insert(other.passed.begin(), other.passed.end());
  for (auto pair = different.begin(); pair != different.end();) {
    bool stays = other.different.count(*pair);
    changed |= !stays;
    pair = stays ? std::next(pair) : different.erase(pair);
  }
  for (auto &[token, flight] : flights)
    if (flight.everywhere && !other.flights.contains(token)) {
      flight.everywhere = false;
      changed = true;
    }
  for (const auto &[token, flight] : other.flights) {
    auto [mine, isNew] = flights.insert({token, flight});
    if (isNew) {
      mine->second.everywhere = false;
      changed = true;
    } else {
      changed |= mine->second.join(flight);
    }
  }
  return changed;
}

} // namespace mlir::braid
