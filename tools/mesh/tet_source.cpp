// SPDX-License-Identifier: MIT
// Cleans tets read from a file: exact orientation, each tet once, no unused nodes.
// Orientation signs come from mesh/exact_predicates.h.
#include "mesh/tet_source.h"

#include "base/float_rounding.h"
#include "mesh/exact_predicates.h"

#include <algorithm>
#include <utility>

namespace plush::tools {
namespace {

using Tet = std::array<uint32_t, 4>;

// 1 or -1 by orientation; 0 if the tet is unusable.
int OrientationOf(const Tet& tet, const std::vector<Vec3d>& positions) {
  for (const uint32_t corner : tet) {
    if (corner == kNoNode || !IsFinite(positions[corner])) return 0;
  }
  const Vec3d& a = positions[tet[0]];
  const Vec3d& b = positions[tet[1]];
  const Vec3d& c = positions[tet[2]];
  const Vec3d& d = positions[tet[3]];
  const int sign = Orient3dSign(a, b, c, d);
  // Later stages compute volumes in doubles: a tet without one there counts as flat.
  return SixVolume(a, b, c, d) * sign > 0.0 ? sign : 0;
}

// Marks tets with the same corners as an earlier one.
std::vector<bool> MarkRepeated(const std::vector<Tet>& tets) {
  std::vector<std::pair<Tet, size_t>> keys;
  keys.reserve(tets.size());
  for (size_t i = 0; i < tets.size(); ++i) {
    keys.emplace_back(tets[i], i);
    std::sort(keys.back().first.begin(), keys.back().first.end());
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> repeated(tets.size());
  for (size_t i = 1; i < keys.size(); ++i) {
    repeated[keys[i].second] = keys[i].first == keys[i - 1].first;
  }
  return repeated;
}

// Moves the nodes that tets use into the mesh, in their order, and renumbers the corners.
void DropUnusedNodes(const std::vector<Vec3d>& positions, TetMesh* mesh) {
  std::vector<uint32_t> new_index(positions.size(), kNoNode);
  for (const Tet& tet : mesh->tets) {
    for (const uint32_t corner : tet) new_index[corner] = 0;
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    if (new_index[i] == kNoNode) continue;
    new_index[i] = static_cast<uint32_t>(mesh->nodes.size());
    mesh->nodes.push_back(positions[i]);
  }
  for (Tet& tet : mesh->tets) {
    for (uint32_t& corner : tet) corner = new_index[corner];
  }
}

}  // namespace

TetSource CleanTets(const RawTets& raw) {
  TetSource result;
  const std::vector<bool> repeated = MarkRepeated(raw.tets);
  for (size_t i = 0; i < raw.tets.size(); ++i) {
    const int orientation = repeated[i] ? 0 : OrientationOf(raw.tets[i], raw.positions);
    if (orientation == 0) {
      ++result.num_dropped;
      continue;
    }
    Tet tet = raw.tets[i];
    if (orientation < 0) {
      std::swap(tet[2], tet[3]);
      ++result.num_oriented;
    }
    result.mesh.tets.push_back(tet);
    if (!raw.tags.empty()) result.tags.push_back(raw.tags[i]);
  }
  DropUnusedNodes(raw.positions, &result.mesh);
  if (!raw.has_midpoints) result.num_unused = raw.positions.size() - result.mesh.nodes.size();
  result.num_surface_cells = raw.num_surface_cells;
  result.num_solid_cells = raw.num_solid_cells;
  return result;
}

void DropTetsFlatInFloat(TetSource* source) {
  std::vector<Vec3d> rounded;
  rounded.reserve(source->mesh.nodes.size());
  for (const Vec3d& node : source->mesh.nodes) rounded.push_back(RoundToFloat(node));
  TetMesh kept;
  std::vector<int32_t> kept_tags;
  for (size_t i = 0; i < source->mesh.tets.size(); ++i) {
    if (OrientationOf(source->mesh.tets[i], rounded) <= 0) continue;
    kept.tets.push_back(source->mesh.tets[i]);
    if (!source->tags.empty()) kept_tags.push_back(source->tags[i]);
  }
  source->num_dropped += source->mesh.tets.size() - kept.tets.size();
  DropUnusedNodes(source->mesh.nodes, &kept);
  source->mesh = std::move(kept);
  source->tags = std::move(kept_tags);
}

void AddTetFindings(const TetSource& source, FindingList* findings) {
  const auto add = [findings](const char* code, uint64_t count, const char* what) {
    if (count > 0) findings->Add(code, count, std::to_string(count) + " " + what);
  };
  add("MESH_TET_INVALID", source.num_dropped,
      "tetrahedra were flat, repeated or pointed at no node");
  add("MESH_TET_ORIENTED", source.num_oriented, "tetrahedra were turned");
  add("MESH_UNREFERENCED_VERTEX", source.num_unused, "nodes belong to no tetrahedron");
  add("MESH_CELL_DROPPED", source.num_solid_cells, "cells with a volume are no tetrahedra");
  add("MESH_CELL_SKIPPED", source.num_surface_cells, "points, lines and faces were passed over");
}

}  // namespace plush::tools
