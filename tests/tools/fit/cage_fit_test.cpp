// SPDX-License-Identifier: MIT
// Fitted cages against their guarantees: clearance by brute force, angles, volume, orientation.
#include "fit/cage_fit.h"

#include "fit/tet_quality.h"
#include "lattice/tet_neighbourhood.h"
#include "solid/solid_volume.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

using namespace plush::tools;
using namespace plush::tests;

namespace cage_fit_test {

struct Shape {
  const char* name;
  SurfaceMesh mesh;
  double cell;
};

// Shapes thick enough for their cells: no tet has a copy.
std::vector<Shape> UnsplitShapes() {
  return {{"sphere", MakeSphere(1.0, 24, 36), 0.4},
          {"torus", MakeTorus(1.0, 0.4, 48, 24), 0.35},
          {"box", MakeBox({0, 0, 0}, {1, 2, 3}), 0.55},
          {"overlapping boxes", MakeOverlappingBoxes(), 0.3}};
}

FitSettings SettingsFor(const Solid& solid, FitMethod method, double cell) {
  return FitSettings{.method = method,
                     .clearance_m = 1e-3 * solid.diagonal,
                     .solid_volume_m3 = std::abs(SignedVolume(solid.surface)),
                     .cell_m = cell};
}

// Least distance between a boundary face and a triangle of the surface [m].
double LeastClearance(const Solid& solid, const SplitCage& cage) {
  const CageFaces faces = FindCageFaces(cage.mesh);
  double least = INFINITY;
  for (const CageFace& face : faces.boundary) {
    const auto& [a, b, c] = face.nodes;
    const std::array<Vec3d, 3> corners = {cage.mesh.nodes[a], cage.mesh.nodes[b],
                                          cage.mesh.nodes[c]};
    Box3 box;
    for (const Vec3d& p : corners) box.Add(p);
    for (const auto& [p, q, r] : solid.surface.triangles) {
      const std::array<Vec3d, 3> triangle = {solid.surface.points[p], solid.surface.points[q],
                                             solid.surface.points[r]};
      Box3 other;
      for (const Vec3d& point : triangle) other.Add(point);
      const Vec3d apart = Max(other.low - box.high, box.low - other.high);
      if (std::max({apart.x, apart.y, apart.z}) > least) continue;
      least = std::min(least, TriangleDistance(corners, triangle));
    }
  }
  return least;
}

// The vector from a node to its ODT position [ACSYD05, Eq. 7]: the mean of the circumcentres of its
// tets, weighted by volume. nullopt if a corner is not finite.
std::optional<Vec3d> OdtStep(const TetMesh& mesh, uint32_t node) {
  Vec3d sum;
  double volume = 0.0;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& tet = mesh.tets[t];
    if (std::find(tet.begin(), tet.end(), node) == tet.end()) continue;
    // The circumcentre c, relative to the node, solves 2 Dot(e, c) = |e|^2 for the edges e to the
    // other three corners: Cramer's rule.
    std::array<Vec3d, 3> e;
    size_t count = 0;
    for (const uint32_t other : tet) {
      if (other != node) e[count++] = mesh.nodes[other] - mesh.nodes[node];
    }
    const double det = Dot(e[0], Cross(e[1], e[2]));
    Vec3d c;
    for (size_t k = 0; k < 3; ++k) {
      c += Cross(e[(k + 1) % 3], e[(k + 2) % 3]) * (0.5 * LengthSquared(e[k]) / det);
    }
    sum += c * std::abs(det);
    volume += std::abs(det);
  }
  const Vec3d step = sum / volume;
  if (!IsFinite(step)) return std::nullopt;
  return step;
}

// The ODT energy: the integral between |x|^2 and its interpolation over each tet, V / 20 times the
// sum of the squared edges.
double OdtEnergy(const TetMesh& mesh) {
  double energy = 0.0;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto corners = CornersOf(mesh, t);
    double squares = 0.0;
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < i; ++j) squares += LengthSquared(corners[i] - corners[j]);
    }
    energy += TetVolume(corners) / 20.0 * squares;
  }
  return energy;
}

TEST_CASE("A fitted boundary keeps its clearance from the surface, by brute force", "[long]") {
  for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    for (const auto& [name, mesh, cell] : UnsplitShapes()) {
      for (const FitMethod method : {FitMethod::kSnug, FitMethod::kOdt}) {
        for (const double clearance : {1e-3, 5e-3}) {
          INFO(name << ", method " << static_cast<int>(method) << ", clearance " << clearance);
          const Solid solid(mesh);
          FitSettings settings = SettingsFor(solid, method, cell);
          settings.clearance_m = clearance * solid.diagonal;
          SplitCage cage = SplitOf(solid, LatticeAround(solid, kind, cell), settings.clearance_m);
          REQUIRE(cage.num_split_tets == 0);
          const double before = LeastClearance(solid, cage);
          FitCage(solid.surface, solid.inside, settings, &cage);
          const double least = LeastClearance(solid, cage);
          CHECK(before >= settings.clearance_m * (1.0 - 1e-6));
          CHECK(least >= settings.clearance_m * (1.0 - 1e-6));
          // The default method pulls the boundary close to the surface.
          if (method == FitMethod::kSnug) CHECK(least < 3.0 * settings.clearance_m);
        }
      }
    }
  }
}

TEST_CASE("Fits keep the guard, never invert, and the default never grows", "[long]") {
  for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
    std::vector<Shape> shapes = UnsplitShapes();
    shapes.push_back({"two fingers", MakeTwoFingers(0.25, 0.09), 0.3});
    shapes.push_back({"soup", MakeTriangleSoup(50, 0.3, 9), 0.2});
    shapes.push_back({"strip", MakeMoebiusStrip(1.0, 0.4, 48), 0.3});
    for (const auto& [name, mesh, cell] : shapes) {
      for (const FitMethod method : {FitMethod::kSnug, FitMethod::kOdt}) {
        for (const double guard : {5.0, 20.0, 45.0}) {
          INFO(name << ", method " << static_cast<int>(method) << ", guard " << guard);
          const Solid solid(mesh);
          FitSettings settings = SettingsFor(solid, method, cell);
          settings.min_dihedral_deg = guard;
          settings.solid_volume_m3 = std::max(settings.solid_volume_m3, 0.01);
          SplitCage cage = SplitOf(solid, LatticeAround(solid, kind, cell), settings.clearance_m);
          const double before = CageVolume(cage.mesh);
          const uint32_t passes = FitCage(solid.surface, solid.inside, settings, &cage);
          CHECK(passes > 0);
          CHECK(LeastSixVolume(cage.mesh) > 0.0);
          CHECK(LeastDihedral(cage.mesh) >= guard - 1e-5);
          if (method == FitMethod::kSnug) CHECK(CageVolume(cage.mesh) <= before);
          CHECK(FindCageCrossings(cage, FindCageFaces(cage.mesh), cell).empty());
        }
      }
    }
  }
}

TEST_CASE("FitMethod::kNone does not move the lattice, other methods do not move frozen nodes") {
  const Solid solid(MakeTorus(1.0, 0.4, 48, 24));
  const double cell = 0.35;
  const Lattice lattice = LatticeAround(solid, LatticeKind::kBcc, cell);
  FitSettings settings = SettingsFor(solid, FitMethod::kNone, cell);
  const SplitCage before = SplitOf(solid, lattice, settings.clearance_m);
  SplitCage cage = before;
  FitCage(solid.surface, solid.inside, settings, &cage);
  CHECK(cage.mesh.nodes == before.mesh.nodes);
  CHECK(cage.mesh.tets == before.mesh.tets);

  settings.method = FitMethod::kSnug;
  for (uint32_t node = 0; node < before.mesh.nodes.size(); node += 2) {
    settings.frozen.push_back(before.node_ids[node]);
  }
  FitCage(solid.surface, solid.inside, settings, &cage);
  size_t moved = 0;
  for (size_t node = 0; node < cage.mesh.nodes.size(); ++node) {
    const bool is_frozen =
        std::binary_search(settings.frozen.begin(), settings.frozen.end(), cage.node_ids[node]);
    const bool stayed = cage.mesh.nodes[node] == cage.rest_nodes[node];
    if (is_frozen) CHECK(stayed);
    moved += stayed ? 0 : 1;
  }
  CHECK(moved > 20);
}

TEST_CASE("One pass of the paper's descent moves boundary nodes towards their ODT positions") {
  const Solid solid(MakeSphere(1.0, 24, 36));
  const double cell = 0.4;
  FitSettings settings = SettingsFor(solid, FitMethod::kOdt, cell);
  settings.passes = 1;
  settings.odt_relaxation = 0.05;  // steps far below the longest that a node may take
  const SplitCage before =
      SplitOf(solid, LatticeAround(solid, LatticeKind::kBcc, cell), settings.clearance_m);
  SplitCage after = before;
  CHECK(FitCage(solid.surface, solid.inside, settings, &after) == 1);
  // Where each node is after the pass, unless the peeling has removed it.
  std::vector<std::optional<Vec3d>> moved(before.mesh.nodes.size());
  for (size_t node = 0; node < moved.size(); ++node) {
    const auto at = std::find(after.node_ids.begin(), after.node_ids.end(), before.node_ids[node]);
    if (at == after.node_ids.end()) continue;
    moved[node] = after.mesh.nodes[static_cast<size_t>(at - after.node_ids.begin())];
  }
  std::vector<bool> on_boundary(moved.size(), false);
  for (const CageFace& face : FindCageFaces(before.mesh).boundary) {
    for (const uint32_t node : face.nodes) on_boundary[node] = true;
  }
  // Nodes move in turn, so those with smaller numbers are already at their new places.
  TetMesh mesh = before.mesh;
  size_t checked = 0, full_steps = 0;
  for (uint32_t node = 0; node < moved.size(); ++node) {
    const std::optional<Vec3d> to_odt = OdtStep(mesh, node);
    const Vec3d from = mesh.nodes[node];
    // If a node has vanished, its place is unknown, and so are its neighbours' ODT positions.
    mesh.nodes[node] = moved[node].value_or(Vec3d{NAN, NAN, NAN});
    if (!moved[node]) continue;
    const Vec3d step = *moved[node] - from;
    if (!on_boundary[node]) CHECK(Length(step) == 0.0);
    // Below 1 mm, a sixteenth of the step is of the order of its rounding.
    if (Length(step) == 0.0 || !to_odt || Length(*to_odt) < 1e-3) continue;
    // The share k_ODT of the way, or a half of it, a quarter and so on. The new place has single
    // precision: coordinates below 4 m round by up to 1.2e-7 m.
    const double rounding = 3e-7, share = Dot(step, *to_odt) / LengthSquared(*to_odt);
    CAPTURE(node, share, Length(*to_odt));
    CHECK(Length(step - *to_odt * share) < rounding);
    REQUIRE(share > 0.0);
    const double halvings = -std::log2(share / settings.odt_relaxation);
    const double nearest = std::round(halvings);
    CHECK(std::abs(halvings - nearest) * Length(step) < rounding / std::log(2.0));
    CHECK(nearest >= 0.0);
    CHECK(nearest <= 4.0);
    full_steps += nearest == 0.0 ? 1 : 0;
    ++checked;
  }
  CAPTURE(checked, full_steps);
  CHECK(checked > 10);
  CHECK(full_steps > 0);
}

TEST_CASE("The paper's descent lowers the ODT energy") {
  const Solid solid(MakeSphere(1.0, 24, 36));
  const double cell = 0.4;
  const FitSettings settings = SettingsFor(solid, FitMethod::kOdt, cell);
  SplitCage cage =
      SplitOf(solid, LatticeAround(solid, LatticeKind::kBcc, cell), settings.clearance_m);
  const double before = OdtEnergy(cage.mesh), angle_before = LeastDihedral(cage.mesh);
  const uint32_t passes = FitCage(solid.surface, solid.inside, settings, &cage);
  CHECK(passes <= 10);
  CAPTURE(before, OdtEnergy(cage.mesh), angle_before, LeastDihedral(cage.mesh));
  CHECK(OdtEnergy(cage.mesh) < before);
  CHECK(LeastDihedral(cage.mesh) >= std::min(angle_before, settings.min_dihedral_deg) - 1e-5);
  size_t moved = 0;
  for (size_t node = 0; node < cage.mesh.nodes.size(); ++node) {
    moved += cage.mesh.nodes[node] == cage.rest_nodes[node] ? 0 : 1;
  }
  CHECK(moved > 10);
}

}  // namespace cage_fit_test
