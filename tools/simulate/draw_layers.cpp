// SPDX-License-Identifier: MIT
// Collects the lines that World::Draw draws, one layer at a time.
// Source of the colour curve: IEC 61966-2-1, sRGB.
#include "simulate/draw_layers.h"

#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush::tools {
namespace {

constexpr NamedValue<uint32_t> kLayers[] = {{"cage", kDrawCage},
                                            {"pins", kDrawPins},
                                            {"contacts", kDrawContacts},
                                            {"bounds", kDrawBounds},
                                            {"sleep", kDrawSleep},
                                            {"colliders", kDrawColliders},
                                            {"attachments", kDrawAttachments},
                                            {"intersections", kDrawIntersections}};

void AddLine(void* user, const Vec3& a, const Vec3& b, uint32_t colour) {
  LineLayer& layer = *static_cast<LineLayer*>(user);
  layer.ends.push_back(a);
  layer.ends.push_back(b);
  layer.colours.push_back(colour);
}

void AddPoint(void* user, const Vec3& p, float size, uint32_t colour) {
  const float r = 0.5f * size;
  AddLine(user, {p.x - r, p.y, p.z}, {p.x + r, p.y, p.z}, colour);
  AddLine(user, {p.x, p.y - r, p.z}, {p.x, p.y + r, p.z}, colour);
  AddLine(user, {p.x, p.y, p.z - r}, {p.x, p.y, p.z + r}, colour);
}

}  // namespace

Result<uint32_t> ParseDrawLayers(std::string_view text) {
  std::vector<std::string_view> known;
  for (const auto& layer : kLayers) known.push_back(layer.name);
  uint32_t flags = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    begin = end + 1;
    uint32_t flag = 0;
    for (const auto& layer : kLayers) {
      if (layer.name == name) flag = layer.value;
    }
    if (flag == 0) return Error{ExitCode::kUsage, UnknownNameMessage("layer", name, known), ""};
    flags |= flag;
  }
  return flags;
}

std::string DrawLayerNames() {
  std::string names;
  for (const auto& layer : kLayers) names += (names.empty() ? "" : ",") + std::string(layer.name);
  return names;
}

std::vector<LineLayer> DrawLayers(const World& world, uint32_t flags) {
  if ((flags & kDrawSleep) != 0) flags &= ~static_cast<uint32_t>(kDrawCage);
  std::vector<LineLayer> layers;
  for (const auto& known : kLayers) {
    if ((flags & known.value) == 0) continue;
    LineLayer layer = {known.name, {}, {}};
    DebugDraw draw;
    draw.point = AddPoint;
    draw.line = AddLine;
    draw.user = &layer;
    draw.flags = known.value;
    world.Draw(draw);
    if (!layer.colours.empty()) layers.push_back(std::move(layer));
  }
  return layers;
}

Vec3 LinearColour(uint32_t colour) {
  const auto linear = [colour](int shift) {
    const double c = ((colour >> shift) & 0xffu) / 255.0;
    return static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  };
  return {linear(16), linear(8), linear(0)};
}

}  // namespace plush::tools
