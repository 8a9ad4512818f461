// SPDX-License-Identifier: MIT
// Static meshes to query.
#pragma once

#include "plush/asset.h"
#include "plush/collider.h"
#include "plush/format/static_mesh.h"

#include "shapes/shape_asset.h"
#include "shapes/static_asset.h"
#include "skip.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace plush::test {

using tools::SurfaceMesh;
using tools::Vec3d;

/// A static mesh in an opened file.
class StaticSubject {
 public:
  explicit StaticSubject(const SurfaceMesh& surface, std::optional<MeshSides> sides = {})
      : file_(StaticBytesOf(surface, sides)) {
    REQUIRE(asset_.Open(file_.bytes()).ok());
  }

  const Asset& asset() const { return asset_; }
  const StaticMeshView& mesh() const { return asset_.static_mesh(); }

 private:
  ExactBuffer file_;
  Asset asset_;
};

/// A mesh as a collider.
inline ColliderDesc MeshOf(const StaticSubject& subject, const Pose& pose = {},
                           float scale = 1.0f) {
  return ColliderDesc{.type = ShapeType::kMesh, .mesh = {&subject.asset(), scale}, .pose = pose};
}

/// cells x cells squares of two triangles each, whose corners are at(column, row), asked for row by
/// row. Front: up, if columns go along x and rows along z. `has` says which squares there are.
template <class At, class Has>
SurfaceMesh MakeSheet(uint32_t cells, const At& at, const Has& has) {
  SurfaceMesh sheet;
  for (uint32_t i = 0; i < (cells + 1) * (cells + 1); ++i) {
    sheet.positions.push_back(at(i % (cells + 1), i / (cells + 1)));
  }
  for (uint32_t cell = 0; cell < cells * cells; ++cell) {
    const uint32_t a = cell / cells * (cells + 1) + cell % cells, b = a + 1, c = a + cells + 1;
    if (!has()) continue;
    sheet.triangles.push_back({a, c, b});
    sheet.triangles.push_back({b, c, c + 1});
  }
  plush::tests::CompleteMesh(&sheet);
  return sheet;
}
template <class At>
SurfaceMesh MakeSheet(uint32_t cells, const At& at) {
  return MakeSheet(cells, at, [] { return true; });
}

/// The same surface, `by` metres along each axis.
inline SurfaceMesh Moved(SurfaceMesh surface, double by) {
  for (Vec3d& p : surface.positions) p += Vec3d{by, by, by};
  return surface;
}

/// The triangles of an OBJ file that has no polygons of more corners.
inline SurfaceMesh ReadObj(const std::string& path) {
  SurfaceMesh surface;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "v") {
      Vec3d p;
      words >> p.x >> p.y >> p.z;
      surface.positions.push_back(p);
    } else if (kind == "f") {
      std::array<uint32_t, 3> triangle = {};
      for (uint32_t& corner : triangle) {
        std::string word;
        words >> word;  // v, v/vt or v//vn
        corner = static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 10)) - 1;
      }
      surface.triangles.push_back(triangle);
    }
  }
  plush::tests::CompleteMesh(&surface);
  REQUIRE_FALSE(surface.triangles.empty());
  return surface;
}

}  // namespace plush::test
