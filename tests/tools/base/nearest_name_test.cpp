// SPDX-License-Identifier: MIT
#include "base/nearest_name.h"

#include <catch2/catch.hpp>

#include <array>

using plush::tools::EditDistance;
using plush::tools::NearestName;

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
