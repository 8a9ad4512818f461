// SPDX-License-Identifier: MIT
#include "import/base64.h"

#include <catch2/catch.hpp>

#include <string>

namespace {

std::string Decoded(const std::string& text) {
  const auto bytes = plush::tools::DecodeBase64(text);
  if (!bytes) return "refused";
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

}  // namespace

TEST_CASE("The test vectors of RFC 4648 decode, padded or not") {
  CHECK(Decoded("").empty());
  CHECK(Decoded("Zg==") == "f");
  CHECK(Decoded("Zg") == "f");
  CHECK(Decoded("Zm8=") == "fo");
  CHECK(Decoded("Zm9v") == "foo");
  CHECK(Decoded("Zm9vYg==") == "foob");
  CHECK(Decoded("Zm9vYmFy") == "foobar");
  CHECK(Decoded("+/+/") == "\xFB\xFF\xBF");
}

TEST_CASE("What is not base64 is refused") {
  for (const char* text : {"Z", "Zm9vY", "Zm 9v", "Zm9v\n", "Zm=v", "Zm9-", "\xFF\xFF"}) {
    CHECK(Decoded(text) == "refused");
  }
}
