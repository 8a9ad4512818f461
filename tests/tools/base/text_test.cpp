// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <random>

using namespace plush::tools;

TEST_CASE("Numbers and hashes have one text") {
  CHECK(NumberText(0.499) == "0.499");
  CHECK(NumberText(1.0e6) == "1000000");
  CHECK(NumberText(1.0e13) == "1e+13");
  CHECK(HexHash(0xab) == "00000000000000ab");
}

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

TEST_CASE("For any bytes, the result is valid UTF-8 for JSON, and bounded") {
  std::mt19937 random(9);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random() % 3000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string name = PrintableUtf8(bytes);
    REQUIRE(name.size() <= kMaxNameBytes);
    REQUIRE_NOTHROW(nlohmann::json(name).dump());
  }
}

TEST_CASE("Edit distance counts single edits and swaps, and ignores case") {
  CHECK(EditDistance("", "") == 0);
  CHECK(EditDistance("", "abc") == 3);
  CHECK(EditDistance("friction", "friction") == 0);
  CHECK(EditDistance("frction", "friction") == 1);    // insertion
  CHECK(EditDistance("frictioon", "friction") == 1);  // deletion
  CHECK(EditDistance("fractiom", "friction") == 2);   // two replacements
  CHECK(EditDistance("firction", "friction") == 1);   // swap
  CHECK(EditDistance("Friction", "friction") == 0);
  for (const char* a : {"kitten", "mitre", ""}) {
    for (const char* b : {"sitting", "metre", "x"}) CHECK(EditDistance(a, b) == EditDistance(b, a));
  }
}

TEST_CASE("The nearest name is the closest candidate, the first of equals") {
  const std::array<std::string_view, 3> names = {"young", "poisson", "density"};
  CHECK(NearestName("yuong", names) == "young");
  CHECK(NearestName("possion", names) == "poisson");
  CHECK(NearestName("DENSITY", names) == "density");
  CHECK(NearestName("anything", {}).empty());
  CHECK(plush::tools::UnknownNameMessage("key", "densty", names) ==
        "unknown key 'densty'; did you mean 'density'?");
  const std::string endless(100000, 'x');
  CHECK(plush::tools::UnknownNameMessage("key", endless, names).size() < 150);
}

TEST_CASE("A depfile lists each prerequisite on its own line") {
  CHECK(DepfileText("out/a.plush", {"a.obj", "a.mtl"}) == "out/a.plush: \\\n  a.obj \\\n  a.mtl\n");
  CHECK(DepfileText("a.plush", {}) == "a.plush:\n");
}

TEST_CASE("Characters that mean something to Make are escaped") {
  CHECK(DepfileText("a b.plush", {"c#d", "$e", "f\\g"}) ==
        "a\\ b.plush: \\\n  c\\#d \\\n  $$e \\\n  f\\g\n");
  CHECK(DepfileText("t", {"back\\ slash"}) == "t: \\\n  back\\\\\\ slash\n");
  CHECK(DepfileText("t", {"line\nend", "ok"}) == "t: \\\n  ok\n");
  CHECK(DepfileText("t\rt", {"ok"}).empty());
}
