// SPDX-License-Identifier: MIT
// Checks a render surface for defects that the bake survives but the artist should know about.
// Each check adds at most one finding, with up to ten places.
#include "mesh/surface_checks.h"

#include "mesh/box3.h"
#include "mesh/disjoint_sets.h"
#include "mesh/self_intersection.h"
#include "mesh/topology.h"
#include "mesh/welding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

double LargestComponent(const Vec3d& v) {
  return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
}

// Returns the upper median; reorders the values.
double Median(std::vector<double>* values) {
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

std::string Counted(uint64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

// The input of all checks.
struct Subject {
  const SurfaceMesh& mesh;
  WeldedSurface welded;
  SurfaceTopology topology;
};

Vec3d TriangleCentre(const SurfaceMesh& mesh, uint32_t triangle) {
  const auto& t = mesh.triangles[triangle];
  return mesh.positions[t[0]] / 3.0 + mesh.positions[t[1]] / 3.0 + mesh.positions[t[2]] / 3.0;
}

const std::string& PartName(const SurfaceMesh& mesh, uint32_t triangle) {
  static const std::string kNone;
  size_t low = 0;
  size_t high = mesh.parts.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const SurfacePart& part = mesh.parts[middle];
    if (triangle < part.first_triangle) {
      high = middle;
    } else if (triangle - part.first_triangle >= part.num_triangles) {
      low = middle + 1;
    } else {
      return part.name;
    }
  }
  return kNone;
}

Place PlaceOfTriangle(const SurfaceMesh& mesh, uint32_t triangle) {
  return {TriangleCentre(mesh, triangle), triangle, -1, PartName(mesh, triangle)};
}

std::vector<Place> PlacesOfTriangles(const SurfaceMesh& mesh,
                                     const std::vector<uint32_t>& triangles) {
  std::vector<Place> places;
  for (size_t i = 0; i < triangles.size() && i < kMaxPlaces; ++i) {
    places.push_back(PlaceOfTriangle(mesh, triangles[i]));
  }
  return places;
}

// The edge's midpoint; its first triangle; and, as `element`, its second triangle if there is one.
Place PlaceOfEdge(const Subject& subject, const SurfaceEdge& edge) {
  const auto uses = subject.topology.UsesOf(edge);
  const std::vector<Vec3d>& points = subject.welded.points;
  Place place;
  place.position = points[edge.a] * 0.5 + points[edge.b] * 0.5;
  place.triangle = subject.welded.source_triangle[uses[0].triangle];
  if (uses.size() > 1) place.element = subject.welded.source_triangle[uses[1].triangle];
  place.object = PartName(subject.mesh, static_cast<uint32_t>(place.triangle));
  return place;
}

// The number of edges that meet a condition, and the first few places.
struct EdgeCount {
  uint64_t count = 0;
  std::vector<Place> places;
};

template <class Condition>
EdgeCount CountEdges(const Subject& subject, Condition condition) {
  EdgeCount result;
  for (const SurfaceEdge& edge : subject.topology.edges) {
    if (!condition(edge)) continue;
    ++result.count;
    if (result.places.size() < kMaxPlaces) result.places.push_back(PlaceOfEdge(subject, edge));
  }
  return result;
}

// A hole is a connected set of border edges.
uint64_t CountHoles(const Subject& subject) {
  DisjointSets sets(static_cast<uint32_t>(subject.welded.points.size()));
  std::vector<bool> on_border(subject.welded.points.size());
  for (const SurfaceEdge& edge : subject.topology.edges) {
    if (edge.num_uses != 1) continue;
    sets.Join(edge.a, edge.b);
    on_border[edge.a] = on_border[edge.b] = true;
  }
  uint64_t holes = 0;
  for (uint32_t p = 0; p < on_border.size(); ++p) {
    if (on_border[p] && sets.Find(p) == p) ++holes;
  }
  return holes;
}

void CheckTriangles(const Subject& subject, FindingList* findings) {
  const SurfaceMesh& mesh = subject.mesh;
  const WeldedSurface& welded = subject.welded;
  if (!welded.degenerate.empty()) {
    findings->Add("MESH_DEGENERATE_TRIANGLE", welded.degenerate.size(),
                  Counted(welded.degenerate.size(), "triangle has", "triangles have") + " no area",
                  PlacesOfTriangles(mesh, welded.degenerate));
  }
  if (!welded.duplicates.empty()) {
    findings->Add("MESH_DUPLICATE_FACE", welded.duplicates.size(),
                  Counted(welded.duplicates.size(), "triangle repeats", "triangles repeat") +
                      " the corners of an earlier one",
                  PlacesOfTriangles(mesh, welded.duplicates));
  }
}

void CheckBorders(const Subject& subject, FindingList* findings) {
  const EdgeCount open =
      CountEdges(subject, [](const SurfaceEdge& edge) { return edge.num_uses == 1; });
  if (open.count == 0) return;
  findings->Add("MESH_OPEN_BOUNDARY", open.count,
                Counted(open.count, "edge belongs", "edges belong") + " to one triangle only, in " +
                    Counted(CountHoles(subject), "hole", "holes"),
                open.places);
}

void CheckManifoldness(const Subject& subject, FindingList* findings) {
  const EdgeCount crowded =
      CountEdges(subject, [](const SurfaceEdge& edge) { return edge.num_uses > 2; });
  if (crowded.count == 0) return;
  findings->Add("MESH_NON_MANIFOLD_EDGE", crowded.count,
                Counted(crowded.count, "edge belongs", "edges belong") +
                    " to more than two triangles (element: the second triangle)",
                crowded.places);
}

void CheckOrientation(const Subject& subject, FindingList* findings) {
  const EdgeCount disagreeing = CountEdges(subject, [&subject](const SurfaceEdge& edge) {
    const auto uses = subject.topology.UsesOf(edge);
    return uses.size() == 2 && uses[0].forward == uses[1].forward;
  });
  if (disagreeing.count == 0) return;
  std::string message = Counted(disagreeing.count, "edge joins", "edges join") +
                        " triangles that disagree on the outside (element: the second triangle)";
  if (!IsOrientable(subject.topology))
    message += "; the surface is one-sided, like a Moebius strip";
  findings->Add("MESH_INCONSISTENT_ORIENTATION", disagreeing.count, message, disagreeing.places);
}

void CheckComponents(const Subject& subject, FindingList* findings) {
  const uint32_t num_components = subject.topology.num_components;
  if (num_components < 2) return;
  std::vector<uint32_t> first_triangles;
  const auto& component_of = subject.topology.component_of_triangle;
  std::vector<bool> seen(num_components);
  for (size_t t = 0; t < component_of.size() && first_triangles.size() < kMaxPlaces; ++t) {
    if (seen[component_of[t]]) continue;
    seen[component_of[t]] = true;
    first_triangles.push_back(subject.welded.source_triangle[t]);
  }
  findings->Add("MESH_COMPONENTS", num_components,
                Counted(num_components, "component", "components") + " without a common point",
                PlacesOfTriangles(subject.mesh, first_triangles));
}

void CheckSelfIntersections(const Subject& subject, FindingList* findings) {
  const WeldedSurface& welded = subject.welded;
  const SelfIntersections found =
      FindSelfIntersections(welded.points, std::span(welded.triangles).first(welded.num_with_area));
  std::vector<Place> places;
  for (size_t i = 0; i < found.pairs.size() && i < kMaxPlaces; ++i) {
    const TrianglePair& pair = found.pairs[i];
    const uint32_t triangle = welded.source_triangle[pair.first];
    places.push_back({pair.near, triangle, welded.source_triangle[pair.second],
                      PartName(subject.mesh, triangle)});
  }
  if (found.pairs.empty() && found.complete) return;
  std::string message = Counted(found.pairs.size(), "pair", "pairs") +
                        " of triangles pass through or touch each other (element: the second one)";
  if (!found.complete) message += "; the search ended at its bound, there may be more";
  findings->Add("MESH_SELF_INTERSECTION", found.pairs.size(), message, places);
}

// Points far away from all others, ascending. The middle consists of the median of each
// coordinate; distance is the largest difference in a coordinate. O(n).
std::vector<uint32_t> FindStrayPoints(std::span<const Vec3d> points) {
  std::vector<uint32_t> stray;
  if (points.empty()) return stray;
  Vec3d middle;
  std::vector<double> values(points.size());
  for (int axis = 0; axis < 3; ++axis) {
    for (size_t p = 0; p < points.size(); ++p) values[p] = points[p][axis];
    middle[axis] = Median(&values);
  }
  for (size_t p = 0; p < points.size(); ++p) values[p] = LargestComponent(points[p] - middle);
  const double limit = kStrayRatio * Median(&values);
  for (uint32_t p = 0; p < points.size(); ++p) {
    if (LargestComponent(points[p] - middle) > limit) stray.push_back(p);
  }
  return stray;
}

// Adds MESH_STRAY_VERTEX. Returns the box of all other points.
Box3 CheckStrayPoints(const Subject& subject, FindingList* findings) {
  const std::vector<Vec3d>& points = subject.welded.points;
  const std::vector<uint32_t> stray = FindStrayPoints(points);
  std::vector<bool> is_stray(points.size());
  for (const uint32_t p : stray) is_stray[p] = true;
  Box3 box;
  for (size_t p = 0; p < points.size(); ++p) {
    if (!is_stray[p]) box.Add(points[p]);
  }
  if (stray.empty()) return box;
  std::vector<Place> places;
  const std::vector<uint32_t>& point_of_vertex = subject.welded.point_of_vertex;
  for (size_t i = 0; i < stray.size() && i < kMaxPlaces; ++i) {
    const auto vertex = std::find(point_of_vertex.begin(), point_of_vertex.end(), stray[i]);
    places.push_back({points[stray[i]], -1, vertex - point_of_vertex.begin(), ""});
  }
  const Vec3d& first = points[stray[0]];
  std::array<char, 160> text;
  std::snprintf(
      text.data(), text.size(),
      " far away from all others, the first at (%.6g, %.6g, %.6g) m (element: the vertex)", first.x,
      first.y, first.z);
  findings->Add("MESH_STRAY_VERTEX", stray.size(),
                Counted(stray.size(), "vertex is", "vertices are") + text.data(), places);
  return box;
}

// The runtime stores positions in single precision.
void CheckDistanceFromOrigin(const Box3& box, FindingList* findings) {
  const double size = LargestComponent(box.Extent());
  const double reach = std::max(LargestComponent(box.low), LargestComponent(box.high));
  const double spacing =
      reach > static_cast<double>(std::numeric_limits<float>::min())
          ? std::ldexp(1.0, std::ilogb(reach) - (std::numeric_limits<float>::digits - 1))
          : 0.0;
  if (!(spacing > kMaxFloatSpacing * size)) return;
  std::array<char, 200> text;
  std::snprintf(text.data(), text.size(),
                "a model of %.6g m lies %.6g m from the origin, where neighbouring floats are "
                "%.3g m apart",
                size, LargestComponent(box.Centre()), spacing);
  findings->Add("MESH_FAR_FROM_ORIGIN", 1, text.data(), {{box.Centre(), -1, -1, ""}});
}

void CheckSeams(const Subject& subject, FindingList* findings) {
  const size_t num_vertices = subject.mesh.positions.size();
  const size_t num_points = subject.welded.points.size();
  if (num_points == num_vertices) return;
  findings->Add("SEAMS_WELDED", num_vertices - num_points,
                std::to_string(num_vertices) + " render vertices lie at " +
                    Counted(num_points, "point", "points"));
}

}  // namespace

SurfaceFacts CheckSurface(const SurfaceMesh& mesh, const SurfaceCheckSettings& settings,
                          FindingList* findings) {
  Subject subject = {mesh, MakeWeldedSurface(mesh), {}};
  subject.topology =
      BuildTopology(subject.welded.triangles, static_cast<uint32_t>(subject.welded.points.size()));
  CheckTriangles(subject, findings);
  if (subject.welded.num_with_area == 0) {
    findings->Add("MESH_EMPTY", 1,
                  "none of " + Counted(mesh.triangles.size(), "triangle", "triangles") +
                      " has positive area");
  } else {
    CheckBorders(subject, findings);
    CheckManifoldness(subject, findings);
    CheckOrientation(subject, findings);
    if (settings.self_intersections) CheckSelfIntersections(subject, findings);
    CheckComponents(subject, findings);
    CheckDistanceFromOrigin(CheckStrayPoints(subject, findings), findings);
    CheckSeams(subject, findings);
  }
  return {static_cast<uint32_t>(subject.welded.points.size()), subject.topology.num_components};
}

}  // namespace plush::tools
