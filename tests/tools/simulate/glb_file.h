// SPDX-License-Identifier: MIT
// Evaluates the skins of exported .glb files as the glTF specification says.
#pragma once

#include "base/vec3.h"
#include "import/gltf_document.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace plush::tests {

/// A parsed .glb; the test fails if GltfDocument refuses it.
class GlbFile {
 public:
  explicit GlbFile(std::span<const std::byte> bytes);

  /// All components of an accessor. The test fails if the accessor is invalid.
  std::vector<float> Numbers(size_t accessor) const;

  nlohmann::json document;

 private:
  std::vector<std::byte> bytes_;  // the reader refers to them
  std::shared_ptr<tools::GltfDocument> reader_;
};

/// A skinned mesh as a viewer shows it at one key frame.
struct SkinnedMesh {
  std::vector<tools::Vec3d> positions;
  std::vector<tools::Vec3d> normals;
};

/// Evaluates node `mesh_node` of `glb` at key `frame` of animation 0 as the specification says:
/// joint matrix = global joint transform * inverse bind matrix, blended by weight; the mesh node's
/// own transform is ignored.
SkinnedMesh EvaluateSkin(const GlbFile& glb, size_t mesh_node, size_t frame);

}  // namespace plush::tests
