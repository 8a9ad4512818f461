// SPDX-License-Identifier: MIT
// A reader of .glb files for tests, written from the glTF specification without the writer's code.
#pragma once

#include "base/vec3.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace plush::tests {

/// A parsed .glb; fails the test where the frame is wrong.
class GlbFile {
 public:
  explicit GlbFile(std::span<const std::byte> bytes);

  /// All components of a float accessor.
  std::vector<float> Floats(size_t accessor) const;
  /// All components of an accessor of unsigned integers of 16 or 32 bits.
  std::vector<uint32_t> Integers(size_t accessor) const;

  nlohmann::json document;

 private:
  template <class T>
  std::vector<T> Components(const nlohmann::json& accessor) const;

  std::vector<std::byte> buffer_;
};

/// A skinned mesh as a viewer shows it at one key frame.
struct SkinnedMesh {
  std::vector<tools::Vec3d> positions;
  std::vector<tools::Vec3d> normals;
};

/// Evaluates node `mesh_node` of `glb` at key `frame` of animation 0 by the rules of the
/// specification: joint matrix = global joint transform * inverse bind matrix, blended by weight,
/// the mesh node's own transform ignored.
SkinnedMesh EvaluateSkin(const GlbFile& glb, size_t mesh_node, size_t frame);

}  // namespace plush::tests
