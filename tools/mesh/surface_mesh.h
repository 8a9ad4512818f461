// SPDX-License-Identifier: MIT
// The source mesh between import and bake: render vertices in their original order, in metres.
#pragma once

#include "plush/types.h"

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::tools {

/// A run of triangles of one imported mesh with one material.
struct SurfacePart {
  std::string name;      ///< mesh name, may be empty
  std::string material;  ///< material name, may be empty
  std::string node;      ///< scene node name, may be empty
  uint32_t first_triangle = 0;
  uint32_t num_triangles = 0;
};

/// A named number per vertex: a glTF attribute ("_pin") or a channel of a vertex colour
/// ("COLOR_0.r"). 0 at vertices whose mesh lacks it.
struct VertexAttribute {
  std::string name;
  std::vector<float> values;  ///< (num_vertices x 1)
};

/// `extras` or metadata of a part of the scene, as JSON text.
struct SourceExtra {
  std::string owner;  ///< "scene", "node:NAME", "mesh:NAME" or "material:NAME"
  std::string json;
};

/// How much a joint moves a vertex.
struct JointWeight {
  uint32_t vertex = 0;
  float weight = 0.0f;  ///< in (0, 1]
};

/// A joint of the source's skins, in bind pose.
struct SurfaceJoint {
  std::string name;                  ///< that of its scene node, not empty
  int32_t parent = -1;               ///< the nearest joint above it, an earlier one; -1: none
  Vec3d position;                    ///< [m], after unit and axis transforms
  Quat rotation;                     ///< unit, from the joint's axes to those of the surface
  std::vector<JointWeight> weights;  ///< in ascending order of vertex, each at most once; those of
                                     ///< all joints at a vertex sum to at most 1
};

/// A render surface. Indices are in range and numbers finite; other defects of the source remain.
/// In a sound source, triangles are counter-clockwise seen from outside.
struct SurfaceMesh {
  std::vector<Vec3d> positions;  ///< [m], after unit, axis and node transforms (num_vertices x 1)
  std::vector<Vec3> normals;     ///< unit normals (num_vertices x 1); never empty
  std::vector<Vec2> uvs;         ///< (num_vertices x 1, or empty)
  std::vector<std::array<uint32_t, 3>> triangles;  ///< (num_triangles x 3)
  std::vector<SurfacePart> parts;                  ///< cover all triangles in order, without gaps
  std::vector<VertexAttribute> attributes;         ///< in ascending order of name
  std::vector<SourceExtra> extras;
  std::vector<SurfaceJoint> joints;  ///< of all skins, those of higher nodes first
  bool v_downwards = false;          ///< whether v grows downwards in the image, as in glTF
};

}  // namespace plush::tools
