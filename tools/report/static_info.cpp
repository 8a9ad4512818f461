// SPDX-License-Identifier: MIT
// Measures a static mesh: borders, area, enclosed volume, bytes per triangle.
#include "report/static_info.h"

#include "plush/format/static_mesh.h"

#include "bake/static_bake.h"
#include "base/text.h"
#include "base/vec3.h"
#include "report/source_report.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace plush::tools {
namespace {

struct Measures {
  size_t open_edges = 0;
  double area = 0.0;    // [m^2]
  double volume = 0.0;  // [m^3]; negative if the front faces a hollow
  double bytes_per_triangle = 0.0;
  std::vector<size_t> triangles_of_material;
};

Measures Measure(const Asset& asset) {
  const StaticMeshView& mesh = asset.static_mesh();
  Measures m;
  m.triangles_of_material.resize(asset.num_materials());
  for (const uint16_t material : mesh.materials) ++m.triangles_of_material[material];
  const Vec3d origin = ToDouble(mesh.grid.low);
  for (const StaticTriangle& triangle : mesh.triangles) {
    for (const uint32_t neighbour : triangle.neighbours) m.open_edges += neighbour == kNoTriangle;
    Vec3d x[3];
    for (int k = 0; k < 3; ++k) x[k] = ToDouble(mesh.positions[triangle.vertices[k]]) - origin;
    m.area += 0.5 * Length(Cross(x[1] - x[0], x[2] - x[0]));
    m.volume += Dot(x[0], Cross(x[1], x[2])) / 6.0;
  }
  const size_t bytes = mesh.positions.size_bytes() + mesh.triangles.size_bytes() +
                       mesh.materials.size_bytes() + mesh.tree.size_bytes();
  m.bytes_per_triangle = static_cast<double>(bytes) / static_cast<double>(mesh.triangles.size());
  return m;
}

std::string SidesOf(const StaticMeshView& mesh) {
  return NameOf<std::optional<MeshSides>>(kSides, mesh.sides);
}

}  // namespace

nlohmann::json GivenCoefficient(float coefficient) {
  return coefficient < 0.0f ? nlohmann::json() : nlohmann::json(coefficient);
}

nlohmann::json StaticMeshInfo(const Asset& asset) {
  const StaticMeshView& mesh = asset.static_mesh();
  const Measures m = Measure(asset);
  nlohmann::json materials = nlohmann::json::array();
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const MaterialView material = asset.material(i);
    materials.push_back({{"name", material.name},
                         {"friction", GivenCoefficient(material.friction)},
                         {"restitution", GivenCoefficient(material.restitution)},
                         {"triangles", m.triangles_of_material[i]}});
  }
  return {{"vertices", mesh.positions.size()},
          {"triangles", mesh.triangles.size()},
          {"open_edges", m.open_edges},
          {"sides", SidesOf(mesh)},
          {"area_m2", m.area},
          {"volume_m3", m.volume},
          {"bytes_per_triangle", m.bytes_per_triangle},
          {"tree_nodes", mesh.tree.size()},
          {"materials", materials}};
}

std::string StaticMeshText(const Asset& asset) {
  const StaticMeshView& mesh = asset.static_mesh();
  const Measures m = Measure(asset);
  std::string text =
      Formatted("static mesh: %zu triangles, %zu vertices, %zu open edges, sides %s\n",
                mesh.triangles.size(), mesh.positions.size(), m.open_edges, SidesOf(mesh).c_str());
  text += Formatted("area %.6g m^2, volume %.6g m^3; %.1f bytes per triangle\n", m.area, m.volume,
                    m.bytes_per_triangle);
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const MaterialView material = asset.material(i);
    text += "material '" + PrintableUtf8(material.name) +
            Formatted("': %zu triangles", m.triangles_of_material[i]);
    if (material.friction >= 0.0f) text += Formatted(", friction %.4g", double{material.friction});
    if (material.restitution >= 0.0f) {
      text += Formatted(", restitution %.4g", double{material.restitution});
    }
    text += "\n";
  }
  return text;
}

}  // namespace plush::tools
