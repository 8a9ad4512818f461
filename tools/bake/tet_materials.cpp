// SPDX-License-Identifier: MIT
#include "bake/tet_materials.h"

#include "mesh/tet_faces.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace plush::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Area of one material that a tet carries.
struct CarriedArea {
  uint32_t tet;
  uint16_t material;
  double area;  // [m^2]
};

// A third of each triangle for each corner, in the order of the triangles.
std::vector<CarriedArea> CornerAreas(const SurfaceMesh& surface,
                                     const std::vector<NamedMaterial>& materials,
                                     std::span<const uint32_t> vertex_tets) {
  std::map<std::string_view, uint16_t> index_of_name;
  for (size_t i = 0; i < materials.size(); ++i) {
    index_of_name.emplace(materials[i].name, static_cast<uint16_t>(i));
  }
  std::vector<CarriedArea> areas;
  areas.reserve(3 * surface.triangles.size());
  for (const SurfacePart& part : surface.parts) {
    const uint16_t material = index_of_name.at(part.material);
    for (uint32_t i = part.first_triangle; i < part.first_triangle + part.num_triangles; ++i) {
      const auto& [a, b, c] = surface.triangles[i];
      const Vec3d& x = surface.positions[a];
      const double doubled = Length(Cross(surface.positions[b] - x, surface.positions[c] - x));
      for (const uint32_t v : {a, b, c}) areas.push_back({vertex_tets[v], material, doubled / 6.0});
    }
  }
  return areas;
}

// The material of the tets that carry triangles; kNone elsewhere.
std::vector<uint32_t> CarriedMaterials(std::vector<CarriedArea> areas, size_t num_tets) {
  // Stable: within a tet and a material the order of the triangles is kept.
  std::stable_sort(areas.begin(), areas.end(), [](const CarriedArea& a, const CarriedArea& b) {
    return a.tet != b.tet ? a.tet < b.tet : a.material < b.material;
  });
  std::vector<uint32_t> materials(num_tets, kNone);
  std::vector<double> largest(num_tets, 0.0);
  for (size_t i = 0; i < areas.size();) {
    const auto [tet, material, first_area] = areas[i];
    double sum = 0.0;
    for (; i < areas.size() && areas[i].tet == tet && areas[i].material == material; ++i) {
      sum += areas[i].area;
    }
    if (materials[tet] != kNone && !(sum > largest[tet])) continue;
    materials[tet] = material;
    largest[tet] = sum;
  }
  return materials;
}

// The tets at `reached` faces that have no source yet, ascending.
std::vector<uint32_t> TetsBehind(const TetFaces& faces, std::span<const uint32_t> reached,
                                 const std::vector<uint32_t>& sources) {
  std::vector<uint32_t> tets;
  for (const uint32_t face : reached) {
    for (const uint32_t tet : faces.TetsAt(face)) {
      if (sources[tet] == kNone) tets.push_back(tet);
    }
  }
  std::sort(tets.begin(), tets.end());
  tets.erase(std::unique(tets.begin(), tets.end()), tets.end());
  return tets;
}

// Spreads from the tets that have a source (themselves) to all that can be reached over faces,
// level by level: each takes the source of lowest id among those of its neighbours of the level
// before, which is the lowest of all nearest ones.
void SpreadSources(const TetFaces& faces, std::vector<uint32_t>* sources) {
  std::vector<uint32_t> level;
  for (uint32_t t = 0; t < sources->size(); ++t) {
    if ((*sources)[t] != kNone) level.push_back(t);
  }
  std::vector<uint32_t> source_of_face(faces.num_faces(), kNone);
  std::vector<uint32_t> reached;  // faces
  while (!level.empty()) {
    reached.clear();
    for (const uint32_t tet : level) {
      for (const uint32_t face : faces.of_tet[tet]) {
        if (source_of_face[face] == kNone) reached.push_back(face);
        source_of_face[face] = std::min(source_of_face[face], (*sources)[tet]);
      }
    }
    level = TetsBehind(faces, reached, *sources);
    for (const uint32_t tet : level) {
      for (const uint32_t face : faces.of_tet[tet]) {
        (*sources)[tet] = std::min((*sources)[tet], source_of_face[face]);
      }
    }
  }
}

}  // namespace

std::vector<uint16_t> ChooseTetMaterials(const SurfaceMesh& surface,
                                         const std::vector<NamedMaterial>& materials,
                                         std::span<const uint32_t> vertex_tets,
                                         const TetMesh& cage) {
  std::vector<uint16_t> result(cage.tets.size(), 0);
  if (materials.size() == 1) return result;
  const std::vector<uint32_t> carried =
      CarriedMaterials(CornerAreas(surface, materials, vertex_tets), cage.tets.size());
  std::vector<uint32_t> sources(cage.tets.size(), kNone);
  for (uint32_t t = 0; t < sources.size(); ++t) {
    if (carried[t] != kNone) sources[t] = t;
  }
  SpreadSources(BuildTetFaces(cage.tets), &sources);
  for (size_t t = 0; t < result.size(); ++t) {
    if (sources[t] != kNone) result[t] = static_cast<uint16_t>(carried[sources[t]]);
  }
  return result;
}

}  // namespace plush::tools
