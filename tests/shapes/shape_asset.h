// SPDX-License-Identifier: MIT
// Assets of procedural tet meshes, and buffers to put them in.
#pragma once

#include "plush/asset.h"

#include "bake/asset_writer.h"
#include "mesh/tet_mesh.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace plush::test {

/// Content of a .plush file for `mesh`:
/// - render surface: the boundary, with three unshared vertices per face, in two parts; its UVs are
///   degenerate on some faces
/// - regions "high" and "low": the nodes in the upper and lower quarter of the extent along y
/// - mass: density times volume
/// - material's name: "skin"
tools::AssetContent ContentOf(const tools::TetMesh& mesh, const tools::Material& material = {},
                              double dt = 0.01);

/// The same for a body of two materials and with damping: "skin" of 1e5 Pa, 0.4, 1000 kg/m^3 for
/// the first half of the tets, "shoe" of 4e5 Pa, 0.3, 1500 kg/m^3 for the others. The region "low"
/// has the bind pose {0.05, -0.1, 0.2}, {0.5, -0.5, 0.5, 0.5}.
tools::AssetContent TwoMaterialContentOf(const tools::TetMesh& mesh, double dt = 0.01);

/// Divides the nodes into `count` clusters, or fewer if there are few nodes.
void AddClusters(uint32_t count, tools::AssetContent* content);

/// WriteAsset(ContentOf(...)); fails the test if that fails.
std::vector<std::byte> AssetBytesOf(const tools::TetMesh& mesh,
                                    const tools::Material& material = {}, double dt = 0.01);

/// The nodes of a region; fails the test if the asset has no region of that name.
std::span<const uint32_t> NodesOfRegion(const Asset& asset, std::string_view name);

/// A heap block of exactly the given bytes, aligned to kAssetAlignment. A sanitizer sees any read
/// outside it.
class ExactBuffer {
 public:
  explicit ExactBuffer(std::span<const std::byte> bytes);
  std::span<std::byte> bytes() { return {start_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {start_.get(), size_}; }

 private:
  struct Release {
    void operator()(std::byte* start) const;
  };
  std::unique_ptr<std::byte, Release> start_;
  size_t size_;
};

}  // namespace plush::test
