//===- Wire.h - numbers and byte strings in the messages of the store and the handshake ---------------------------===//
//
// Little-endian, fixed width, no alignment: a host of another byte order reads the same values. A Reader never reads past
// its end; after a bad read `failed` stays true and everything else reads as zero.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_WIRE_H
#define BRAID_RUNTIME_BOOTSTRAP_WIRE_H

#include <cstdint>
#include <string>

namespace braid::runtime {

class Writer {
public:
  explicit Writer(std::string &to) : to(to) {}
  Writer &number(uint64_t value, unsigned width) {
    for (unsigned i = 0; i != width; ++i)
      to.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  Writer &u8(uint8_t value) { return number(value, 1); }
  Writer &u32(uint32_t value) { return number(value, 4); }
  Writer &u64(uint64_t value) { return number(value, 8); }
  Writer &bytes(const std::string &value) {
    to += value;
    return *this;
  }
  Writer &string(const std::string &value) { return u32(static_cast<uint32_t>(value.size())).bytes(value); }

private:
  std::string &to;
};

class Reader {
public:
  explicit Reader(const std::string &from) : at(from.data()), end(from.data() + from.size()) {}
  Reader(const char *data, size_t size) : at(data), end(data + size) {}
  uint64_t number(unsigned width) {
    if (static_cast<size_t>(end - at) < width) {
      failed = true;
      at = end;
      return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i != width; ++i)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(*at++)) << (8 * i);
    return value;
  }
  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  std::string bytes(size_t size) {
    if (static_cast<size_t>(end - at) < size) {
      failed = true;
      at = end;
      return {};
    }
    std::string value(at, size);
    at += size;
    return value;
  }
  std::string string() { return bytes(u32()); }
  size_t left() const { return static_cast<size_t>(end - at); }
  /// Everything was there and nothing is left over.
  bool complete() const { return !failed && at == end; }
  bool failed = false;

private:
  const char *at, *end;
};

} // namespace braid::runtime

#endif
