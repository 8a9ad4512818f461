// SPDX-License-Identifier: MIT
// Lays out the bytes of a .plush file: the only place that writes the format.
#pragma once

#include "plush/types.h"

#include "bake/materials.h"
#include "bake/tuning.h"
#include "base/result.h"
#include "partition/collision_layout.h"
#include "rest/rest_data.h"
#include "static_mesh/static_mesh.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

/// A run of the render surface with one material.
struct PartContent {
  std::string name;          ///< mesh name as imported, may be empty
  std::string material;      ///< material name as imported, may be empty
  std::string node;          ///< scene node name as imported, may be empty
  uint32_t first_index = 0;  ///< into AssetContent::indices, a multiple of 3
  uint32_t num_indices = 0;  ///< a multiple of 3
};

/// A named set of cage nodes.
struct RegionContent {
  std::string name;             ///< unique, not empty
  std::vector<uint32_t> nodes;  ///< ascending, numbered as in RestData::nodes (new numbering)
  std::optional<Pose> rest;     ///< bind pose of the region's joint, if it has one
  bool last = true;             ///< whether its nodes go last in the elimination order; not stored
};

/// The content of a .plush file.
struct AssetContent {
  // VIZ
  std::vector<Vec3> positions;     ///< rest positions [m] (num_vertices x 1)
  std::vector<Vec3> normals;       ///< unit normals (num_vertices x 1)
  std::vector<Vec4> tangents;      ///< UnitTangents (num_vertices x 1, or empty)
  std::vector<Vec2> uvs;           ///< (num_vertices x 1, or empty)
  std::vector<uint32_t> indices;   ///< triangle corners (3 num_triangles x 1)
  std::vector<PartContent> parts;  ///< cover the indices in order, without gap or overlap
  std::vector<uint32_t> tet_ids;   ///< tet that carries each vertex (num_vertices x 1)
  std::vector<Vec4> weights;       ///< barycentric weights in that tet (num_vertices x 1)
  // SIM
  RestData rest;                         ///< node_order is not stored
  std::vector<RegionContent> regions;    ///< in ascending order of name (by bytes)
  std::vector<NamedMaterial> materials;  ///< at least one, at most kMaxMaterials
  std::vector<uint16_t> tet_materials;   ///< index into materials (num_tets x 1)
  double damping = 0.0;                  ///< of the whole body [s]
  double solid_volume = 0.0;             ///< volume enclosed by the surface [m^3], >= 0
  // CDG
  CollisionData collision;       ///< empty: the file has none
  std::optional<Tuning> tuning;  ///< only solver and iterations are stored
  // Provenance
  std::string settings_json;  ///< bake settings as JSON text with sorted keys
  uint64_t source_hash = 0;   ///< XXH3-64 of the source file's bytes
};

/// The content of a .plush file with a static mesh.
struct StaticContent {
  StaticMeshData mesh;  ///< open_edges and is_closed are not stored
  MeshSides sides = MeshSides::kFront;
  std::vector<uint16_t> triangle_materials;  ///< index into materials (num_triangles x 1)
  std::vector<NamedMaterial> materials;      ///< only names, friction and restitution are stored
  std::string settings_json;                 ///< bake settings as JSON text with sorted keys
  uint64_t source_hash = 0;                  ///< XXH3-64 of the source file's bytes
};

/// Lays out `content` as a .plush file: same content, same bytes. Every bulk vector starts at a
/// multiple of kAssetAlignment from the start of the file. Errors: kLimit (2 GiB or more),
/// kInvalidInput (Asset::Open would refuse the file; the message has its reason).
Result<std::vector<std::byte>> WriteAsset(const AssetContent& content);

/// The same for a static mesh.
Result<std::vector<std::byte>> WriteStaticAsset(const StaticContent& content);

}  // namespace plush::tools
