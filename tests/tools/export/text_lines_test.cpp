// SPDX-License-Identifier: MIT
#include "export/text_lines.h"

#include "tools/export/exported_bar.h"

#include <catch2/catch.hpp>

#include <cfloat>
#include <cstdint>
#include <limits>

using plush::tools::AppendLine;

TEST_CASE("Words of a line are separated by one blank") {
  std::string text = "head\n";
  AppendLine(&text, "v", 1, size_t{2}, -0.5f, std::string("end"));
  AppendLine(&text, "alone");
  CHECK(text == "head\nv 1 2 -0.5 end\nalone\n");
}

TEST_CASE("Numbers read back as they were, in few digits") {
  for (const float number : {0.1f, -0.0f, 1.0f / 3.0f, FLT_MAX, FLT_MIN, -FLT_TRUE_MIN, 1.0e9f}) {
    std::string text;
    plush::tools::AppendWord(&text, number);
    CHECK(plush::tests::Number(text) == number);
    CHECK(text.size() <= 16);
  }
  std::string text;
  AppendLine(&text, 0.1f, std::numeric_limits<uint64_t>::max());
  CHECK(text == "0.1 18446744073709551615\n");
}
