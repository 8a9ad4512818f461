// SPDX-License-Identifier: MIT
#include "cage/lattice_cage.h"

#include "cage/piece_weights.h"
#include "enclosure/enclosure.h"
#include "enclosure/surface_location.h"
#include "enclosure/surface_walk.h"
#include "lattice/cage_boundary.h"
#include "lattice/cell_search.h"
#include "lattice/tet_neighbourhood.h"
#include "mesh/disjoint_sets.h"
#include "mesh/topology.h"
#include "solid/solid_volume.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// Share of the asked number by which the cage may miss it without a finding.
constexpr double kTolerance = 0.05;

// Lattices fitted to get the number of tets right that are left when empty ones are taken off.
constexpr int kMostRounds = 5;

uint32_t CountComponents(const TetMesh& mesh) {
  auto components = static_cast<uint32_t>(mesh.nodes.size());
  DisjointSets sets(components);
  for (const auto& tet : mesh.tets) {
    for (size_t i = 1; i < 4; ++i) components -= sets.Join(tet[0], tet[i]) ? 1 : 0;
  }
  return components;
}

void ReportCount(uint32_t count, double cell, uint32_t target, FindingList* findings) {
  const std::string what = "the cage has " + std::to_string(count) + " tets instead of " +
                           std::to_string(target) + ", with cells of " + std::to_string(cell) +
                           " m";
  if (count > target) {
    findings->Add("CAGE_TOO_FEW_TETS", 1, what + "; the model's parts need as many");
  } else if (count < (1.0 - kTolerance) * target) {
    findings->Add("CAGE_TETS_NOT_REACHED", 1, what);
  }
}

// The lattice tets that are kept, once each.
TetMesh WithoutCopies(const SplitCage& cage) {
  TetMesh mesh;
  mesh.nodes = cage.mesh.nodes;
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) order.emplace_back(cage.lattice_tet[t], t);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].first == order[i - 1].first) continue;
    mesh.tets.push_back(cage.mesh.tets[order[i].second]);
  }
  return mesh;
}

// Whether a cage is sound, and where not.
struct Proof {
  CageFaces faces;
  std::vector<uint32_t> tet_of_point;
  std::vector<uint32_t> suspects;  // tets at the places that fail
  std::vector<uint32_t> torn;      // tets at which strands that overlap in space tear the surface

  bool holds() const { return suspects.empty(); }
};

// Tets of the triangles that pass strands without a face in common, or leave the strand they take.
std::vector<uint32_t> TornTets(const SolidSurface& surface, const TetMesh& mesh,
                               const CageFaces& faces, std::span<const uint32_t> tet_of_point) {
  if (faces.branches.empty()) return {};
  const SurfaceWalk walk =
      WalkSurface(mesh, faces, surface.points, surface.triangles,
                  PairHalfEdges(surface.points, surface.triangles), tet_of_point);
  std::vector<uint32_t> tets;
  for (const SplitTriangle& split : walk.split) {
    const uint32_t t = split.triangle;
    if (!std::binary_search(walk.torn.begin(), walk.torn.end(), t) &&
        !std::binary_search(walk.outside.begin(), walk.outside.end(), t)) {
      continue;
    }
    for (const uint32_t point : surface.triangles[t]) tets.push_back(tet_of_point[point]);
    for (const TrianglePiece& piece : split.pieces) tets.push_back(piece.tet);
  }
  return tets;
}

Proof Prove(const SolidSurface& surface, const SplitCage& cage, double cell) {
  Proof proof;
  proof.faces = FindCageFaces(cage.mesh);
  proof.tet_of_point = LocateSurface(surface, cage, proof.faces);
  const auto escapes =
      FindEscapes(cage.mesh, proof.faces, surface.points, surface.triangles, proof.tet_of_point);
  for (const uint32_t t : escapes) {
    for (const uint32_t point : surface.triangles[t]) {
      const uint32_t tet = proof.tet_of_point[point];
      if (tet != kNoTet) proof.suspects.push_back(tet);
    }
  }
  if (!escapes.empty()) {
    // Owners before the fit, too: a point may be lost.
    for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
      const auto owned = cage.TrianglesOf(t);
      const bool involved = std::any_of(escapes.begin(), escapes.end(), [&](uint32_t triangle) {
        return std::binary_search(owned.begin(), owned.end(), triangle);
      });
      if (involved) proof.suspects.push_back(t);
    }
  }
  for (const auto& [f, g] : FindCageCrossings(cage, proof.faces, cell)) {
    proof.suspects.push_back(proof.faces.boundary[f].tet);
    proof.suspects.push_back(proof.faces.boundary[g].tet);
  }
  if (proof.holds()) {
    proof.torn = TornTets(surface, cage.mesh, proof.faces, proof.tet_of_point);
  }
  return proof;
}

// One lattice, split and fitted, and the proof.
struct Fitted {
  SplitCage cage;
  Proof proof;
  FitReport fit;
  SolidMeasure solid;
  double cell_m = 0.0;
  uint32_t num_fits = 0;
  bool is_fitted = true;        // what was asked for passed the proof
  std::vector<Place> failures;  // where it did not

  size_t num_tets() const { return cage.mesh.tets.size(); }
};

// The centres of tets.
std::vector<Place> PlacesOf(const TetMesh& mesh, std::vector<uint32_t> tets) {
  std::sort(tets.begin(), tets.end());
  tets.erase(std::unique(tets.begin(), tets.end()), tets.end());
  std::vector<Place> places;
  for (const uint32_t t : tets) {
    Vec3d centre;
    for (const uint32_t node : mesh.tets[t]) centre += mesh.nodes[node] * 0.25;
    places.push_back({centre, -1, -1, ""});
  }
  return places;
}

// Fits a copy of `lattice` until the result can be proved. Nodes where the proof failed stay in the
// lattice the next time: at a branch, where strands that overlap in space meet, the fit can pull
// the face between stem and strands past the crotch. The same is tried where the fit makes the
// surface pass from one such strand to another; a cage that does is taken if there is no better
// one.
void FitProvably(const SolidSurface& surface, const InsideTest& inside, const SplitCage& lattice,
                 FitSettings settings, Fitted* fitted) {
  constexpr int kTries = 4;
  std::optional<Fitted> torn;
  for (int i = 0; i < kTries; ++i) {
    fitted->cage = lattice;
    fitted->fit = FitCage(surface, inside, settings, &fitted->cage);
    ++fitted->num_fits;
    fitted->proof = Prove(surface, fitted->cage, settings.cell_m);
    if (fitted->proof.holds() && fitted->proof.torn.empty()) return;
    if (fitted->proof.holds()) {
      if (!torn || fitted->proof.torn.size() < torn->proof.torn.size()) torn = *fitted;
      fitted->proof.suspects = fitted->proof.torn;
    }
    fitted->failures = PlacesOf(fitted->cage.mesh, fitted->proof.suspects);
    if (settings.method == FitMethod::kNone) break;
    for (const uint32_t t : fitted->proof.suspects) {
      for (const uint32_t node : fitted->cage.mesh.tets[t]) {
        settings.frozen.push_back(fitted->cage.node_ids[node]);
      }
    }
  }
  if (torn) {
    const uint32_t num_fits = fitted->num_fits;
    *fitted = std::move(*torn);
    fitted->num_fits = num_fits;
    return;
  }
  fitted->is_fitted = false;
  fitted->cage = lattice;
  fitted->proof = Prove(surface, fitted->cage, settings.cell_m);
}

Fitted FitAttempt(const SolidSurface& surface, const InsideTest& inside,
                  const CageSettings& settings, double clearance, const CellAttempt& attempt) {
  Fitted fitted;
  const TetMesh without_copies = WithoutCopies(attempt.cage);
  fitted.solid = MeasureSolid(surface, inside, without_copies);
  fitted.cell_m = attempt.cell_m;
  FitSettings fit;
  fit.method = settings.fit;
  fit.clearance_m = clearance;
  fit.min_dihedral_deg = settings.min_dihedral_deg;
  fit.solid_volume_m3 = std::max(fitted.solid.volume, 0.2 * CageVolume(without_copies));
  fit.cell_m = attempt.cell_m;
  FitProvably(surface, inside, attempt.cage, fit, &fitted);
  return fitted;
}

// The cage whose number of tets is right after the fit too, which takes tets off that became empty:
// where too few are left, once more with as many more, and so on.
Result<Fitted> FitNearest(const SolidSurface& surface, const InsideTest& inside,
                          const CageSettings& settings, double clearance, CellSearch* search) {
  const double target = settings.target_tets;
  std::optional<Fitted> best;
  uint32_t wanted = settings.target_tets;
  uint32_t too_few = 0;   // asked for that left too few
  uint32_t too_many = 0;  // the same, too many
  for (int i = 0; i < kMostRounds; ++i) {
    const Result<CellAttempt> attempt = search->Nearest(wanted);
    if (!attempt.ok() && best) break;
    if (!attempt.ok()) return attempt.error();
    Fitted fitted = FitAttempt(surface, inside, settings, clearance, attempt.value());
    const auto count = static_cast<double>(fitted.num_tets());
    const uint32_t before = attempt.value().num_tets();
    const bool is_better =
        !best || (count <= target && count > static_cast<double>(best->num_tets()));
    if (is_better) best = std::move(fitted);
    const bool is_met = count <= target && count > (1.0 - kTolerance) * target;
    // What is wrong without peeling, the search cannot do better.
    if (is_met || before > wanted || (i == 0 && count == before)) break;
    (count > target ? too_many : too_few) = wanted;
    const double lack = (1.0 - 0.5 * kTolerance) * target - count;
    wanted = too_many > 0 && too_few > 0 ? (too_many + too_few) / 2
                                         : static_cast<uint32_t>(std::max(1.0, wanted + lack));
    if (wanted == too_many || wanted == too_few) break;
  }
  return std::move(*best);
}

// Where the fits of one lattice all tear the surface, a lattice for slightly fewer tets need not.
Fitted FitUntorn(const SolidSurface& surface, const InsideTest& inside,
                 const CageSettings& settings, double clearance, Fitted torn, CellSearch* search) {
  const double target = settings.target_tets;
  for (const double share : {0.99, 0.98, 0.97}) {
    const Result<CellAttempt> attempt = search->Nearest(static_cast<uint32_t>(share * target));
    if (!attempt.ok()) break;
    Fitted fitted = FitAttempt(surface, inside, settings, clearance, attempt.value());
    const auto count = static_cast<double>(fitted.num_tets());
    const bool is_met = count <= target && count > (1.0 - kTolerance) * target;
    if (is_met && fitted.is_fitted && fitted.proof.torn.empty()) return fitted;
  }
  return torn;
}

std::vector<Place> PlacesOf(const TetMesh& mesh, const BoundaryDefects& defects) {
  std::vector<Place> places;
  for (const auto& [a, b] : defects.edges) {
    places.push_back({(mesh.nodes[a] + mesh.nodes[b]) * 0.5, -1, -1, ""});
  }
  for (const uint32_t node : defects.nodes) places.push_back({mesh.nodes[node], -1, -1, ""});
  return places;
}

// What the caller gets of it, with the findings.
LatticeCage Describe(const SolidSurface& surface, const InsideTest& inside, Fitted fitted,
                     FindingList* findings) {
  LatticeCage cage;
  if (!fitted.is_fitted) {
    findings->Add("CAGE_NOT_FITTED", 1,
                  fitted.proof.holds() ? "the fitted cage did not pass its proof"
                                       : "the cage cannot be proved to enclose the surface",
                  fitted.failures);
  }
  const SplitCage& split = fitted.cage;
  const double cage_volume = CageVolume(split.mesh);
  ReportSolid(surface, fitted.solid, cage_volume, findings);
  const BoundaryDefects defects = FindBoundaryDefects(fitted.proof.faces);
  cage.num_pinched = static_cast<uint32_t>(defects.edges.size() + defects.nodes.size());
  if (cage.num_pinched > 0) {
    findings->Add("CAGE_PINCHED", cage.num_pinched,
                  "the cage's boundary is pinched at " + std::to_string(cage.num_pinched) +
                      " edges and nodes",
                  PlacesOf(split.mesh, defects));
  }
  cage.cell_m = fitted.cell_m;
  cage.solid_volume_m3 = fitted.solid.volume;
  cage.is_shell = fitted.solid.volume < kShellShare * cage_volume;
  cage.weights = WeighPieces(surface, inside, split);
  cage.num_components = CountComponents(split.mesh);
  cage.num_split_tets = split.num_split_tets;
  cage.num_split_nodes = split.num_split_nodes;
  cage.num_shared = split.num_shared;
  cage.num_branches = static_cast<uint32_t>(fitted.proof.faces.branches.size());
  cage.num_fits = fitted.num_fits;
  cage.fit = fitted.fit;
  cage.mesh = std::move(fitted.cage.mesh);
  cage.tet_of_point = std::move(fitted.proof.tet_of_point);
  return cage;
}

}  // namespace

Result<LatticeCage> BuildLatticeCage(const SolidSurface& surface, const InsideTest& inside,
                                     const CageSettings& settings, FindingList* findings) {
  if (surface.triangles.empty()) {
    return Error{ExitCode::kInvalidInput, "no triangle with positive area is left", "MESH_EMPTY"};
  }
  const double clearance = settings.clearance * Length(BoxOf(surface).Extent());
  CellSearch search(surface, inside, settings.lattice, clearance, settings.join_parts);
  Fitted fitted;
  if (settings.cell_m > 0.0) {
    const Result<CellAttempt> attempt = search.Try(settings.cell_m);
    if (!attempt.ok()) return attempt.error();
    fitted = FitAttempt(surface, inside, settings, clearance, attempt.value());
  } else {
    Result<Fitted> nearest = FitNearest(surface, inside, settings, clearance, &search);
    if (!nearest.ok()) return nearest.error();
    fitted = std::move(nearest.value());
    // What is open anyway need not be spared a slit at any price.
    if (!fitted.proof.torn.empty() && surface.closed) {
      fitted = FitUntorn(surface, inside, settings, clearance, std::move(fitted), &search);
    }
    ReportCount(static_cast<uint32_t>(fitted.num_tets()), fitted.cell_m, settings.target_tets,
                findings);
  }
  LatticeCage cage = Describe(surface, inside, std::move(fitted), findings);
  cage.num_attempts = search.num_attempts();
  return cage;
}

}  // namespace plush::tools
