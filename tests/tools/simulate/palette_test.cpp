// SPDX-License-Identifier: MIT
#include "simulate/palette.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <tuple>

using plush::Vec3;
using plush::tools::Palette;

namespace palette_test {

Vec3 ColourOf(Palette* palette, std::string_view name) {
  return palette->materials()[palette->IndexOf(name)].linear_rgb;
}

std::tuple<float, float, float> Numbers(const Vec3& v) { return {v.x, v.y, v.z}; }

TEST_CASE("A material keeps its index and colour however often it is asked for") {
  Palette palette;
  CHECK(palette.IndexOf("skin") == 0);
  CHECK(palette.IndexOf("") == 1);
  CHECK(palette.IndexOf("skin") == 0);
  CHECK(palette.materials().size() == 2);
}

TEST_CASE("Ten materials without a colour in their names have ten colours") {
  Palette palette;
  std::set<std::tuple<float, float, float>> colours;
  for (int i = 0; i < 10; ++i) {
    palette.IndexOf("black");  // takes none of the ten
    colours.insert(Numbers(ColourOf(&palette, std::string(1, static_cast<char>('a' + i)))));
  }
  CHECK(colours.size() == 10);
}

TEST_CASE("A colour word in a material's name gives it that colour") {
  Palette palette;
  const auto black = Numbers(ColourOf(&palette, "black"));
  CHECK(Numbers(ColourOf(&palette, "Eye_Black.001")) == black);
  CHECK(Numbers(ColourOf(&palette, "EYES-BLACK")) == black);
  CHECK(Numbers(ColourOf(&palette, "blackboard")) != black);
  const Vec3 rose = ColourOf(&palette, "rose");
  CHECK(rose.x > 2.0f * rose.y);
  CHECK(Numbers(ColourOf(&palette, "Primrose")) != Numbers(rose));
}

TEST_CASE("Colours are valid linear factors") {
  Palette palette;
  for (const char* name : {"white", "yellow", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
    const Vec3 c = ColourOf(&palette, name);
    for (const float x : {c.x, c.y, c.z}) CHECK((x >= 0.0f && x <= 1.0f));
  }
}

}  // namespace palette_test
