// SPDX-License-Identifier: MIT
#include "simulate/palette.h"

#include <array>

namespace plush::tools {
namespace {

// Soft toy colours, linear RGB: honey, teal, coral, cream, slate, leaf, plum, sky, cocoa, rose.
constexpr std::array<Vec3, 10> kColours = {{{0.68f, 0.34f, 0.09f},
                                            {0.05f, 0.38f, 0.36f},
                                            {0.78f, 0.18f, 0.12f},
                                            {0.86f, 0.74f, 0.52f},
                                            {0.10f, 0.13f, 0.20f},
                                            {0.20f, 0.45f, 0.12f},
                                            {0.32f, 0.10f, 0.34f},
                                            {0.18f, 0.46f, 0.78f},
                                            {0.20f, 0.09f, 0.04f},
                                            {0.80f, 0.32f, 0.40f}}};

}  // namespace

uint32_t Palette::IndexOf(std::string_view name) {
  for (size_t i = 0; i < materials_.size(); ++i) {
    if (materials_[i].name == name) return static_cast<uint32_t>(i);
  }
  const Vec3 colour = kColours[materials_.size() % kColours.size()];
  materials_.push_back({std::string(name), colour});
  return static_cast<uint32_t>(materials_.size() - 1);
}

}  // namespace plush::tools
