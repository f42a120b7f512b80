//===- BufferState.cpp - which memory a value may be, and what is in flight, at one point of the program --------===//
#include "lowering/BufferState.h"

namespace mlir::braid {

bool BufferObjects::mayBe(const BufferObjects &other) const {
  if (empty() || other.empty())
    return false;
  if (begin()->isUnknown() || other.begin()->isUnknown()) // no name is the smallest
    return true;
  return llvm::any_of(*this, [&](const BufferObject &object) { return other.contains(object); });
}

bool BufferObjects::add(const BufferObjects &other) {
  size_t before = size();
  for (const BufferObject &object : other)
    if (auto place = llvm::lower_bound(sorted, object); place == sorted.end() || !(*place == object))
      sorted.insert(place, object);
  return size() != before;
}

bool BufferObjects::remove(const BufferObject &object) {
  auto place = llvm::lower_bound(sorted, object);
  if (place == sorted.end() || !(*place == object))
    return false;
  sorted.erase(place);
  return true;
}

bool BufferObjects::keepOnly(const BufferObjects &other) {
  size_t before = size();
  llvm::erase_if(sorted, [&](const BufferObject &object) { return !other.contains(object); });
  return size() != before;
}

void BufferObjects::age(const void *name) {
  if (remove({name, false}))
    add(BufferObject{name, true});
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
  certain.remove({name, false}); // one of several from now on
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
  changed |= certain.keepOnly(other.certain);
  changed |= everywhere && !other.everywhere;
  everywhere &= other.everywhere;
  return changed;
}

//===------------------------------------------------------------------------------------------------------------===//
// State
//===------------------------------------------------------------------------------------------------------------===//

static std::pair<const void *, const void *> ordered(const void *one, const void *other) {
  return std::minmax(one, other);
}

Buffer BufferState::of(Value buffer) const {
  auto found = buffers.find(buffer.getAsOpaquePointer());
  return found == buffers.end() ? Buffer() : found->second;
}

void BufferState::set(Value buffer, BufferObjects what, const void *identity) {
  const void *own = buffer.getAsOpaquePointer();
  buffers[own] = {std::move(what), identity ? identity : own};
  if (passed.erase(own))
    llvm::erase_if(different, [&](const auto &pair) { return pair.first == own || pair.second == own; });
  for (auto &[token, flight] : flights) // its identity was another buffer's, in the trip before
    for (SmallVectorImpl<Buffer> *all : {&flight.read, &flight.written})
      for (Buffer &each : *all)
        if (each.identity == own)
          each.identity = nullptr;
}

void BufferState::setEither(Value buffer, ArrayRef<Buffer> sources) {
  const void *own = buffer.getAsOpaquePointer();
  BufferObjects objects;
  for (const Buffer &source : sources)
    objects.add(source.objects);
  set(buffer, std::move(objects));
  for (const void *stays : passed)
    if (auto known = buffers.find(stays); known != buffers.end())
      if (llvm::all_of(sources, [&](const Buffer &source) { return areApart(source, known->second); }))
        different.push_back(ordered(own, stays));
  llvm::sort(different);
  passed.insert(own);
}

void BufferState::allocate(Value buffer, const void *name) {
  for (auto &[value, held] : buffers)
    held.objects.age(name);
  for (auto &[token, flight] : flights)
    flight.age(name);
  set(buffer, BufferObject{name, false});
}

bool BufferState::areApart(const Buffer &one, const Buffer &other) const {
  if (!one.objects.mayBe(other.objects))
    return true;
  return one.identity && other.identity && one.identity != other.identity &&
         std::binary_search(different.begin(), different.end(), ordered(one.identity, other.identity));
}

bool BufferState::mayBe(const Buffer &buffer, ArrayRef<Buffer> inFlight) const {
  return llvm::any_of(inFlight, [&](const Buffer &each) { return !areApart(buffer, each); });
}

void BufferState::pass(ArrayRef<std::pair<Value, Value>> pairs) {
  SmallVector<std::pair<const void *, Buffer>> next;
  llvm::SmallDenseMap<const void *, const void *> renamed; // identities
  llvm::SmallPtrSet<const void *, 8> taken;
  for (auto [from, to] : pairs) {
    const void *own = to.getAsOpaquePointer();
    next.push_back({own, of(from)});
    if (next.back().second.identity)
      renamed.insert({next.back().second.identity, own});
    taken.insert(own);
  }
  std::vector<std::pair<const void *, const void *>> apart;
  for (const auto &pair : different) // of what stays
    if (!taken.contains(pair.first) && !taken.contains(pair.second))
      apart.push_back(pair);
  for (size_t index = 0; index < next.size(); ++index) {
    auto &[own, buffer] = next[index];
    for (size_t other = 0; other < index; ++other)
      if (areApart(buffer, next[other].second))
        apart.push_back(ordered(own, next[other].first));
    for (const void *stays : passed)
      if (auto known = buffers.find(stays); known != buffers.end() && !taken.contains(stays))
        if (areApart(buffer, known->second))
          apart.push_back(ordered(own, stays));
  }
  llvm::sort(apart);
  for (auto &[token, flight] : flights)
    for (SmallVectorImpl<Buffer> *all : {&flight.read, &flight.written})
      for (Buffer &each : *all) {
        auto to = renamed.find(each.identity);
        if (to != renamed.end())
          each.identity = to->second;
        else if (taken.contains(each.identity))
          each.identity = nullptr;
      }
  for (auto &[own, buffer] : next)
    buffers[own] = {std::move(buffer.objects), own};
  passed.insert(taken.begin(), taken.end());
  different = std::move(apart);
}

void BufferState::leave(const BufferState &outside, ValueRange handedOn) {
  llvm::SmallDenseSet<const void *> kept;
  for (Value value : handedOn)
    kept.insert(value.getAsOpaquePointer());
  auto isGone = [&](const void *value) { return !outside.buffers.contains(value) && !kept.contains(value); };
  for (auto next = buffers.begin(); next != buffers.end();)
    if (auto buffer = next++; isGone(buffer->first))
      buffers.erase(buffer);
  passed.remove_if(isGone);
  llvm::erase_if(different, [&](const auto &pair) { return isGone(pair.first) || isGone(pair.second); });
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
  std::vector<std::pair<const void *, const void *>> both;
  std::set_intersection(different.begin(), different.end(), other.different.begin(), other.different.end(),
                        std::back_inserter(both));
  changed |= both.size() != different.size();
  different = std::move(both);
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
