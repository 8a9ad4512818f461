// SPDX-License-Identifier: MIT
// Evaluates skins in double precision, independently of the exporter.
// Source: Khronos Group. glTF 2.0 Specification. 2021 (3.7.3 Skins)
#include "tools/simulate/glb_file.h"

#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <utility>

namespace plush::tests {
namespace {

using nlohmann::json;
using tools::Vec3d;

// Column-major 4 x 4.
using Matrix = std::array<double, 16>;

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

// Local transforms of all nodes at a key frame: the nodes' own, overridden by animation channels.
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
      if (!outputs.contains(output)) outputs[output] = glb.Numbers(output);
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
  const std::vector<float> binds = glb.Numbers(skin["inverseBindMatrices"]);
  std::vector<Matrix> matrices;
  for (size_t i = 0; i < skin["joints"].size(); ++i) {
    Matrix bind = {};
    for (size_t k = 0; k < 16; ++k) bind[k] = binds[16 * i + k];
    matrices.push_back(Product(global[skin["joints"][i].get<size_t>()], bind));
  }
  return matrices;
}

}  // namespace

GlbFile::GlbFile(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {
  auto parsed = tools::GltfDocument::Parse(bytes_, "exported.glb");
  if (!parsed.ok()) FAIL(parsed.error().message);
  reader_ = std::make_shared<tools::GltfDocument>(std::move(parsed.value()));
  document = reader_->root();
}

std::vector<float> GlbFile::Numbers(size_t accessor) const {
  INFO("accessor " << accessor);
  return reader_->ReadAccessor(accessor).values;
}

SkinnedMesh EvaluateSkin(const GlbFile& glb, size_t mesh_node, size_t frame) {
  const json& node = glb.document["nodes"][mesh_node];
  const json& skin = glb.document["skins"][node["skin"].get<size_t>()];
  const json& mesh = glb.document["meshes"][node["mesh"].get<size_t>()];
  const json& attributes = mesh["primitives"][0]["attributes"];
  const std::vector<Matrix> joint_matrices = JointMatrices(glb, skin, frame);
  const auto positions = glb.Numbers(attributes["POSITION"]);
  const auto normals = glb.Numbers(attributes["NORMAL"]);
  const auto weights = glb.Numbers(attributes["WEIGHTS_0"]);
  const auto joints = glb.Numbers(attributes["JOINTS_0"]);
  SkinnedMesh skinned;
  for (size_t v = 0; v < positions.size() / 3; ++v) {
    Vec3d position;
    Vec3d normal;
    for (size_t k = 4 * v; k < 4 * v + 4; ++k) {
      const Matrix& m = joint_matrices.at(static_cast<size_t>(joints[k]));
      position += static_cast<double>(weights[k]) * Apply(m, Triple(positions, v), 1.0);
      normal += static_cast<double>(weights[k]) * Apply(m, Triple(normals, v), 0.0);
    }
    skinned.positions.push_back(position);
    skinned.normals.push_back(normal / Length(normal));
  }
  return skinned;
}

}  // namespace plush::tests
