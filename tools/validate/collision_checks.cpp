// SPDX-License-Identifier: MIT
// Compares the tets, weights, bounds, sums and sources of the collision surface [Civ 5.4] with the
// cage and the render surface.
#include "validate/collision_checks.h"

#include "base/text.h"
#include "mesh/exact_predicates.h"
#include "mesh/surface_distance.h"
#include "mesh/tet_mesh.h"
#include "partition/collision_trees.h"
#include "partition/partition.h"
#include "partition/short_edges.h"
#include "partition/thickness.h"
#include "rest/rest_data.h"
#include "validate/surface_checks.h"
#include "validate/tally.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

namespace plush::tools {
namespace {

// The run of element `index` ends where the next one's begins, the last at the section's end.
template <class Record>
Run RunOf(std::span<const Record> records, uint32_t index, uint32_t Record::*first, size_t total) {
  const uint32_t end =
      index + 1 < records.size() ? records[index + 1].*first : static_cast<uint32_t>(total);
  return {records[index].*first, end};
}

// Four weights are doubles that sum to one, rounded one by one.
constexpr double kSumTolerance = 4.0e-7;

// For centroids, areas and vector areas: floats rounded once, from sums of rounded weights.
constexpr double kSumsTolerance = 1.0e-5;

BarycentricBox BoxOfTriangle(const UnpackedCollision& c, uint32_t t) {
  const auto& v = c.triangles[t].vertices;
  const Vec4 corners[3] = {c.view.vertices[v[0]], c.view.vertices[v[1]], c.view.vertices[v[2]]};
  return BoxOf(corners);
}

// Checks the bounds of the tree over triangles [begin, end) of a patch and returns them. As deep as
// the tree: logarithmic.
BarycentricBox CheckTree(const UnpackedCollision& c, uint32_t begin, uint32_t end, Tally* bounds) {
  const uint32_t middle = PatchTreeMiddle(begin, end);
  BarycentricBox box = BoxOfTriangle(c, begin);
  if (begin + 1 < middle) box = Union(box, CheckTree(c, begin + 1, middle, bounds));
  if (middle < end) box = Union(box, CheckTree(c, middle, end, bounds));
  if (QuantiseBounds(box) != c.triangles[begin].bounds) bounds->Add(begin);
  return box;
}

bool HasNodesOf(const CdgTet& record, const Tet& tet) {
  std::array<uint32_t, 4> nodes = NodesOf(tet);
  std::sort(nodes.begin(), nodes.end());
  return std::equal(nodes.begin(), nodes.end(), record.nodes);
}

bool BoundsItsVertices(const UnpackedCollision& c, uint32_t tet) {
  const Run patches = c.Patches(tet);
  const uint32_t begin = c.Vertices(patches.begin).begin;
  const uint32_t end = c.Vertices(patches.end - 1).end;
  const BarycentricBox box = BoxOf(c.view.vertices.subspan(begin, end - begin));
  const CdgTet& t = c.view.tets[tet];
  const std::array<float, 4> low = {t.low.x, t.low.y, t.low.z, t.low.w};
  const std::array<float, 4> high = {t.high.x, t.high.y, t.high.z, t.high.w};
  return std::equal(low.begin(), low.end(), box.low) &&
         std::equal(high.begin(), high.end(), box.high);
}

double Area(const Triangle3& t) { return 0.5 * Length(Cross(t[1] - t[0], t[2] - t[0])); }

double Perimeter(const Triangle3& t) {
  return Length(t[1] - t[0]) + Length(t[2] - t[1]) + Length(t[0] - t[2]);
}

// The largest distance between render surface and collision surface that the settings of a bake
// allow, as a share of the model's size; nullopt if the collision surface was not simplified.
std::optional<double> SimplifiedDistance(const Asset& asset) {
  const auto settings = nlohmann::json::parse(asset.settings(), nullptr, false);
  if (!settings.is_object() || !settings.contains("collision_triangles")) return std::nullopt;
  const auto share = settings.find("collision_distance");
  return share != settings.end() && share->is_number() ? share->get<double>() : 0.0;
}

// The render triangles that have an area.
std::vector<std::array<uint32_t, 3>> SoundTriangles(const VisualView& visual,
                                                    const std::vector<Vec3d>& positions) {
  std::vector<std::array<uint32_t, 3>> triangles;
  for (size_t i = 0; i + 2 < visual.indices.size(); i += 3) {
    const std::array<uint32_t, 3> t = {visual.indices[i], visual.indices[i + 1],
                                       visual.indices[i + 2]};
    if (!AreCollinear(positions[t[0]], positions[t[1]], positions[t[2]])) triangles.push_back(t);
  }
  return triangles;
}

// Checks that the vertices of a simplified collision surface and of the render surface are within
// `allowed` [m] of the other surface, and that no render triangle is much nearer to a collision
// triangle than the one that it names.
void CheckSimplified(const Asset& asset, const UnpackedCollision& c, double allowed, double reach,
                     FindingList* findings) {
  Tally far("FILE_COLLISION", "collision.vertices",
            "it is farther from the render surface than --collision-distance, in metres");
  Tally left("FILE_COLLISION", "visual.positions",
             "it is farther from the collision surface than --collision-distance, in metres");
  Tally named("FILE_COLLISION", "collision.source_triangles",
              "another render triangle is nearer to its middle, by metres");
  const std::vector<Vec3d> positions = ToDoubles(asset.visual().positions);
  const auto sound = SoundTriangles(asset.visual(), positions);
  if (sound.empty()) return;
  std::vector<Vec3d> places(c.view.vertices.size());
  std::vector<std::array<uint32_t, 3>> triangles;
  const SurfaceDistance from_render(positions, sound);
  uint32_t hint = 0;
  for (uint32_t t = 0; t < c.triangles.size(); ++t) {
    const auto& v = c.triangles[t].vertices;
    triangles.push_back({v[0], v[1], v[2]});
    const CdgPatch& patch = c.view.patches[c.patch_of_triangle[t]];
    Vec3d middle;
    for (const uint32_t vertex : v) {
      places[vertex] = RestPlace(asset, patch, vertex);
      middle += places[vertex] / 3.0;
      const double distance = from_render.DistanceOf(places[vertex], &hint);
      if (!(distance <= allowed)) far.AddAt(vertex, places[vertex], distance);
    }
    const auto source = asset.visual().indices.subspan(3 * size_t{c.view.source_triangles[t]}, 3);
    const double to_source =
        DistanceFrom({positions[source[0]], positions[source[1]], positions[source[2]]}, middle);
    const double excess = to_source - from_render.DistanceOf(middle, &hint);
    if (!(excess <= reach)) named.AddAt(t, middle, excess);
  }
  const SurfaceDistance from_collision(places, triangles);
  hint = 0;
  std::vector<bool> is_seen(positions.size(), false);
  for (const auto& triangle : sound) {
    for (const uint32_t vertex : triangle) {
      if (is_seen[vertex]) continue;
      is_seen[vertex] = true;
      const double distance = from_collision.DistanceOf(positions[vertex], &hint);
      if (!(distance <= allowed)) left.AddAt(vertex, positions[vertex], distance);
    }
  }
  for (const Tally* tally : {&far, &left, &named}) tally->Report(findings);
}

Triangle3 Sorted(Triangle3 t) {
  std::sort(t.begin(), t.end());
  return t;
}

}  // namespace

UnpackedCollision::UnpackedCollision(const CollisionView& collision) : view(collision) {
  triangles.reserve(view.num_triangles());
  for (const CdgTriangle& triangle : view.triangles) triangles.push_back(UnpackTriangle(triangle));
  for (const CdgWideTriangle& triangle : view.wide_triangles) {
    triangles.push_back(UnpackTriangle(triangle));
  }
  patch_of_triangle.resize(triangles.size());
  for (uint32_t p = 0; p < view.patches.size(); ++p) {
    for (uint32_t t = Triangles(p).begin; t < Triangles(p).end; ++t) patch_of_triangle[t] = p;
  }
}

Run UnpackedCollision::Patches(uint32_t tet) const {
  return RunOf(view.tets, tet, &CdgTet::first_patch, view.patches.size());
}

Run UnpackedCollision::Triangles(uint32_t patch) const {
  return RunOf(view.patches, patch, &CdgPatch::first_triangle, view.num_triangles());
}

Run UnpackedCollision::Vertices(uint32_t patch) const {
  return RunOf(view.patches, patch, &CdgPatch::first_vertex, view.vertices.size());
}

Run UnpackedCollision::Links(uint32_t patch) const {
  return RunOf(view.patches, patch, &CdgPatch::first_link, view.links.size());
}

Vec3d RestPlace(const Asset& asset, const CdgPatch& patch, uint32_t vertex) {
  const CollisionView& collision = asset.collision();
  const Vec4& weights = collision.vertices[vertex];
  const double w[4] = {weights.x, weights.y, weights.z, weights.w};
  Vec3d place;
  for (size_t i = 0; i < 4; ++i) {
    place += ToDouble(asset.simulation().nodes[collision.tets[patch.tet].nodes[i]]) * w[i];
  }
  return place;
}

void CheckCollisionBounds(const Asset& asset, const UnpackedCollision& c, FindingList* findings) {
  Tally nodes("FILE_COLLISION", "collision.tets", "the nodes are not those of its tet, ascending");
  Tally twice("FILE_COLLISION", "collision.tets", "its tet has come before");
  Tally tets("FILE_COLLISION", "collision.tets", "the bounds are not those of its vertices");
  Tally sums("FILE_COLLISION", "collision.vertices", "the weights do not sum to one");
  Tally trees("FILE_COLLISION", "collision.triangles",
              "the bounds are not those of its sub-tree, rounded outwards");
  std::set<uint32_t> seen;
  for (uint32_t t = 0; t < c.view.tets.size(); ++t) {
    if (!HasNodesOf(c.view.tets[t], asset.simulation().tets[c.view.tets[t].tet])) nodes.Add(t);
    if (!seen.insert(c.view.tets[t].tet).second) twice.Add(t);
    if (!BoundsItsVertices(c, t)) tets.Add(t);
  }
  for (uint32_t v = 0; v < c.view.vertices.size(); ++v) {
    const Vec4& w = c.view.vertices[v];
    const double sum = double{w.x} + double{w.y} + double{w.z} + double{w.w};
    if (!(std::abs(sum - 1.0) <= kSumTolerance)) sums.Add(v, std::abs(sum - 1.0));
  }
  for (uint32_t p = 0; p < c.view.patches.size(); ++p) {
    CheckTree(c, c.Triangles(p).begin, c.Triangles(p).end, &trees);
  }
  for (const Tally* tally : {&nodes, &twice, &tets, &sums, &trees}) tally->Report(findings);
}

void CheckPatchSums(const Asset& asset, const UnpackedCollision& c, FindingList* findings) {
  Tally areas("FILE_COLLISION", "collision.patches", "the area is not that of its triangles");
  Tally vectors("FILE_COLLISION", "collision.patches",
                "the vector area is not that of its triangles");
  Tally centroids("FILE_COLLISION", "collision.patches",
                  "the centroid is not that of its triangles, deviation in metres");
  for (uint32_t p = 0; p < c.view.patches.size(); ++p) {
    const CdgPatch& patch = c.view.patches[p];
    double area = 0.0;
    double reach = 0.0;  // largest coordinate
    Vec3d vector_area;
    Vec3d moment;
    Vec3d middle;
    const Run run = c.Triangles(p);
    for (uint32_t t = run.begin; t < run.end; ++t) {
      const auto& v = c.triangles[t].vertices;
      const Vec3d x = RestPlace(asset, patch, v[0]);
      const Vec3d y = RestPlace(asset, patch, v[1]);
      const Vec3d z = RestPlace(asset, patch, v[2]);
      const Vec3d normal = Cross(y - x, z - x) * 0.5;
      area += Length(normal);
      vector_area += normal;
      moment += (x + y + z) * (Length(normal) / 3.0);
      middle += (x + y + z) / (3.0 * (run.end - run.begin));
      for (const Vec3d& corner : {x, y, z}) {
        reach = std::max({reach, std::abs(corner.x), std::abs(corner.y), std::abs(corner.z)});
      }
    }
    const Vec3d centroid = area > 0.0 ? moment / area : middle;
    const double area_error = std::abs(area - patch.area);
    const double vector_error = Length(vector_area - ToDouble(patch.vector_area));
    const double centroid_error = Length(centroid - ToDouble(patch.centroid));
    if (!(area_error <= kSumsTolerance * area)) areas.AddAt(p, centroid, area_error);
    if (!(vector_error <= kSumsTolerance * area)) vectors.AddAt(p, centroid, vector_error);
    if (!(centroid_error <= kSumsTolerance * reach)) centroids.AddAt(p, centroid, centroid_error);
  }
  for (const Tally* tally : {&areas, &vectors, &centroids}) tally->Report(findings);
}

void CheckThickness(const Asset& asset, const UnpackedCollision& c, FindingList* findings) {
  Tally off("FILE_COLLISION", "collision.patches",
            "the thickness is not that of inward rays, deviation in metres");
  std::vector<Vec3d> points(c.view.vertices.size());
  std::vector<std::array<uint32_t, 3>> triangles;
  for (uint32_t p = 0; p < c.view.patches.size(); ++p) {
    const Run vertices = c.Vertices(p), run = c.Triangles(p);
    for (uint32_t v = vertices.begin; v < vertices.end; ++v) {
      points[v] = RestPlace(asset, c.view.patches[p], v);
    }
    for (uint32_t t = run.begin; t < run.end; ++t) {
      triangles.push_back(std::to_array(c.triangles[t].vertices));
    }
  }
  const SurfaceThickness right = MeasureThickness(points, triangles, c.view.patches);
  const auto deviation = [](float given, float measured) {
    return std::abs(static_cast<double>(given) - static_cast<double>(measured));
  };
  for (uint32_t p = 0; p < c.view.patches.size(); ++p) {
    const double error = deviation(c.view.patches[p].thickness, right.of_patches[p]);
    if (error <= kSumsTolerance * static_cast<double>(right.of_patches[p])) continue;
    off.AddAt(p, ToDouble(c.view.patches[p].centroid), error);
  }
  off.Report(findings);
  const double error = deviation(c.view.thickness, right.of_body);
  if (error <= kSumsTolerance * static_cast<double>(right.of_body)) return;
  findings->Add(
      "FILE_COLLISION", 1,
      "collision.thickness: is not that of inward rays, deviation " + NumberText(error, 3) + " m");
}

void CheckCollisionSources(const Asset& asset, const UnpackedCollision& c, FindingList* findings) {
  const VisualView& visual = asset.visual();
  const auto& sources = c.view.source_triangles;
  if (sources.empty() || !HasLatticeCage(asset)) return;
  const auto render_triangle = [&visual](size_t t) {
    Triangle3 x;
    for (size_t k = 0; k < 3; ++k) x[k] = ToDouble(visual.positions[visual.indices[3 * t + k]]);
    return x;
  };
  // Collapses of short edges move points, and floats are rounded.
  const double reach =
      kReachOfMerging * kShortestCutEdge * ExtentOf(ToDoubles(visual.positions)).size;
  if (const std::optional<double> share = SimplifiedDistance(asset)) {
    const double size = ExtentOf(ToDoubles(visual.positions)).size;
    CheckSimplified(asset, c, *share * size + reach, reach, findings);
    return;
  }
  Tally off("FILE_COLLISION", "collision.source_triangles",
            "it does not lie in the render triangle that it names, deviation in metres");
  std::vector<double> covered(visual.indices.size() / 3, 0.0);
  for (uint32_t t = 0; t < c.triangles.size(); ++t) {
    const Triangle3 source = render_triangle(sources[t]);
    const CdgPatch& patch = c.view.patches[c.patch_of_triangle[t]];
    Triangle3 own;
    double farthest = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      own[k] = RestPlace(asset, patch, c.triangles[t].vertices[k]);
      const Vec3d nearest = ClosestPointOnTriangle(own[k], source[0], source[1], source[2]);
      farthest = std::max(farthest, Length(own[k] - nearest));
    }
    covered[sources[t]] += Area(own);
    if (!(farthest <= reach)) off.AddAt(t, own[0], farthest);
  }
  Tally gaps("FILE_COLLISION", "visual.indices",
             "the collision triangles that name it do not cover it, deviation in square metres");
  std::set<Triangle3> named;
  for (size_t t = 0; t < covered.size(); ++t) {
    if (covered[t] > 0.0) named.insert(Sorted(render_triangle(t)));
  }
  for (size_t t = 0; t < covered.size(); ++t) {
    const Triangle3 x = render_triangle(t);
    const double missing = std::abs(Area(x) - covered[t]);
    if (missing <= reach * Perimeter(x)) continue;
    if (covered[t] == 0.0 && named.count(Sorted(x)) > 0) continue;  // another one coincides with it
    gaps.AddAt(t, x[0], missing);
  }
  off.Report(findings);
  gaps.Report(findings);
}

}  // namespace plush::tools
