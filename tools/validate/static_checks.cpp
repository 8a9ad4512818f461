// SPDX-License-Identifier: MIT
// Recomputes what a static mesh derives from its triangles: box, bounds, order of vertices.
#include "validate/static_checks.h"

#include "plush/format/static_mesh.h"

#include "bake/materials.h"
#include "bake/static_bake.h"
#include "base/vec3.h"
#include "mesh/exact_predicates.h"
#include "static_mesh/leaf_order.h"
#include "static_mesh/static_mesh.h"
#include "validate/tally.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace plush::tools {
namespace {

constexpr char kCode[] = "FILE_STATIC_MESH";

void CheckVertices(const StaticMeshView& mesh, FindingList* findings) {
  const std::span<const Vec3> positions = mesh.positions;
  std::vector<uint32_t> order(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](uint32_t v) {
    return std::tie(positions[v].x, positions[v].y, positions[v].z);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  Tally repeated(kCode, "static_mesh.positions", "repeat another one");
  for (size_t i = 1; i < order.size(); ++i) {
    if (key(order[i - 1]) == key(order[i])) {
      repeated.AddAt(order[i], ToDouble(positions[order[i]]));
    }
  }
  repeated.Report(findings);
  std::vector<bool> used(positions.size());
  for (const StaticTriangle& triangle : mesh.triangles) {
    for (const uint32_t vertex : triangle.vertices) used[vertex] = true;
  }
  Tally unused(kCode, "static_mesh.positions", "belong to no triangle");
  for (size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) unused.AddAt(v, ToDouble(positions[v]));
  }
  unused.Report(findings);
}

void CheckAreas(const StaticMeshView& mesh, FindingList* findings) {
  Tally flat(kCode, "static_mesh.triangles", "without area");
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [a, b, c] = mesh.triangles[t].vertices;
    const Vec3d corner = ToDouble(mesh.positions[a]);
    if (AreCollinear(corner, ToDouble(mesh.positions[b]), ToDouble(mesh.positions[c]))) {
      flat.AddAt(t, corner);
    }
  }
  flat.Report(findings);
}

std::vector<StaticBox> BoxesOf(const StaticMeshView& mesh) {
  std::vector<StaticBox> boxes;
  for (const StaticTriangle& triangle : mesh.triangles) {
    const auto& [a, b, c] = triangle.vertices;
    StaticBox box = {mesh.positions[a], mesh.positions[a]};
    for (const uint32_t v : {b, c}) box.Add({mesh.positions[v], mesh.positions[v]});
    boxes.push_back(box);
  }
  return boxes;
}

bool IsSame(const Vec3& a, const Vec3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void CheckBounds(const StaticMeshView& mesh, FindingList* findings) {
  const std::vector<StaticBox> boxes = BoxesOf(mesh);
  StaticBox box = boxes[0];
  for (const StaticBox& other : boxes) box.Add(other);
  if (!IsSame(box.low, mesh.grid.low) || !IsSame(box.high, mesh.grid.high)) {
    findings->Add(kCode, 1, "static_mesh.low: the box is not that of the triangles");
  }
  const std::vector<StaticNode> tree = StaticTreeOf(boxes, mesh.grid);
  Tally wrong(kCode, "static_mesh.tree", "not the bounds of the triangles below");
  for (size_t i = 0; i < tree.size(); ++i) {
    if (std::memcmp(&tree[i], &mesh.tree[i], sizeof(StaticNode)) != 0) wrong.Add(i);
  }
  wrong.Report(findings);
}

// Compares bytes.
template <class T>
void CompareSection(const char* section, std::span<const T> file, const std::vector<T>& source,
                    FindingList* findings) {
  if (file.size() != source.size()) {
    findings->Add("FILE_SOURCE", 1,
                  std::string(section) + ": the file has " + std::to_string(file.size()) +
                      " elements, the source " + std::to_string(source.size()));
    return;
  }
  Tally other("FILE_SOURCE", section, "other than the source's");
  for (size_t i = 0; i < file.size(); ++i) {
    if (std::memcmp(&file[i], &source[i], sizeof(T)) != 0) other.Add(i);
  }
  other.Report(findings);
}

}  // namespace

void CheckStaticMeshMeaning(const Asset& asset, FindingList* findings) {
  const StaticMeshView& mesh = asset.static_mesh();
  CheckVertices(mesh, findings);
  CheckAreas(mesh, findings);
  CheckBounds(mesh, findings);
}

void CompareStaticMesh(const Asset& asset, const ImportedModel& model, FindingList* findings) {
  const StaticMeshView& mesh = asset.static_mesh();
  const StaticMeshData source = MakeStaticMesh(model.surface);
  FindingList ignored;
  const std::vector<NamedMaterial> materials = MaterialsOf(model.surface, {}, {}, &ignored);
  const std::vector<uint16_t> of_source = TriangleMaterials(model.surface, materials);
  std::vector<uint16_t> of_triangles;
  for (const uint32_t t : source.source_triangles) of_triangles.push_back(of_source[t]);
  CompareSection("static_mesh.positions", mesh.positions, source.positions, findings);
  CompareSection("static_mesh.triangles", mesh.triangles, source.triangles, findings);
  CompareSection("static_mesh.triangle_materials", mesh.materials, of_triangles, findings);
  bool same_names = materials.size() == asset.num_materials();
  for (uint32_t i = 0; same_names && i < materials.size(); ++i) {
    same_names = asset.material(i).name == materials[i].name;
  }
  if (!same_names) {
    findings->Add("FILE_SOURCE", 1, "static_mesh.materials: other names than the source's");
  }
}

}  // namespace plush::tools
