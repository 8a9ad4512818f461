// SPDX-License-Identifier: MIT
#include "cage/lattice_cage.h"

#include "cage/lattice.h"
#include "cage/lattice_classes.h"
#include "mesh/disjoint_sets.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// Bisection steps: the count of tets jumps with the cell size, finer steps find nothing new.
constexpr int kBisections = 12;

// Share of the asked number by which the cage may miss it without a finding: an axis-aligned cube
// jumps from n^3 to (n + 1)^3 cubes, whatever the cell size.
constexpr double kTolerance = 0.25;

struct Box {
  Vec3d lower;
  Vec3d upper;

  double LongestSide() const {
    const Vec3d size = upper - lower;
    return std::max({size.x, size.y, size.z});
  }
};

// Of the points that triangles use.
Box BoundingBox(const SolidSurface& surface) {
  Box box = {surface.points[surface.triangles[0][0]], surface.points[surface.triangles[0][0]]};
  for (const auto& triangle : surface.triangles) {
    for (const uint32_t corner : triangle) {
      box.lower = Min(box.lower, surface.points[corner]);
      box.upper = Max(box.upper, surface.points[corner]);
    }
  }
  return box;
}

// A lattice with its classes.
struct Attempt {
  Lattice lattice;
  LatticeClasses classes;
  double cell = 0.0;

  uint32_t num_tets() const { return classes.num_piercing + classes.num_internal; }
};

// Tries cell sizes on one surface.
class CellSearch {
 public:
  CellSearch(const SolidSurface& surface, const InsideTest& inside)
      : surface_(surface), inside_(inside), box_(BoundingBox(surface)) {}

  Result<Attempt> Try(double cell) const {
    Result<Lattice> lattice = MakeLattice(box_.lower, box_.upper, cell);
    if (!lattice.ok()) return lattice.error();
    LatticeClasses classes = ClassifyTets(lattice.value(), surface_, inside_);
    return Attempt{std::move(lattice.value()), std::move(classes), cell};
  }

  // The attempt whose number of tets is nearest to `target`: cells shrink until it is reached, then
  // bisection on their logarithm. The count is not monotonic, so the best of all counts.
  Result<Attempt> Nearest(uint32_t target) const {
    double large = 1.25 * box_.LongestSide();  // one cube
    Result<Attempt> best = Try(large);
    if (!best.ok()) return best;
    double small = large;
    while (best.value().num_tets() < target) {
      small = large / std::sqrt(2.0);
      Result<Attempt> attempt = Try(small);
      if (!attempt.ok()) return best;  // at a limit: the last one is as near as it gets
      const bool reached = attempt.value().num_tets() >= target;
      KeepNearer(target, std::move(attempt.value()), &best.value());
      if (reached) break;
      large = small;
    }
    for (int i = 0; i < kBisections && best.value().num_tets() != target; ++i) {
      const double middle = std::sqrt(small * large);
      Result<Attempt> attempt = Try(middle);
      if (!attempt.ok()) break;
      (attempt.value().num_tets() >= target ? small : large) = middle;
      KeepNearer(target, std::move(attempt.value()), &best.value());
    }
    return best;
  }

 private:
  static void KeepNearer(uint32_t target, Attempt attempt, Attempt* best) {
    const auto miss = [target](const Attempt& a) {
      return std::abs(static_cast<int64_t>(a.num_tets()) - static_cast<int64_t>(target));
    };
    if (miss(attempt) < miss(*best)) *best = std::move(attempt);
  }

  const SolidSurface& surface_;
  const InsideTest& inside_;
  const Box box_;
};

// Kept tets in lattice order, nodes numbered by first use.
TetMesh ExtractMesh(const Attempt& attempt) {
  constexpr uint32_t kUnused = UINT32_MAX;
  const Lattice& lattice = attempt.lattice;
  TetMesh mesh;
  std::vector<uint32_t> new_of_lattice(lattice.num_nodes(), kUnused);
  for (uint32_t z = 0; z < lattice.CubesAlong(2); ++z) {
    for (uint32_t y = 0; y < lattice.CubesAlong(1); ++y) {
      for (uint32_t x = 0; x < lattice.CubesAlong(0); ++x) {
        const CubeIndex cube = {x, y, z};
        const uint32_t number = lattice.CubeNumber(cube);
        const unsigned kept = attempt.classes.piercing[number] | attempt.classes.internal[number];
        for (uint32_t k = 0; k < kTetsPerCube; ++k) {
          if ((kept >> k & 1u) == 0) continue;
          std::array<uint32_t, 4> nodes = lattice.TetNodes(cube, k);
          const std::array<Vec3d, 4> corners = lattice.TetCorners(cube, k);
          for (size_t i = 0; i < 4; ++i) {
            uint32_t& renumbered = new_of_lattice[nodes[i]];
            if (renumbered == kUnused) {
              renumbered = static_cast<uint32_t>(mesh.nodes.size());
              mesh.nodes.push_back(corners[i]);
            }
            nodes[i] = renumbered;
          }
          mesh.tets.push_back(nodes);
        }
      }
    }
  }
  return mesh;
}

uint32_t CountComponents(const TetMesh& mesh) {
  auto components = static_cast<uint32_t>(mesh.nodes.size());
  DisjointSets sets(components);
  for (const auto& tet : mesh.tets) {
    for (size_t i = 1; i < 4; ++i) components -= sets.Join(tet[0], tet[i]) ? 1 : 0;
  }
  return components;
}

void ReportMiss(const Attempt& attempt, uint32_t target, FindingList* findings) {
  const double miss = std::abs(static_cast<double>(attempt.num_tets()) - target);
  // One cube more or less is five tets: small numbers cannot be met better.
  if (miss <= std::max<double>(kTetsPerCube, kTolerance * target)) return;
  findings->Add("CAGE_TETS_NOT_REACHED", 1,
                "the cage has " + std::to_string(attempt.num_tets()) + " tets instead of " +
                    std::to_string(target) + ", with cells of " + std::to_string(attempt.cell) +
                    " m");
}

}  // namespace

Result<LatticeCage> BuildLatticeCage(const SolidSurface& surface, const InsideTest& inside,
                                     const LatticeSettings& settings, FindingList* findings) {
  if (surface.triangles.empty()) {
    return Error{ExitCode::kInvalidInput, "no triangle with positive area is left", "MESH_EMPTY"};
  }
  const CellSearch search(surface, inside);
  Result<Attempt> attempt =
      settings.cell_m > 0.0 ? search.Try(settings.cell_m) : search.Nearest(settings.target_tets);
  if (!attempt.ok()) return attempt.error();
  if (settings.cell_m <= 0.0) ReportMiss(attempt.value(), settings.target_tets, findings);
  LatticeCage cage;
  cage.mesh = ExtractMesh(attempt.value());
  cage.cell_m = attempt.value().cell;
  cage.num_internal = attempt.value().classes.num_internal;
  cage.num_piercing = attempt.value().classes.num_piercing;
  cage.num_components = CountComponents(cage.mesh);
  return cage;
}

}  // namespace plush::tools
