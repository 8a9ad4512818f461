// SPDX-License-Identifier: MIT
#include "simulate/palette.h"

#include "base/text.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace plush::tools {
namespace {

// For other names, linear RGB: honey, teal, coral, cream, slate, leaf, plum, sky, cocoa, rose.
constexpr Vec3 kColours[] = {{0.68f, 0.34f, 0.09f}, {0.05f, 0.38f, 0.36f}, {0.78f, 0.18f, 0.12f},
                             {0.86f, 0.74f, 0.52f}, {0.10f, 0.13f, 0.20f}, {0.20f, 0.45f, 0.12f},
                             {0.32f, 0.10f, 0.34f}, {0.18f, 0.46f, 0.78f}, {0.20f, 0.09f, 0.04f},
                             {0.80f, 0.32f, 0.40f}};

constexpr NamedValue<Vec3> kColourWords[] = {
    {"black", {0.012f, 0.010f, 0.010f}}, {"brown", {0.50f, 0.235f, 0.085f}},
    {"coral", {0.78f, 0.13f, 0.11f}},    {"cream", {0.86f, 0.67f, 0.42f}},
    {"crimson", {0.50f, 0.05f, 0.10f}},  {"orange", {0.95f, 0.23f, 0.015f}},
    {"peach", {0.95f, 0.55f, 0.42f}},    {"rose", {0.80f, 0.36f, 0.30f}},
    {"white", {0.95f, 0.95f, 0.92f}},    {"yellow", {1.0f, 0.66f, 0.035f}}};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool IsLetter(char c) { return Lower(c) >= 'a' && Lower(c) <= 'z'; }

// The colour that a word of `name` names, or null. Words are runs of letters: "primrose" is not
// rose.
const Vec3* ColourNamedIn(std::string_view name) {
  size_t begin = 0;
  while (begin < name.size()) {
    size_t end = begin;
    std::string word;
    while (end < name.size() && IsLetter(name[end])) word += Lower(name[end++]);
    for (const NamedValue<Vec3>& colour : kColourWords) {
      if (colour.name == word) return &colour.value;
    }
    begin = std::max(end, begin + 1);
  }
  return nullptr;
}

}  // namespace

uint32_t Palette::IndexOf(std::string_view name) {
  for (size_t i = 0; i < materials_.size(); ++i) {
    if (materials_[i].name == name) return static_cast<uint32_t>(i);
  }
  const Vec3* named = ColourNamedIn(name);
  materials_.push_back({std::string(name), named != nullptr
                                               ? *named
                                               : kColours[num_unnamed_++ % std::size(kColours)]});
  return static_cast<uint32_t>(materials_.size() - 1);
}

}  // namespace plush::tools
