// SPDX-License-Identifier: MIT
#include "tools/simulate/glb_file.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <map>

namespace plush::tests {
namespace {

using nlohmann::json;
using tools::Vec3d;

// Column-major 4 x 4.
using Matrix = std::array<double, 16>;

uint32_t Word(std::span<const std::byte> bytes, size_t offset) {
  REQUIRE(offset + 4 <= bytes.size());
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, 4);
  return word;
}

size_t NumComponents(const std::string& type) {
  static const std::map<std::string, size_t> kNumbers = {
      {"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
  return kNumbers.at(type);
}

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix c = {};
  for (size_t column = 0; column < 4; ++column) {
    for (size_t row = 0; row < 4; ++row) {
      for (size_t k = 0; k < 4; ++k) c[4 * column + row] += a[4 * k + row] * b[4 * column + k];
    }
  }
  return c;
}

Matrix FromTrs(const std::array<double, 3>& t, const std::array<double, 4>& q) {
  const auto [x, y, z, w] = q;
  return {1 - 2 * (y * y + z * z),
          2 * (x * y + z * w),
          2 * (x * z - y * w),
          0,
          2 * (x * y - z * w),
          1 - 2 * (x * x + z * z),
          2 * (y * z + x * w),
          0,
          2 * (x * z + y * w),
          2 * (y * z - x * w),
          1 - 2 * (x * x + y * y),
          0,
          t[0],
          t[1],
          t[2],
          1};
}

Vec3d Apply(const Matrix& m, const Vec3d& v, double w) {
  Vec3d r;
  for (int row = 0; row < 3; ++row) {
    const auto i = static_cast<size_t>(row);
    r[row] = m[i] * v.x + m[4 + i] * v.y + m[8 + i] * v.z + m[12 + i] * w;
  }
  return r;
}

// The local transforms of all nodes at a key frame: their own, overridden by animation channels.
std::vector<Matrix> LocalTransforms(const GlbFile& glb, size_t frame) {
  const json& nodes = glb.document["nodes"];
  std::vector<std::array<double, 3>> translations;
  std::vector<std::array<double, 4>> rotations;
  for (const json& node : nodes) {
    translations.push_back(node.value("translation", std::array<double, 3>{0, 0, 0}));
    rotations.push_back(node.value("rotation", std::array<double, 4>{0, 0, 0, 1}));
  }
  std::map<size_t, std::vector<float>> outputs;
  const json animations = glb.document.value("animations", json::array());
  for (const json& animation : animations) {
    for (const json& channel : animation["channels"]) {
      const json& sampler = animation["samplers"][channel["sampler"].get<size_t>()];
      const size_t output = sampler["output"];
      if (!outputs.contains(output)) outputs[output] = glb.Floats(output);
      const size_t node = channel["target"]["node"];
      const std::vector<float>& values = outputs[output];
      const bool turns = channel["target"]["path"] == "rotation";
      const size_t width = turns ? 4 : 3;
      REQUIRE((frame + 1) * width <= values.size());
      for (size_t i = 0; i < width; ++i) {
        const double value = values[frame * width + i];
        (turns ? rotations[node][i] : translations[node][i]) = value;
      }
    }
  }
  std::vector<Matrix> transforms;
  for (size_t i = 0; i < nodes.size(); ++i) {
    transforms.push_back(FromTrs(translations[i], rotations[i]));
  }
  return transforms;
}

std::vector<Matrix> GlobalTransforms(const GlbFile& glb, size_t frame) {
  const std::vector<Matrix> local = LocalTransforms(glb, frame);
  std::vector<Matrix> global(local.size());
  const auto visit = [&](const auto& self, size_t node, const Matrix& parent) -> void {
    global[node] = Product(parent, local[node]);
    const json& object = glb.document["nodes"][node];
    for (const json& child : object.value("children", json::array())) {
      self(self, child.get<size_t>(), global[node]);
    }
  };
  const Matrix identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  for (const json& root : glb.document["scenes"][0]["nodes"]) {
    visit(visit, root.get<size_t>(), identity);
  }
  return global;
}

Vec3d Triple(const std::vector<float>& numbers, size_t index) {
  return {numbers[3 * index], numbers[3 * index + 1], numbers[3 * index + 2]};
}

// Global joint transform times inverse bind matrix, for each joint of the skin.
std::vector<Matrix> JointMatrices(const GlbFile& glb, const json& skin, size_t frame) {
  const std::vector<Matrix> global = GlobalTransforms(glb, frame);
  const std::vector<float> binds = glb.Floats(skin["inverseBindMatrices"]);
  std::vector<Matrix> matrices;
  for (size_t i = 0; i < skin["joints"].size(); ++i) {
    Matrix bind = {};
    for (size_t k = 0; k < 16; ++k) bind[k] = binds[16 * i + k];
    matrices.push_back(Product(global[skin["joints"][i].get<size_t>()], bind));
  }
  return matrices;
}

}  // namespace

GlbFile::GlbFile(std::span<const std::byte> bytes) {
  REQUIRE(Word(bytes, 0) == 0x46546C67);
  REQUIRE(Word(bytes, 4) == 2);
  REQUIRE(Word(bytes, 8) == bytes.size());
  const size_t json_bytes = Word(bytes, 12);
  REQUIRE(Word(bytes, 16) == 0x4E4F534A);
  REQUIRE(20 + json_bytes + 8 <= bytes.size());
  const char* text = reinterpret_cast<const char*>(bytes.data()) + 20;
  document = json::parse(text, text + json_bytes);
  const size_t binary = 20 + json_bytes;
  REQUIRE(Word(bytes, binary + 4) == 0x004E4942);
  const auto chunk = bytes.subspan(binary + 8);
  REQUIRE(Word(bytes, binary) == chunk.size());
  REQUIRE(chunk.size() - document["buffers"][0]["byteLength"].get<size_t>() < 4);
  buffer_.assign(chunk.begin(), chunk.end());
}

template <class T>
std::vector<T> GlbFile::Components(const json& accessor) const {
  const json& view = document["bufferViews"][accessor["bufferView"].get<size_t>()];
  const size_t count =
      accessor["count"].get<size_t>() * NumComponents(accessor["type"].get<std::string>());
  const size_t offset = accessor.value("byteOffset", size_t{0});
  REQUIRE(offset + count * sizeof(T) <= view["byteLength"].get<size_t>());
  const size_t start = view["byteOffset"].get<size_t>() + offset;
  REQUIRE(start % sizeof(T) == 0);
  REQUIRE(start + count * sizeof(T) <= buffer_.size());
  std::vector<T> numbers(count);
  std::memcpy(numbers.data(), buffer_.data() + start, count * sizeof(T));
  return numbers;
}

std::vector<float> GlbFile::Floats(size_t accessor) const {
  const json& object = document["accessors"][accessor];
  REQUIRE(object["componentType"] == 5126);
  return Components<float>(object);
}

std::vector<uint32_t> GlbFile::Integers(size_t accessor) const {
  const json& object = document["accessors"][accessor];
  if (object["componentType"] == 5125) return Components<uint32_t>(object);
  REQUIRE(object["componentType"] == 5123);
  const auto words = Components<uint16_t>(object);
  return {words.begin(), words.end()};
}

SkinnedMesh EvaluateSkin(const GlbFile& glb, size_t mesh_node, size_t frame) {
  const json& node = glb.document["nodes"][mesh_node];
  const json& skin = glb.document["skins"][node["skin"].get<size_t>()];
  const json& mesh = glb.document["meshes"][node["mesh"].get<size_t>()];
  const json& attributes = mesh["primitives"][0]["attributes"];
  const std::vector<Matrix> joint_matrices = JointMatrices(glb, skin, frame);
  const auto positions = glb.Floats(attributes["POSITION"]);
  const auto normals = glb.Floats(attributes["NORMAL"]);
  const auto weights = glb.Floats(attributes["WEIGHTS_0"]);
  const auto joints = glb.Integers(attributes["JOINTS_0"]);
  SkinnedMesh skinned;
  for (size_t v = 0; v < positions.size() / 3; ++v) {
    Vec3d position;
    Vec3d normal;
    for (size_t k = 4 * v; k < 4 * v + 4; ++k) {
      const Matrix& m = joint_matrices.at(joints[k]);
      position += static_cast<double>(weights[k]) * Apply(m, Triple(positions, v), 1.0);
      normal += static_cast<double>(weights[k]) * Apply(m, Triple(normals, v), 0.0);
    }
    skinned.positions.push_back(position);
    skinned.normals.push_back(normal / Length(normal));
  }
  return skinned;
}

}  // namespace plush::tests
