// SPDX-License-Identifier: MIT
// Finds defects of a render surface that the bake survives but the artist should know about.
// Each check adds at most one finding, with up to ten places.
#include "mesh/surface_checks.h"

#include "base/text.h"
#include "mesh/box3.h"
#include "mesh/disjoint_sets.h"
#include "mesh/self_intersection.h"
#include "mesh/topology.h"
#include "mesh/welding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
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

std::string PartName(const SurfaceMesh& mesh, uint32_t triangle) {
  for (const SurfacePart& part : mesh.parts) {
    const bool reached = triangle >= part.first_triangle;
    if (reached && triangle - part.first_triangle < part.num_triangles) return part.name;
  }
  return "";
}

// The places of the first items, at most kMaxPlaces.
template <class Item, class PlaceOf>
std::vector<Place> FirstPlaces(const std::vector<Item>& items, const PlaceOf& place_of) {
  std::vector<Place> places;
  for (size_t i = 0; i < items.size() && i < kMaxPlaces; ++i) places.push_back(place_of(items[i]));
  return places;
}

std::vector<Place> PlacesOfTriangles(const SurfaceMesh& mesh,
                                     const std::vector<uint32_t>& triangles) {
  return FirstPlaces(triangles, [&](uint32_t triangle) {
    const auto& [a, b, c] = mesh.triangles[triangle];
    const Vec3d centre =
        mesh.positions[a] / 3.0 + mesh.positions[b] / 3.0 + mesh.positions[c] / 3.0;
    return Place{centre, triangle, -1, PartName(mesh, triangle)};
  });
}

// The edge's midpoint and its first triangle; `element` is the second triangle, if any.
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

template <class Condition>
std::vector<SurfaceEdge> FindEdges(const Subject& subject, const Condition& condition) {
  std::vector<SurfaceEdge> edges;
  std::copy_if(subject.topology.edges.begin(), subject.topology.edges.end(),
               std::back_inserter(edges), condition);
  return edges;
}

std::vector<Place> PlacesOfEdges(const Subject& subject, const std::vector<SurfaceEdge>& edges) {
  return FirstPlaces(edges, [&](const SurfaceEdge& edge) { return PlaceOfEdge(subject, edge); });
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
  const auto add = [&](const char* code, const std::vector<uint32_t>& triangles,
                       const std::string& message) {
    if (triangles.empty()) return;
    findings->Add(code, triangles.size(), message, PlacesOfTriangles(subject.mesh, triangles));
  };
  const auto& degenerate = subject.welded.degenerate;
  add("MESH_DEGENERATE_TRIANGLE", degenerate,
      Counted(degenerate.size(), "triangle has", "triangles have") + " no area");
  const auto& duplicates = subject.welded.duplicates;
  add("MESH_DUPLICATE_FACE", duplicates,
      Counted(duplicates.size(), "triangle repeats", "triangles repeat") +
          " the corners of an earlier one");
}

void CheckBorders(const Subject& subject, FindingList* findings) {
  const std::vector<SurfaceEdge> open =
      FindEdges(subject, [](const SurfaceEdge& edge) { return edge.num_uses == 1; });
  if (open.empty()) return;
  findings->Add("MESH_OPEN_BOUNDARY", open.size(),
                Counted(open.size(), "edge belongs", "edges belong") +
                    " to one triangle only, in " + Counted(CountHoles(subject), "hole", "holes"),
                PlacesOfEdges(subject, open));
}

void CheckManifoldness(const Subject& subject, FindingList* findings) {
  const std::vector<SurfaceEdge> crowded =
      FindEdges(subject, [](const SurfaceEdge& edge) { return edge.num_uses > 2; });
  if (crowded.empty()) return;
  findings->Add("MESH_NON_MANIFOLD_EDGE", crowded.size(),
                Counted(crowded.size(), "edge belongs", "edges belong") +
                    " to more than two triangles (element: the second triangle)",
                PlacesOfEdges(subject, crowded));
}

void CheckOrientation(const Subject& subject, FindingList* findings) {
  const std::vector<SurfaceEdge> disagreeing =
      FindEdges(subject, [&subject](const SurfaceEdge& edge) {
        const auto uses = subject.topology.UsesOf(edge);
        return uses.size() == 2 && uses[0].forward == uses[1].forward;
      });
  if (disagreeing.empty()) return;
  std::string message = Counted(disagreeing.size(), "edge joins", "edges join") +
                        " triangles that disagree on the outside (element: the second triangle)";
  if (!IsOrientable(subject.topology))
    message += "; the surface is one-sided, like a Moebius strip";
  findings->Add("MESH_INCONSISTENT_ORIENTATION", disagreeing.size(), message,
                PlacesOfEdges(subject, disagreeing));
}

void CheckComponents(const Subject& subject, FindingList* findings) {
  const uint32_t num_components = subject.topology.num_components;
  if (num_components < 2) return;
  // Components are numbered in the order of their first triangles.
  std::vector<uint32_t> first_triangles;
  const auto& component_of = subject.topology.component_of_triangle;
  for (size_t t = 0; t < component_of.size(); ++t) {
    if (component_of[t] != first_triangles.size()) continue;
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
  if (found.pairs.empty() && found.complete) return;
  std::string message = Counted(found.pairs.size(), "pair", "pairs") +
                        " of triangles pass through or touch each other (element: the second one)";
  if (!found.complete) message += "; the search ended at its bound, there may be more";
  const std::vector<Place> places = FirstPlaces(found.pairs, [&](const TrianglePair& pair) {
    const uint32_t triangle = welded.source_triangle[pair.first];
    return Place{pair.near, triangle, welded.source_triangle[pair.second],
                 PartName(subject.mesh, triangle)};
  });
  findings->Add("MESH_SELF_INTERSECTION", found.pairs.size(), message, places);
}

// Points far from the middle, which has the median of each coordinate, ascending. Distance is the
// largest difference in a coordinate. O(n).
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
  const std::vector<uint32_t>& point_of_vertex = subject.welded.point_of_vertex;
  const std::vector<Place> places = FirstPlaces(stray, [&](uint32_t p) {
    const auto vertex = std::find(point_of_vertex.begin(), point_of_vertex.end(), p);
    return Place{points[p], -1, vertex - point_of_vertex.begin(), ""};
  });
  const Vec3d& first = points[stray[0]];
  findings->Add("MESH_STRAY_VERTEX", stray.size(),
                Counted(stray.size(), "vertex is", "vertices are") +
                    " far away from all others, the first at (" + RoundedText(first.x) + ", " +
                    RoundedText(first.y) + ", " + RoundedText(first.z) +
                    ") m (element: the vertex)",
                places);
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
