// SPDX-License-Identifier: MIT
// The arrays of a model: cage, render surface, collision patches and what is measured at them.
// Source of the distance to a triangle: Christer Ericson. Real-Time Collision Detection.
// 2005, 5.1.5
#include "plush/format/cdg_records.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "base/vec3.h"
#include "export/cage_exports.h"
#include "mesh/disjoint_sets.h"
#include "mesh/tet_faces.h"
#include "mesh/tet_mesh.h"
#include "mesh/triangle_bvh.h"
#include "page/model_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plush::tools {
namespace {

using Triangles = std::vector<std::array<uint32_t, 3>>;

struct ByteNormal {
  int8_t x = 0, y = 0, z = 0, unused = 0;
};

ByteNormal Rounded(const Vec3& n) {
  const auto round = [](float value) {
    return static_cast<int8_t>(std::floor(std::clamp(value, -1.0f, 1.0f) * 127.0f + 0.5f));
  };
  return {round(n.x), round(n.y), round(n.z)};
}

// Squared distance of p from triangle (a, b, c).
double DistanceSquared(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d ab = b - a, ac = c - a, ap = p - a;
  const double d1 = Dot(ab, ap), d2 = Dot(ac, ap);
  if (d1 <= 0.0 && d2 <= 0.0) return LengthSquared(ap);
  const Vec3d bp = p - b;
  const double d3 = Dot(ab, bp), d4 = Dot(ac, bp);
  if (d3 >= 0.0 && d4 <= d3) return LengthSquared(bp);
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return LengthSquared(ap - ab * (d1 / (d1 - d3)));
  const Vec3d cp = p - c;
  const double d5 = Dot(ab, cp), d6 = Dot(ac, cp);
  if (d6 >= 0.0 && d5 <= d6) return LengthSquared(cp);
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return LengthSquared(ap - ac * (d2 / (d2 - d6)));
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
    return LengthSquared(bp - (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))));
  }
  const double sum = va + vb + vc;
  return sum > 0.0 ? LengthSquared(ap - ab * (vb / sum) - ac * (vc / sum)) : LengthSquared(ap);
}

// Squared distance of p from a box.
double DistanceSquared(const Vec3d& p, const TriangleBvh::FloatBox& box) {
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const auto i = static_cast<size_t>(k);
    const double outside = std::max({double{box.low[i]} - p[k], p[k] - double{box.high[i]}, 0.0});
    sum += outside * outside;
  }
  return sum;
}

// Distance of each node from the render surface [m]; 0 without one.
std::vector<float> SurfaceDistances(const Asset& asset) {
  const auto& nodes = asset.simulation().nodes;
  const VisualView& v = asset.visual();
  std::vector<float> distances(nodes.size());
  if (v.indices.empty()) return distances;
  std::vector<Vec3d> points;
  for (const Vec3& p : v.positions) points.push_back(ToDouble(p));
  Triangles triangles;
  for (size_t i = 0; i + 2 < v.indices.size(); i += 3) {
    triangles.push_back({v.indices[i], v.indices[i + 1], v.indices[i + 2]});
  }
  const TriangleBvh bvh(points, triangles);
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Vec3d p = ToDouble(nodes[n]);
    double least = std::numeric_limits<double>::infinity();
    bvh.AnyOf([&](const TriangleBvh::FloatBox& box) { return DistanceSquared(p, box) < least; },
              [&](uint32_t t) {
                const auto& [a, b, c] = triangles[t];
                least = std::min(least, DistanceSquared(p, points[a], points[b], points[c]));
                return false;
              });
    distances[n] = static_cast<float>(std::sqrt(least));
  }
  return distances;
}

// How many pieces of surface each tet holds; patches that a seam joins are one piece.
std::vector<uint32_t> PiecesOfTets(const Asset& asset) {
  const CollisionView& c = asset.collision();
  std::vector<uint32_t> pieces(asset.simulation().tets.size());
  const auto num_patches = static_cast<uint32_t>(c.patches.size());
  DisjointSets sets(num_patches);
  for (uint32_t p = 0; p < num_patches; ++p) {
    const size_t end = p + 1 < num_patches ? c.patches[p + 1].first_link : c.links.size();
    for (size_t i = c.patches[p].first_link; i < end; ++i) {
      if ((c.links[i] & kSeamLink) != 0) sets.Join(p, c.links[i] & ~kSeamLink);
    }
  }
  for (uint32_t p = 0; p < num_patches; ++p) {
    if (sets.Find(p) == p) ++pieces[c.tets[c.patches[p].tet].tet];
  }
  return pieces;
}

void AddCage(const Asset& asset, PackedArrays* arrays, nlohmann::json* json) {
  const SimulationView& s = asset.simulation();
  const CageTable table = MeasureCage(asset);
  TetMesh mesh;
  std::vector<float> volumes;
  for (const Vec3& x : s.nodes) mesh.nodes.push_back(ToDouble(x));
  for (size_t t = 0; t < s.tets.size(); ++t) {
    mesh.tets.push_back({s.tets[t].a, s.tets[t].b, s.tets[t].c, s.tets[t].d});
    volumes.push_back(s.Volume(t));
  }
  std::vector<uint32_t> corners, face_tets;
  for (const BoundaryFace& face : FindBoundaryFaces(mesh)) {
    corners.insert(corners.end(), face.nodes.begin(), face.nodes.end());
    face_tets.push_back(face.tet);
  }
  (*json)["nodes"] = arrays->AddRows(s.nodes.data(), s.nodes.size(), sizeof(Vec3));
  (*json)["tets"] = arrays->AddRows(mesh.tets);
  (*json)["quality"] = arrays->AddRows(table.quality);
  (*json)["dihedral"] = arrays->AddRows(table.min_dihedral_deg);
  (*json)["tet_material"] =
      arrays->AddRows(std::vector<uint32_t>(s.tet_materials.begin(), s.tet_materials.end()));
  (*json)["tet_component"] = arrays->AddRows(FindComponents(asset).of_tet);
  (*json)["pieces"] = arrays->AddRows(PiecesOfTets(asset));
  (*json)["volume"] = arrays->AddRows(volumes);
  (*json)["cage"] = arrays->AddTriangles(corners, s.nodes.size());
  (*json)["cage_tets"] = arrays->AddRows(face_tets);
  (*json)["distance"] = arrays->AddRows(SurfaceDistances(asset));
}

void AddVisual(const Asset& asset, PackedArrays* arrays, nlohmann::json* json) {
  const VisualView& v = asset.visual();
  std::vector<ByteNormal> normals;
  for (const Vec3& n : v.normals) normals.push_back(Rounded(n));
  (*json)["positions"] = arrays->AddPositions(v.positions);
  (*json)["normals"] = arrays->AddRows(normals);
  (*json)["tet_ids"] = arrays->AddRows(v.tet_ids.data(), v.tet_ids.size(), sizeof(uint32_t));
  (*json)["indices"] = arrays->AddTriangles(v.indices, v.positions.size());
}

template <class Record>
void AppendCorners(std::span<const Record> triangles, std::vector<uint32_t>* corners) {
  for (const Record& triangle : triangles) {
    for (int k = 0; k < 3; ++k) corners->push_back(VertexOf(triangle, k));
  }
}

void AddPatches(const Asset& asset, PackedArrays* arrays, nlohmann::json* json) {
  const CollisionView& c = asset.collision();
  const auto& nodes = asset.simulation().nodes;
  std::vector<std::array<uint32_t, 4>> starts;
  std::vector<Vec3> positions(c.vertices.size());
  for (size_t p = 0; p < c.patches.size(); ++p) {
    const CdgPatch& patch = c.patches[p];
    const CdgTet& tet = c.tets[patch.tet];
    starts.push_back({patch.first_triangle, patch.first_vertex, tet.tet, 0});
    const size_t end = p + 1 < c.patches.size() ? c.patches[p + 1].first_vertex : c.vertices.size();
    for (size_t v = patch.first_vertex; v < end; ++v) {
      const Vec4& w = c.vertices[v];
      positions[v] = ToFloat(double{w.x} * ToDouble(nodes[tet.nodes[0]]) +
                             double{w.y} * ToDouble(nodes[tet.nodes[1]]) +
                             double{w.z} * ToDouble(nodes[tet.nodes[2]]) +
                             double{w.w} * ToDouble(nodes[tet.nodes[3]]));
    }
  }
  std::vector<uint32_t> corners;
  AppendCorners(c.triangles, &corners);
  AppendCorners(c.wide_triangles, &corners);
  (*json)["patch_positions"] = arrays->AddPositions(positions);
  (*json)["patch_indices"] = arrays->AddTriangles(corners, positions.size());
  (*json)["patch_starts"] = arrays->AddRows(starts);
}

}  // namespace

CageComponents FindComponents(const Asset& asset) {
  const SimulationView& s = asset.simulation();
  DisjointSets sets(static_cast<uint32_t>(s.nodes.size()));
  for (const Tet& t : s.tets) {
    sets.Join(t.a, t.b);
    sets.Join(t.a, t.c);
    sets.Join(t.a, t.d);
  }
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> numbers(s.nodes.size(), kNone);
  CageComponents components;
  for (const Tet& t : s.tets) {
    uint32_t& number = numbers[sets.Find(t.a)];
    if (number == kNone) number = components.number++;
    components.of_tet.push_back(number);
  }
  return components;
}

nlohmann::json ModelArrays(const Asset& asset, PackedArrays* arrays) {
  nlohmann::json json = nlohmann::json::object();
  if (asset.is_static()) {
    const StaticMeshView& mesh = asset.static_mesh();
    std::vector<uint32_t> corners;
    for (const auto& triangle : mesh.triangles) {
      for (const uint32_t vertex : triangle.vertices) corners.push_back(vertex);
    }
    json["positions"] = arrays->AddPositions(mesh.positions);
    json["indices"] = arrays->AddTriangles(corners, mesh.positions.size());
    return json;
  }
  AddCage(asset, arrays, &json);
  AddVisual(asset, arrays, &json);
  if (!asset.collision().patches.empty()) AddPatches(asset, arrays, &json);
  return json;
}

}  // namespace plush::tools
