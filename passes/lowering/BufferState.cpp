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

void Flight::add(const BufferObjects &buffer, BufferObjects &to) {
  to.add(buffer);
  if (buffer.size() == 1 && !buffer.begin()->isUnknown() && !buffer.begin()->older)
    certain.add(buffer);
}

void Flight::age(const void *name) {
  read.age(name);
  written.age(name);
  certain.erase({name, false}); // one of several from now on
}

BufferObjects BufferState::of(Value buffer) const {
  auto found = objects.find(buffer.getAsOpaquePointer());
  return found == objects.end() ? BufferObjects::unknown() : found->second;
}

void BufferState::allocate(Value buffer, const void *name) {
  for (auto &[value, held] : objects)
    held.age(name);
  for (auto &[token, flight] : flights)
    flight.age(name);
  set(buffer, {BufferObject{name, false}});
}

bool BufferState::join(const BufferState &other) {
  bool changed = false;
  for (const auto &[value, held] : other.objects) {
    auto [mine, isNew] = objects.try_emplace(value, held);
    changed |= isNew || mine->second.add(held);
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
      continue;
    }
    Flight &known = mine->second;
    size_t launches = known.launches.size();
    known.launches.insert_range(flight.launches);
    changed |= known.launches.size() != launches;
    changed |= known.read.add(flight.read);
    changed |= known.written.add(flight.written);
    for (auto object = known.certain.begin(); object != known.certain.end();) {
      bool stays = flight.certain.count(*object);
      changed |= !stays;
      object = stays ? std::next(object) : known.certain.erase(object);
    }
    if (known.everywhere && !flight.everywhere) {
      known.everywhere = false;
      changed = true;
    }
  }
  return changed;
}

} // namespace mlir::braid
