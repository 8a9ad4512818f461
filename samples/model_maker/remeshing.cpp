// SPDX-License-Identifier: MIT
// Isotropic remeshing with a sizing field.
// Based on:
// Mario Botsch, Leif Kobbelt. A remeshing approach to multiresolution modeling. 2004

#include "remeshing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace plush::samples {
namespace {

constexpr int kRounds = 6;
constexpr int kProjections = 4;
constexpr double kOnSurface = 1.0e-7;    // near enough [m]
constexpr double kLongest = 4.0 / 3.0;   // of the wanted length, before an edge is split
constexpr double kShortest = 4.0 / 5.0;  // of the wanted length, before an edge is collapsed

double Wanted(const std::vector<double>& wanted, const Edge& edge) {
  return 0.5 * (wanted[edge.first] + wanted[edge.second]);
}

Vec3d Middle(const SurfaceEditor& mesh, const Edge& edge) {
  return 0.5 * (mesh.position(edge.first) + mesh.position(edge.second));
}

double EdgeLength(const SurfaceEditor& mesh, const Edge& edge) {
  return Length(mesh.position(edge.first) - mesh.position(edge.second));
}

void SplitLongEdges(const Solid& solid, std::vector<double>* wanted, SurfaceEditor* mesh) {
  for (const Edge& edge : mesh->Edges()) {
    const double target = Wanted(*wanted, edge);
    if (EdgeLength(*mesh, edge) <= kLongest * target) continue;
    const Vec3d middle = Middle(*mesh, edge);
    const uint32_t vertex = mesh->Split(edge.first, edge.second, middle);
    wanted->push_back(target);
    mesh->Move(vertex, ProjectToSurface(solid, middle, 0.3 * target));
  }
}

/// Whether merging the edge at `p` would leave an edge that the next round would split again.
bool MakesLongEdge(const SurfaceEditor& mesh, const Edge& edge, const Vec3d& p, double limit) {
  for (const uint32_t end : {edge.first, edge.second}) {
    for (const uint32_t neighbour : mesh.Neighbours(end)) {
      if (Length(mesh.position(neighbour) - p) > limit) return true;
    }
  }
  return false;
}

void CollapseShortEdges(const Solid& solid, const std::vector<double>& wanted,
                        SurfaceEditor* mesh) {
  for (const Edge& edge : mesh->Edges()) {
    if (!mesh->IsAlive(edge.first) || !mesh->IsAlive(edge.second)) continue;
    if (!mesh->HasEdge(edge.first, edge.second)) continue;
    const double target = Wanted(wanted, edge);
    if (EdgeLength(*mesh, edge) >= kShortest * target) continue;
    const Vec3d p = ProjectToSurface(solid, Middle(*mesh, edge), 0.3 * target);
    if (MakesLongEdge(*mesh, edge, p, kLongest * target)) continue;
    mesh->Collapse(edge.first, edge.second, p);
  }
}

int ValenceError(size_t valence) { return std::abs(static_cast<int>(valence) - 6); }

void FlipForValence(SurfaceEditor* mesh) {
  for (const auto& [a, b] : mesh->Edges()) {
    if (!mesh->HasEdge(a, b)) continue;
    const auto [c, d] = mesh->Opposite(a, b);
    const size_t va = mesh->TrianglesAround(a).size(), vb = mesh->TrianglesAround(b).size();
    const size_t vc = mesh->TrianglesAround(c).size(), vd = mesh->TrianglesAround(d).size();
    const int before = ValenceError(va) + ValenceError(vb) + ValenceError(vc) + ValenceError(vd);
    const int after =
        ValenceError(va - 1) + ValenceError(vb - 1) + ValenceError(vc + 1) + ValenceError(vd + 1);
    if (after < before) mesh->Flip(a, b);
  }
}

}  // namespace

Vec3d ProjectToSurface(const Solid& solid, const Vec3d& p, double reach) {
  Vec3d q = p;
  for (int i = 0; i < kProjections; ++i) {
    const double distance = samples::Distance(solid, q);
    if (std::fabs(distance) < kOnSurface) break;
    const Vec3d gradient = Gradient(solid, q);
    const double slope_squared = LengthSquared(gradient);
    if (slope_squared < 1.0e-4) return p;
    q -= (distance / slope_squared) * gradient;
  }
  const double moved = Length(q - p);
  return moved <= reach ? q : p + (reach / moved) * (q - p);
}

std::vector<double> WantedEdges(const SurfaceEditor& mesh, const Solid& solid, const Solid& details,
                                double base) {
  std::vector<double> wanted(mesh.num_vertices(), base);
  for (uint32_t vertex = 0; vertex < wanted.size(); ++vertex) {
    if (!mesh.IsAlive(vertex)) continue;
    const Vec3d& p = mesh.position(vertex);
    wanted[vertex] = std::min(WantedEdge(solid, base, p), WantedEdge(details, base, p));
  }
  return wanted;
}

void Remesh(const Solid& solid, const Solid& details, double base_edge, SurfaceEditor* mesh) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> wanted = WantedEdges(*mesh, solid, details, base_edge);
    SplitLongEdges(solid, &wanted, mesh);
    CollapseShortEdges(solid, wanted, mesh);
    FlipForValence(mesh);
    SmoothAlongSurface(solid, std::vector<bool>(mesh->num_vertices(), false), 0.5 * base_edge,
                       mesh);
  }
}

void SmoothAlongSurface(const Solid& solid, const std::vector<bool>& locked, double reach,
                        SurfaceEditor* mesh) {
  for (uint32_t vertex = 0; vertex < mesh->num_vertices(); ++vertex) {
    if (!mesh->IsAlive(vertex) || locked[vertex]) continue;
    const Vec3d p = mesh->position(vertex);
    const std::vector<uint32_t> neighbours = mesh->Neighbours(vertex);
    Vec3d centre;
    for (const uint32_t neighbour : neighbours) centre += mesh->position(neighbour);
    centre = centre / static_cast<double>(neighbours.size());
    const Vec3d gradient = Gradient(solid, p);
    const double slope_squared = LengthSquared(gradient);
    if (slope_squared < 1.0e-4) continue;
    const Vec3d pull = centre - p;
    const Vec3d along = pull - (Dot(pull, gradient) / slope_squared) * gradient;
    if (mesh->Move(vertex, ProjectToSurface(solid, p + along, reach))) continue;
    mesh->Move(vertex, ProjectToSurface(solid, p, reach));
  }
}

}  // namespace plush::samples
