// SPDX-License-Identifier: MIT
// Cuts painted regions into the surface: the two-dimensional sibling of marching tetrahedra.
// Based on:
// Francois Labelle, Jonathan Richard Shewchuk. Isosurface stuffing: fast tetrahedral meshes with
// good dihedral angles. 2007 (moving the points that lie close to the border first)

#include "material_borders.h"

#include <algorithm>
#include <cmath>

#include "remeshing.h"

namespace plush::samples {
namespace {

constexpr double kSnapShare = 0.3;  // a vertex this near the border, in edge lengths, moves onto it
constexpr int kSnapSteps = 4;
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

/// Whether a triangle lies in a region, by the values at its corners.
bool IsInside(const Solid& region, const std::vector<double>& values, const SurfaceEditor& mesh,
              uint32_t triangle) {
  const auto& [a, b, c] = mesh.triangle(triangle);
  double sum = 0.0;
  // Vertices that a later paint made are not in `values`: their place decides.
  for (const uint32_t vertex : {a, b, c}) {
    sum += vertex < values.size() ? values[vertex]
                                  : samples::Distance(region, mesh.position(vertex));
  }
  if (sum != 0.0) return sum < 0.0;
  const Vec3d middle = (mesh.position(a) + mesh.position(b) + mesh.position(c)) / 3.0;
  return samples::Distance(region, middle) < 0.0;
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

}  // namespace plush::samples
