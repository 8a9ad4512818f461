// SPDX-License-Identifier: MIT
// Bakes collision surfaces and compares their totals with those of the source.
#include "tools/partition/partition_fixtures.h"

#include "bake/bake.h"
#include "mesh/topology.h"
#include "partition/patches.h"
#include "solid/inside.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace plush::tests {
namespace {

using tools::CollisionData;
using tools::CutSurface;

CdgTriangleFields FieldsOf(const CollisionData& data, size_t t) {
  return data.triangles.empty() ? UnpackTriangle(data.wide_triangles[t])
                                : UnpackTriangle(data.triangles[t]);
}

Vec3d PlaceOf(const CollisionData& data, const tools::TetMesh& cage, const CdgPatch& patch,
              uint32_t vertex) {
  const uint32_t* nodes = data.tets[patch.tet].nodes;
  const Vec4& w = data.vertices[vertex];
  return cage.nodes[nodes[0]] * w.x + cage.nodes[nodes[1]] * w.y + cage.nodes[nodes[2]] * w.z +
         cage.nodes[nodes[3]] * w.w;
}

// Opposite half-edges of the file's surface, from its neighbours.
std::vector<uint32_t> OppositeOf(const CollisionData& data, size_t num_triangles) {
  std::vector<uint32_t> opposite(3 * num_triangles, tools::kNoHalfEdge);
  for (uint32_t t = 0; t < num_triangles; ++t) {
    const CdgTriangleFields mine = FieldsOf(data, t);
    for (uint32_t k = 0; k < 3; ++k) {
      if (mine.neighbours[k] == kNoTriangle) continue;
      const CdgTriangleFields theirs = FieldsOf(data, mine.neighbours[k]);
      // If two triangles share two edges, they are taken in reverse order.
      size_t nth =
          static_cast<size_t>(std::count(mine.neighbours, mine.neighbours + k, mine.neighbours[k]));
      for (uint32_t m = 3; m-- > 0;) {
        if (theirs.neighbours[m] != t || nth-- > 0) continue;
        opposite[3 * t + k] = 3 * mine.neighbours[k] + m;
        break;
      }
    }
  }
  return opposite;
}

}  // namespace

int EulerOf(const CutSurface& surface) {
  std::vector<uint32_t> all(surface.triangles.size());
  for (uint32_t t = 0; t < all.size(); ++t) all[t] = t;
  return EulerCharacteristic(surface, all, std::vector<uint32_t>(all.size(), 0), 0);
}

Partitioned PartitionOf(const SurfaceMesh& mesh, const tools::CageSettings& settings) {
  Partitioned out;
  out.solid = MakeSolidSurface(mesh, &out.findings);
  const tools::InsideTest inside(out.solid);
  auto cage = BuildLatticeCage(out.solid, inside, settings, &out.findings);
  if (!cage.ok()) FAIL(cage.error().message);
  out.cage = std::move(cage.value());
  out.partition = PartitionSurface(out.solid, out.cage.mesh, out.cage.tet_of_point, &out.findings);
  return out;
}

std::vector<std::byte> BakedInCage(const SurfaceMesh& mesh, uint32_t target_tets) {
  tools::ImportedModel model = {.surface = mesh};
  tools::BakeSettings settings = {.cage = {.target_tets = target_tets}};
  tools::FindingList findings;
  auto baked = tools::Bake(model, settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  CHECK_FALSE(findings.Has("CDG_TORN"));
  return std::move(baked.value().bytes);
}

SurfaceTotals TotalsOf(const tools::SolidSurface& surface) {
  CutSurface cut = {.points = surface.points};
  cut.triangles = surface.triangles;
  cut.opposite = PairHalfEdges(cut.points, cut.triangles);
  SurfaceTotals totals;
  for (const auto& [a, b, c] : cut.triangles) {
    const Vec3d normal = Cross(cut.points[b] - cut.points[a], cut.points[c] - cut.points[a]) * 0.5;
    totals.area += Length(normal);
    totals.vector_area += normal;
  }
  totals.euler = EulerOf(cut);
  totals.open_edges =
      static_cast<size_t>(std::count(cut.opposite.begin(), cut.opposite.end(), tools::kNoHalfEdge));
  return totals;
}

SurfaceTotals TotalsOf(const CollisionData& data, const tools::TetMesh& cage) {
  CutSurface cut;
  SurfaceTotals totals;
  cut.triangles.resize(data.triangles.size() + data.wide_triangles.size());
  uint32_t patch = 0;
  for (uint32_t t = 0; t < cut.triangles.size(); ++t) {
    while (patch + 1 < data.patches.size() && data.patches[patch + 1].first_triangle <= t) ++patch;
    const CdgTriangleFields fields = FieldsOf(data, t);
    const Vec3d a = PlaceOf(data, cage, data.patches[patch], fields.vertices[0]);
    const Vec3d b = PlaceOf(data, cage, data.patches[patch], fields.vertices[1]);
    const Vec3d c = PlaceOf(data, cage, data.patches[patch], fields.vertices[2]);
    const Vec3d normal = Cross(b - a, c - a) * 0.5;
    totals.area += Length(normal);
    totals.vector_area += normal;
  }
  cut.opposite = OppositeOf(data, cut.triangles.size());
  totals.euler = EulerOf(cut);
  // Cutting a border adds points, so this number compares with the source's only as zero or not.
  totals.open_edges =
      static_cast<size_t>(std::count(cut.opposite.begin(), cut.opposite.end(), tools::kNoHalfEdge));
  return totals;
}

std::string FaultsOf(const Partitioned& out) {
  std::string faults;
  const auto check = [&faults](bool holds, const std::string& what) {
    if (!holds) faults += (faults.empty() ? "" : "; ") + what;
  };
  const CollisionData& data = out.partition.data;
  check(!out.findings.Has("CDG_OUTSIDE"), "triangles that no tet holds");
  if (data.tets.empty()) return faults + "; no collision surface";
  const SurfaceTotals before = TotalsOf(out.solid), after = TotalsOf(data, out.cage.mesh);
  const double area_error = std::abs(after.area - before.area) / before.area;
  check(area_error <= 1e-6, "area is off by " + std::to_string(1e6 * area_error) + "e-6");
  const double vector_error = Length(after.vector_area - before.vector_area) / before.area;
  check(vector_error <= 1e-6,
        "vector area is off by " + std::to_string(1e6 * vector_error) + "e-6");
  check(before.euler == after.euler, "Euler characteristic " + std::to_string(after.euler) +
                                         " instead of " + std::to_string(before.euler));
  check((before.open_edges == 0) == (after.open_edges == 0),
        std::to_string(after.open_edges) + " open edges");
  return faults;
}

}  // namespace plush::tests
