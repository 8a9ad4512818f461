// SPDX-License-Identifier: MIT
#include "validate/unpacked_collision.h"

#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

namespace plush::tools {
namespace {

// Runs end where those of the next element begin, the last one's at the end of the section.
template <class Record>
Run RunOf(std::span<const Record> records, uint32_t index, uint32_t Record::*first, size_t total) {
  const uint32_t end =
      index + 1 < records.size() ? records[index + 1].*first : static_cast<uint32_t>(total);
  return {records[index].*first, end};
}

}  // namespace

UnpackedCollision::UnpackedCollision(const CollisionView& collision) : view(collision) {
  triangles.reserve(view.num_triangles());
  for (const CdgTriangle& triangle : view.triangles) triangles.push_back(UnpackTriangle(triangle));
  for (const CdgWideTriangle& triangle : view.wide_triangles) {
    triangles.push_back(UnpackTriangle(triangle));
  }
  patch_of_triangle.resize(triangles.size());
  for (uint32_t p = 0; p < view.patches.size(); ++p) {
    for (uint32_t t = Triangles(p).begin; t < Triangles(p).end; ++t) patch_of_triangle[t] = p;
  }
}

Run UnpackedCollision::Patches(uint32_t tet) const {
  return RunOf(view.tets, tet, &CdgTet::first_patch, view.patches.size());
}

Run UnpackedCollision::Triangles(uint32_t patch) const {
  return RunOf(view.patches, patch, &CdgPatch::first_triangle, view.num_triangles());
}

Run UnpackedCollision::Vertices(uint32_t patch) const {
  return RunOf(view.patches, patch, &CdgPatch::first_vertex, view.vertices.size());
}

Run UnpackedCollision::Links(uint32_t patch) const {
  return RunOf(view.patches, patch, &CdgPatch::first_link, view.links.size());
}

Vec3d RestPlace(const Asset& asset, const CdgPatch& patch, uint32_t vertex) {
  const CollisionView& collision = asset.collision();
  const Vec4& weights = collision.vertices[vertex];
  const double w[4] = {weights.x, weights.y, weights.z, weights.w};
  Vec3d place;
  for (size_t i = 0; i < 4; ++i) {
    const Vec3& node = asset.simulation().nodes[collision.tets[patch.tet].nodes[i]];
    place += Vec3d{node.x, node.y, node.z} * w[i];
  }
  return place;
}

}  // namespace plush::tools
