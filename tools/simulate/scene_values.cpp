// SPDX-License-Identifier: MIT
#include "simulate/scene_values.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr size_t kMaxKeys = 100000;
constexpr NumberRange kKeyTimeRange = {0.0, 1.0e9};
constexpr int64_t kAllBits = UINT32_MAX;

void ReadRotation(const JsonObject& object, Quat* out) {
  std::array<double, 4> q = {};
  if (!object.Vector("rotation", q)) return;
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (std::fabs(length - 1.0) > 0.01) {
    object.Mistake("rotation", "quaternion [x, y, z, w] is not of unit length");
    return;
  }
  const auto scaled = [&](size_t i) { return static_cast<float>(q[i] / length); };
  *out = {scaled(0), scaled(1), scaled(2), scaled(3)};
}

}  // namespace

bool ReadVec3(const JsonObject& object, const char* key, Vec3* out) {
  std::array<double, 3> v = {};
  if (!object.Vector(key, v)) return false;
  *out = {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
  return true;
}

void ReadPose(const JsonObject& object, Pose* out) {
  ReadVec3(object, "position", &out->position);
  ReadRotation(object, &out->rotation);
}

void ReadMask(const JsonObject& object, uint32_t* out) { object.Integer("mask", 0, kAllBits, out); }

void ReadFilter(const JsonObject& object, Filter* out, std::string* mistake) {
  if (!object.Has("filter")) return;
  const JsonObject filter(*object.Value("filter"), object.PathOf("filter"),
                          {"category", "mask", "group"}, mistake);
  filter.Integer("category", 0, kAllBits, &out->category);
  ReadMask(filter, &out->mask);
  filter.Integer("group", INT32_MIN, INT32_MAX, &out->group);
}

void ReadMotion(const JsonObject& object, Motion* out, std::string* mistake) {
  for (const json& value : object.Array("motion", kMaxKeys)) {
    const std::string name = "motion[" + std::to_string(out->keys.size()) + "]";
    const JsonObject reader(value, object.PathOf(name), {"t", "position", "rotation"}, mistake);
    MotionKey key;
    if (!reader.Has("t")) reader.Mistake("t", "is missing");
    if (!reader.Has("position")) reader.Mistake("position", "is missing");
    reader.Number("t", kKeyTimeRange, &key.time);
    ReadPose(reader, &key.pose);
    if (!out->keys.empty() && key.time <= out->keys.back().time) {
      reader.Mistake("t", "is not later than that of the key before");
    }
    out->keys.push_back(key);
  }
  if (object.Has("motion") && out->keys.empty()) object.Mistake("motion", "has no key");
}

}  // namespace plush::tools
