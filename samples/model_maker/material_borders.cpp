// SPDX-License-Identifier: MIT
// Cuts painted regions into the surface: marching tetrahedra in two dimensions.
// Based on:
// Francois Labelle, Jonathan Richard Shewchuk. Isosurface stuffing: fast tetrahedral meshes with
//   good dihedral angles. 2007 (first moving the points that are close to the border)

#include "material_borders.h"

#include "remeshing.h"

#include <algorithm>
#include <cmath>

namespace plush::samples {
namespace {

constexpr double kSnapShare = 0.3;  // a vertex this near the border, in edge lengths, moves onto it
constexpr double kShortEdgeShare = 0.4;  // of the wanted edge length
constexpr double kTinyEdgeShare = 0.1;   // of the wanted edge length
constexpr int kSnapSteps = 4;
constexpr int kImprovements = 3;
constexpr int kBisections = 24;

double ShortestEdge(const SurfaceEditor& mesh, uint32_t vertex) {
  double shortest = 1.0;
  for (const uint32_t neighbour : mesh.Neighbours(vertex)) {
    shortest = std::min(shortest, Length(mesh.position(neighbour) - mesh.position(vertex)));
  }
  return shortest;
}

/// Cuts the border of one region.
class BorderCutter {
 public:
  BorderCutter(const Solid& solid, const Solid& region, SurfaceEditor* mesh,
               std::vector<bool>* locked)
      : solid_(solid), region_(region), mesh_(*mesh), locked_(*locked) {}

  /// Distance to the region by vertex; exactly 0 on the border.
  std::vector<double> Cut() {
    values_.resize(mesh_.num_vertices());
    for (uint32_t vertex = 0; vertex < values_.size(); ++vertex) {
      values_[vertex] =
          mesh_.IsAlive(vertex) ? samples::Distance(region_, mesh_.position(vertex)) : 1.0;
    }
    for (uint32_t vertex = 0; vertex < values_.size(); ++vertex) SnapIfNear(vertex);
    for (const Edge& edge : mesh_.Edges()) SplitIfCrossing(edge);
    return values_;
  }

 private:
  void SnapIfNear(uint32_t vertex) {
    if (!mesh_.IsAlive(vertex) || locked_[vertex]) return;
    const double reach = kSnapShare * ShortestEdge(mesh_, vertex);
    if (std::fabs(values_[vertex]) > reach) return;
    const Vec3d p = OntoBorder(mesh_.position(vertex));
    if (Length(p - mesh_.position(vertex)) > 1.5 * reach || !mesh_.Move(vertex, p)) return;
    values_[vertex] = 0.0;
    locked_[vertex] = true;
  }

  /// Newton's method for the point of the surface and the border near `p`.
  Vec3d OntoBorder(Vec3d p) const {
    for (int i = 0; i < kSnapSteps; ++i) {
      const Vec3d normal = Gradient(solid_, p);
      const Vec3d slope = Gradient(region_, p);
      const Vec3d along = slope - (Dot(slope, normal) / LengthSquared(normal)) * normal;
      if (LengthSquared(along) < 1.0e-4) return p;
      p -= (samples::Distance(region_, p) / LengthSquared(along)) * along;
      p = ProjectToSurface(solid_, p, 1.0);
    }
    return p;
  }

  void SplitIfCrossing(const Edge& edge) {
    const double first = values_[edge.first];
    const double second = values_[edge.second];
    if (first == 0.0 || second == 0.0 || (first < 0.0) == (second < 0.0)) return;
    const Vec3d& inner = mesh_.position(first < 0.0 ? edge.first : edge.second);
    const Vec3d& outer = mesh_.position(first < 0.0 ? edge.second : edge.first);
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      (samples::Distance(region_, inner + middle * (outer - inner)) < 0.0 ? low : high) = middle;
    }
    const Vec3d cut = inner + low * (outer - inner);
    const double reach = 0.2 * Length(outer - inner);
    const uint32_t vertex = mesh_.Split(edge.first, edge.second, cut);
    mesh_.Move(vertex, ProjectToSurface(solid_, cut, reach));
    values_.push_back(0.0);
    locked_.push_back(true);
  }

  const Solid& solid_;
  const Solid& region_;
  SurfaceEditor& mesh_;
  std::vector<bool>& locked_;
  std::vector<double> values_;
};

/// Whether a triangle is in a region, by the values at its corners.
bool IsInside(const Solid& region, const std::vector<double>& values, const SurfaceEditor& mesh,
              uint32_t triangle) {
  const auto& [a, b, c] = mesh.triangle(triangle);
  double sum = 0.0;
  // Vertices made by a later paint have no entry in `values`; evaluate the region at their
  // position.
  for (const uint32_t vertex : {a, b, c}) {
    sum +=
        vertex < values.size() ? values[vertex] : samples::Distance(region, mesh.position(vertex));
  }
  if (sum != 0.0) return sum < 0.0;
  const Vec3d middle = (mesh.position(a) + mesh.position(b) + mesh.position(c)) / 3.0;
  return samples::Distance(region, middle) < 0.0;
}

bool IsBorder(const MaterialLayout& layout, const SurfaceEditor& mesh, uint32_t a, uint32_t b) {
  const auto [left, right] = mesh.TrianglesAt(a, b);
  return layout.material_of_triangle[left] != layout.material_of_triangle[right];
}

/// Whether `vertex` may merge into its neighbour `kept` without bending a border. It may if it is
/// inside one material, or on the smooth part of a border that leads to `kept`.
bool MayMerge(const MaterialLayout& layout, const SurfaceEditor& mesh, uint32_t vertex,
              uint32_t kept) {
  if (!layout.locked[vertex]) return true;
  int num_borders = 0;
  for (const uint32_t neighbour : mesh.Neighbours(vertex)) {
    num_borders += IsBorder(layout, mesh, vertex, neighbour) ? 1 : 0;
  }
  return num_borders == 2 && IsBorder(layout, mesh, vertex, kept);
}

void CollapseShortEdges(const Model& model, const MaterialLayout& layout, SurfaceEditor* mesh) {
  const std::vector<double> wanted =
      WantedEdges(*mesh, model.solid, PaintedRegions(model), model.edge);
  for (const auto& [a, b] : mesh->Edges()) {
    if (!mesh->IsAlive(a) || !mesh->IsAlive(b) || !mesh->HasEdge(a, b)) continue;
    const double length = Length(mesh->position(a) - mesh->position(b));
    if (length > kShortEdgeShare * std::min(wanted[a], wanted[b])) continue;
    const bool is_tiny = length < kTinyEdgeShare * wanted[a];  // too small to show a bend
    if ((is_tiny || MayMerge(layout, *mesh, a, b)) && mesh->Collapse(b, a, mesh->position(b))) {
      continue;
    }
    if (is_tiny || MayMerge(layout, *mesh, b, a)) mesh->Collapse(a, b, mesh->position(a));
  }
}

/// 1 for an equilateral triangle, 0 for a flat one.
double Quality(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const double squares = LengthSquared(b - a) + LengthSquared(c - b) + LengthSquared(a - c);
  return squares > 0.0 ? 2.0 * std::sqrt(3.0) * Length(Cross(b - a, c - a)) / squares : 0.0;
}

void FlipThinTriangles(const MaterialLayout& layout, SurfaceEditor* mesh) {
  for (const auto& [a, b] : mesh->Edges()) {
    if (!mesh->HasEdge(a, b) || IsBorder(layout, *mesh, a, b)) continue;
    const auto [c, d] = mesh->Opposite(a, b);
    const Vec3d &pa = mesh->position(a), &pb = mesh->position(b);
    const Vec3d &pc = mesh->position(c), &pd = mesh->position(d);
    const double before = std::min(Quality(pa, pb, pc), Quality(pb, pa, pd));
    const double after = std::min(Quality(pa, pd, pc), Quality(pb, pc, pd));
    if (after > before) mesh->Flip(a, b);
  }
}

}  // namespace

MaterialLayout CutMaterialBorders(const Model& model, SurfaceEditor* mesh) {
  MaterialLayout layout;
  layout.locked.assign(mesh->num_vertices(), false);
  std::vector<std::vector<double>> values;
  for (const Paint& paint : model.paints) {
    values.push_back(BorderCutter(model.solid, paint.region, mesh, &layout.locked).Cut());
  }
  layout.material_of_triangle.assign(mesh->num_triangles(), 0);
  for (uint32_t t = 0; t < layout.material_of_triangle.size(); ++t) {
    for (size_t i = 0; i < model.paints.size(); ++i) {
      if (IsInside(model.paints[i].region, values[i], *mesh, t)) {
        layout.material_of_triangle[t] = model.paints[i].material;
      }
    }
  }
  return layout;
}

void ImproveTrianglesAtBorders(const Model& model, const MaterialLayout& layout,
                               SurfaceEditor* mesh) {
  for (int i = 0; i < kImprovements; ++i) {
    CollapseShortEdges(model, layout, mesh);
    FlipThinTriangles(layout, mesh);
  }
}

}  // namespace plush::samples
