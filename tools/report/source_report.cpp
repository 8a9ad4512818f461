// SPDX-License-Identifier: MIT
#include "report/source_report.h"

#include "base/hex_hash.h"
#include "mesh/box3.h"

#include <array>
#include <cstdio>

namespace plush::tools {
namespace {

Box3 BoundingBox(const SurfaceMesh& surface) {
  Box3 box;
  for (const Vec3d& p : surface.positions) box.Add(p);
  if (box.empty()) box.Add(Vec3d{});
  return box;
}

std::string Counted(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

nlohmann::json VectorJson(const Vec3d& v) { return {v.x, v.y, v.z}; }

nlohmann::json PartsJson(const SurfaceMesh& surface) {
  nlohmann::json parts = nlohmann::json::array();
  for (const SurfacePart& part : surface.parts) {
    parts.push_back({{"name", part.name},
                     {"material", part.material},
                     {"node", part.node},
                     {"first_triangle", part.first_triangle},
                     {"triangles", part.num_triangles}});
  }
  return parts;
}

nlohmann::json ExtrasJson(const SurfaceMesh& surface) {
  nlohmann::json extras = nlohmann::json::array();
  for (const SourceExtra& extra : surface.extras) {
    extras.push_back({{"owner", extra.owner}, {"json", extra.json}});
  }
  return extras;
}

}  // namespace

nlohmann::json SourceJson(const std::string& file, const ImportedModel& model,
                          const SurfaceFacts& facts) {
  const SurfaceMesh& surface = model.surface;
  const Box3 box = BoundingBox(surface);
  nlohmann::json attributes = nlohmann::json::array();
  for (const VertexAttribute& attribute : surface.attributes) attributes.push_back(attribute.name);
  return {{"file", file},
          {"format", model.format},
          {"unit_m", model.unit_m},
          {"up", std::string(1, model.up)},
          {"hash", HexHash(model.source_hash)},
          {"parts", PartsJson(surface)},
          {"vertices", surface.positions.size()},
          {"triangles", surface.triangles.size()},
          {"points", facts.num_points},
          {"components", facts.num_components},
          {"tets", model.tets.tets.size()},
          {"bounding_box", {{"low", VectorJson(box.low)}, {"high", VectorJson(box.high)}}},
          {"has_uvs", !surface.uvs.empty()},
          {"attributes", attributes},
          {"extras", ExtrasJson(surface)},
          {"dependencies", model.dependencies}};
}

std::string SourceText(const std::string& file, const ImportedModel& model,
                       const SurfaceFacts& facts) {
  const SurfaceMesh& surface = model.surface;
  std::string text = file + ": " + model.format + ", " +
                     Counted(surface.parts.size(), "part", "parts") + ", " +
                     Counted(surface.triangles.size(), "triangle", "triangles") + ", " +
                     Counted(surface.positions.size(), "vertex", "vertices") + " at " +
                     Counted(facts.num_points, "point", "points") + ", " +
                     Counted(facts.num_components, "component", "components");
  if (!model.tets.tets.empty()) text += ", " + Counted(model.tets.tets.size(), "tet", "tets");
  const Vec3d size = BoundingBox(surface).Extent();
  std::array<char, 160> line;
  std::snprintf(line.data(), line.size(), "\n  %.6g x %.6g x %.6g m; unit %.6g m, %c up\n", size.x,
                size.y, size.z, model.unit_m, model.up);
  return text + line.data();
}

}  // namespace plush::tools
