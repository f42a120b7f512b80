//===- Hmac.h - SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104) ---------------------------------------------------===//
//
// Ranks prove that they know the job's secret by a code over fresh random numbers, so the secret itself never travels.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_HMAC_H
#define BRAID_RUNTIME_BOOTSTRAP_HMAC_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace braid::runtime {

using Digest = std::array<uint8_t, 32>;

Digest sha256(const void *data, size_t size);
Digest hmacSha256(const std::string &key, const std::string &message);

/// Takes the same time wherever the first difference is.
bool equalDigests(const void *a, const void *b, size_t size);

std::string hex(const void *data, size_t size);
inline std::string bytesOf(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

/// Bytes from the kernel's generator; ends the program if there is none, since nothing would be secret then.
std::string randomBytes(size_t size);

} // namespace braid::runtime

#endif
