//===- BufferState.h - which memory a value may be, and what is in flight, at one point of the program ----------===//
//
// Memory is named by the operation that allocates it. In a loop one allocation gives many buffers, of which the last must be
// told from those before: a collective in flight from one trip to the next works on the last trip's buffer while this trip
// fills another one of the same allocation. So each allocation names two objects, the newest buffer and all older ones;
// allocating makes the newest an older one, wherever it is held (recency abstraction: Balakrishnan and Reps, SAS 2006).
//
//   %x = alloc A            x: {A newest}
//   launch %x               in flight: {A newest}
//   ^trip: %y = alloc A     x: {A older}, in flight: {A older}, y: {A newest}
//
// Names alone do not tell two buffers apart that a loop hands on from place to place. So what a loop or a branch passes on becomes an
// *identity* of its own, with the pairs of identities that are known to be different memory:
//
//   for (%x = a, %y = b) { yield %y, %x }    x: {a, b}, y: {a, b}, and x is apart from y: so it was at first, and so they trade
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_BUFFERSTATE_H
#define BRAID_PASSES_LOWERING_BUFFERSTATE_H

#include "braid/dialect/BraidOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::braid {

/// Memory that some buffers lie in. One without a name may be any.
struct BufferObject {
  const void *name = nullptr; ///< the allocating operation, the argument, the global's symbol
  bool older = false;

  bool isUnknown() const { return !name; }
  bool operator<(const BufferObject &other) const { return std::tie(name, older) < std::tie(other.name, other.older); }
  bool operator==(const BufferObject &other) const { return name == other.name && older == other.older; }
};

/// In order: states are copied wherever paths part, so what is in them is flat.
class BufferObjects {
public:
  BufferObjects() = default;
  BufferObjects(BufferObject only) : sorted{only} {}
  static BufferObjects unknown() { return BufferObject(); }

  auto begin() const { return sorted.begin(); }
  auto end() const { return sorted.end(); }
  bool empty() const { return sorted.empty(); }
  size_t size() const { return sorted.size(); }
  bool contains(const BufferObject &object) const { return llvm::binary_search(sorted, object); }
  bool mayBe(const BufferObjects &other) const;
  /// Whether this has changed, as below.
  bool add(const BufferObjects &other);
  bool remove(const BufferObject &object);
  bool keepOnly(const BufferObjects &other);
  /// What was the newest of this allocation is an older one.
  void age(const void *name);

private:
  SmallVector<BufferObject, 2> sorted;
};

/// What is known of one buffer.
struct Buffer {
  BufferObjects objects = BufferObjects::unknown();
  const void *identity = nullptr; ///< the value whose memory it is a view of; null: of several, or not known
};

/// A collective that has been launched, or one of several, depending on the path.
struct Flight {
  llvm::SmallSetVector<Operation *, 2> launches;
  SmallVector<Buffer, 2> read, written;
  BufferObjects certain;  ///< of both: those that are in flight whichever path was taken
  bool everywhere = true; ///< on every path to this point

  void sends(const Buffer &buffer) { add(buffer, read); }
  void writes(const Buffer &buffer) { add(buffer, written); }
  /// Whether it is one buffer, and that one is in flight.
  bool mustHold(const BufferObjects &buffer) const {
    return everywhere && buffer.size() == 1 && certain.contains(*buffer.begin());
  }
  void age(const void *name);
  bool join(const Flight &other);

private:
  void add(const Buffer &buffer, SmallVectorImpl<Buffer> &to);
};

/// Tokens are linear: each is passed on or finished once, so what is in flight belongs to the value that holds its token.
struct BufferState {
  llvm::DenseMap<const void *, Buffer> buffers; ///< by value
  llvm::MapVector<Value, Flight> flights;       ///< by token

  bool knows(Value value) const { return buffers.count(value.getAsOpaquePointer()); }
  /// Of a buffer; any memory if nothing is known of it.
  Buffer of(Value buffer) const;
  /// A buffer that is made here, so it was none before. `identity`: of what it is a view of; null: it is its own.
  void set(Value buffer, BufferObjects what, const void *identity = nullptr);
  /// One of several buffers (arith.select): apart from what all of them are apart from.
  void setEither(Value buffer, ArrayRef<Buffer> sources);
  void allocate(Value buffer, const void *name);
  /// Values become others at once, since they may trade places: `from` becomes `to`.
  void pass(ArrayRef<std::pair<Value, Value>> pairs);
  /// Whether the buffer may be one of those in flight.
  bool mayBe(const Buffer &buffer, ArrayRef<Buffer> inFlight) const;
  /// Control leaves a region, or goes round in it: what it defined is out of sight, but for `handedOn`. `outside` is a state of when it
  /// was entered. Without this a state would grow with the program, and a loop's with each trip.
  void leave(const BufferState &outside, ValueRange handedOn);
  /// Where two paths meet. Whether this state has changed.
  bool join(const BufferState &other);

private:
  bool areApart(const Buffer &one, const Buffer &other) const;

  llvm::SmallPtrSet<const void *, 16> passed;                   ///< identities that came by passing on
  std::vector<std::pair<const void *, const void *>> different; ///< pairs of them, the smaller one first, in order
};

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_BUFFERSTATE_H
