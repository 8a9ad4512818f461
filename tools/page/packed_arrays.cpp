// SPDX-License-Identifier: MIT
#include "page/packed_arrays.h"

#include <meshoptimizer.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace plush::tools {
namespace {

constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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

std::vector<std::byte> BytesOfBase64(std::string_view text) {
  std::vector<std::byte> bytes;
  uint32_t bits = 0, num_bits = 0;
  for (const char c : text) {
    const size_t digit = std::string_view(kLetters).find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6 | static_cast<uint32_t>(digit)) & 0xffffu;
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> num_bits & 255u));
  }
  return bytes;
}

std::string Base64Of(std::span<const unsigned char> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t given = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < given ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) {
      text += k <= given ? kLetters[bits >> (18 - 6 * k) & 63u] : '=';
    }
  }
  return text;
}

}  // namespace plush::tools
