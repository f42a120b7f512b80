//===- Buffers.h - landing buffers, kept for the next message -----------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_TCP_BUFFERS_H
#define BRAID_RUNTIME_TRANSPORTS_TCP_BUFFERS_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace braid::runtime::tcp {

struct Buffer {
  char *data = nullptr;
  size_t bytes = 0; ///< of the message
  size_t room = 0;
  uint16_t note = 0; ///< of the message
};

/// Sizes are powers of two; fresh pages cost more than the copy into them, so buffers are kept.
class BufferPool {
public:
  ~BufferPool() {
    for (std::vector<char *> &list : free)
      for (char *data : list)
        std::free(data);
  }
  /// `data` is null if there is no memory.
  Buffer take(size_t bytes) {
    size_t order = 6;
    while (order < 63 && (size_t(1) << order) < bytes)
      ++order;
    Buffer buffer{nullptr, bytes, size_t(1) << order};
    if (!free[order].empty()) {
      buffer.data = free[order].back();
      free[order].pop_back();
      kept -= buffer.room;
    } else if (order < 63) {
      buffer.data = static_cast<char *>(std::aligned_alloc(64, buffer.room));
    }
    return buffer;
  }
  void give(Buffer &buffer) {
    size_t order = 6;
    while ((size_t(1) << order) < buffer.room)
      ++order;
    if (kept + buffer.room > mostKept) {
      std::free(buffer.data);
    } else {
      free[order].push_back(buffer.data);
      kept += buffer.room;
    }
    buffer = Buffer();
  }

private:
  static constexpr size_t mostKept = 64u << 20;
  std::vector<char *> free[64];
  size_t kept = 0;
};

} // namespace braid::runtime::tcp

#endif
