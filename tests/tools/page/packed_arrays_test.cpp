// SPDX-License-Identifier: MIT
#include "page/packed_arrays.h"

#include "base/base64.h"

#include <catch2/catch.hpp>

#include <random>

using namespace plush::tools;

TEST_CASE("Base64 gives back the bytes, and ends at a sign that it lacks") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (size_t size = 0; size < 40; ++size) {
    std::vector<unsigned char> bytes(size);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    const std::vector<std::byte> back = BytesOfBase64(Base64Of(bytes));
    REQUIRE(back.size() == size);
    for (size_t i = 0; i < size; ++i) CHECK(static_cast<unsigned char>(back[i]) == bytes[i]);
  }
  CHECK(BytesOfBase64("UGx1<c2g=").size() == 3);
}
