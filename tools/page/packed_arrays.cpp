// SPDX-License-Identifier: MIT
#include "page/packed_arrays.h"

#include "base/base64.h"

#include <meshoptimizer.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace plush::tools {
namespace {

constexpr double kSteps = 65535.0;

struct Quantised {
  uint16_t x = 0, y = 0, z = 0, unused = 0;
};

uint16_t Quantise(float value, double low, double step) {
  if (step <= 0.0) return 0;
  const double steps = std::floor((double{value} - low) / step + 0.5);
  return static_cast<uint16_t>(std::clamp(steps, 0.0, kSteps));
}

}  // namespace

nlohmann::json PackedArrays::Add(const std::vector<unsigned char>& packed, size_t count,
                                 size_t stride, const char* mode) {
  const size_t at = bytes_.size();
  bytes_.insert(bytes_.end(), packed.begin(), packed.end());
  return {
      {"at", at}, {"size", packed.size()}, {"count", count}, {"stride", stride}, {"mode", mode}};
}

nlohmann::json PackedArrays::AddRows(const void* rows, size_t count, size_t stride) {
  std::vector<unsigned char> packed(meshopt_encodeVertexBufferBound(count, stride));
  meshopt_encodeVertexVersion(0);
  packed.resize(meshopt_encodeVertexBuffer(packed.data(), packed.size(), rows, count, stride));
  return Add(packed, count, stride, "ATTRIBUTES");
}

nlohmann::json PackedArrays::AddTriangles(std::span<const uint32_t> corners, size_t num_vertices) {
  std::vector<unsigned char> packed(meshopt_encodeIndexBufferBound(corners.size(), num_vertices));
  meshopt_encodeIndexVersion(1);
  packed.resize(
      meshopt_encodeIndexBuffer(packed.data(), packed.size(), corners.data(), corners.size()));
  return Add(packed, corners.size(), sizeof(uint32_t), "TRIANGLES");
}

nlohmann::json PackedArrays::AddPositions(std::span<const Vec3> positions) {
  std::array<double, 3> low = {}, high = {}, step = {};
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::array<double, 3> p = {positions[i].x, positions[i].y, positions[i].z};
    for (size_t k = 0; k < 3; ++k) {
      low[k] = i == 0 ? p[k] : std::min(low[k], p[k]);
      high[k] = i == 0 ? p[k] : std::max(high[k], p[k]);
    }
  }
  for (size_t k = 0; k < 3; ++k) step[k] = (high[k] - low[k]) / kSteps;
  std::vector<Quantised> rows;
  rows.reserve(positions.size());
  for (const Vec3& p : positions) {
    rows.push_back({Quantise(p.x, low[0], step[0]), Quantise(p.y, low[1], step[1]),
                    Quantise(p.z, low[2], step[2])});
  }
  nlohmann::json array = AddRows(rows);
  array["low"] = low;
  array["step"] = step;
  return array;
}

std::string PackedArrays::Base64() const { return Base64Of(bytes_); }

}  // namespace plush::tools
