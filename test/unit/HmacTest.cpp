//===- HmacTest.cpp - SHA-256 and HMAC against the published vectors ----------------------------------------------===//
#include "bootstrap/Hmac.h"
#include <catch2/catch.hpp>

using namespace braid::runtime;

namespace {

std::string hexOf(const Digest &digest) { return hex(digest.data(), digest.size()); }

} // namespace

TEST_CASE("sha256: FIPS 180-4 examples and the lengths around a block", "[hmac]") {
  auto of = [](const std::string &text) { return hexOf(sha256(text.data(), text.size())); };
  CHECK(of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(of(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // Made with sha256sum: padding fits, just does not fit, and a whole block.
  CHECK(of(std::string(55, 'a')) == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  CHECK(of(std::string(56, 'a')) == "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  CHECK(of(std::string(64, 'a')) == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST_CASE("hmac: RFC 4231 test cases 1 to 4, 6 and 7", "[hmac]") {
  auto of = [](const std::string &key, const std::string &text) { return hexOf(hmacSha256(key, text)); };
  CHECK(of(std::string(20, '\x0b'), "Hi There") == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(of("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(of(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string key;
  for (char c = 1; c <= 25; ++c)
    key.push_back(c);
  CHECK(of(key, std::string(50, '\xcd')) == "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  CHECK(of(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(of(std::string(131, '\xaa'),
           "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
           "hashed before being used by the HMAC algorithm.") ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("digests are compared whole", "[hmac]") {
  Digest a = sha256("a", 1), b = a;
  CHECK(equalDigests(a.data(), b.data(), a.size()));
  for (size_t i : {size_t(0), a.size() - 1}) {
    b = a;
    b[i] ^= 1;
    CHECK_FALSE(equalDigests(a.data(), b.data(), a.size()));
  }
  CHECK(randomBytes(32) != randomBytes(32));
}
