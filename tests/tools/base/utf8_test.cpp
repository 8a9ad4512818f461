// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <random>

using plush::tools::kMaxNameBytes;
using plush::tools::PrintableUtf8;

TEST_CASE("Valid names stay as they are") {
  for (const char* name : {"", "duck", "Körper", "熊", "\xF0\x9F\x90\xBB bear", "\xED\x9F\xBF"}) {
    CHECK(PrintableUtf8(name) == name);
  }
}

TEST_CASE("Bytes outside valid sequences and control characters are replaced") {
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(PrintableUtf8("a\xFF"
                      "b") == "a" + mark + "b");
  CHECK(PrintableUtf8("\xC3") == mark);
  CHECK(PrintableUtf8("\xC0\xAF") == mark + mark);                        // overlong
  CHECK(PrintableUtf8("\xED\xA0\x80") == mark + mark + mark);             // surrogate
  CHECK(PrintableUtf8("\xF4\x90\x80\x80") == mark + mark + mark + mark);  // beyond U+10FFFF
  CHECK(PrintableUtf8("a\x1B[31m\n") == "a" + mark + "[31m" + mark);
  CHECK(PrintableUtf8("\xC2\x9B") == mark);
  CHECK(PrintableUtf8(std::string_view("\0x", 2)) == mark + "x");
}

TEST_CASE("Whatever the bytes, the result is JSON's UTF-8 and bounded") {
  std::mt19937 random(9);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random() % 3000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string name = PrintableUtf8(bytes);
    REQUIRE(name.size() <= kMaxNameBytes);
    REQUIRE_NOTHROW(nlohmann::json(name).dump());
  }
}
