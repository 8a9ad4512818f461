// SPDX-License-Identifier: MIT
#include "cage/lattice_cage.h"

#include "cage/boundary_defects.h"
#include "cage/cage_boundary.h"
#include "cage/cage_crossings.h"
#include "cage/cell_search.h"
#include "cage/enclosure.h"
#include "cage/piece_weights.h"
#include "cage/solid_volume.h"
#include "cage/surface_location.h"
#include "mesh/disjoint_sets.h"

#include <algorithm>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// Share of the asked number by which the cage may miss it without a finding.
constexpr double kTolerance = 0.05;

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

  bool holds() const { return suspects.empty(); }
};

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
  return proof;
}

// Fits a copy of `lattice` until the result can be proved. Nodes where the proof failed stay in the
// lattice the next time: at a branch, where strands that overlap in space meet, the fit can pull
// the face between stem and strands past the crotch.
Proof FitProvably(const SolidSurface& surface, const InsideTest& inside, const SplitCage& lattice,
                  FitSettings settings, SplitCage* cage, LatticeCage* report,
                  FindingList* findings) {
  constexpr int kTries = 4;
  Proof proof;
  for (int i = 0; i < kTries; ++i) {
    *cage = lattice;
    report->fit = FitCage(surface, inside, settings, cage);
    ++report->num_fits;
    proof = Prove(surface, *cage, settings.cell_m);
    if (proof.holds()) return proof;
    if (settings.method == FitMethod::kNone) break;
    for (const uint32_t t : proof.suspects) {
      for (const uint32_t node : cage->mesh.tets[t]) {
        settings.frozen.push_back(cage->node_ids[node]);
      }
    }
  }
  *cage = lattice;
  proof = Prove(surface, *cage, settings.cell_m);
  findings->Add("CAGE_NOT_FITTED", 1,
                proof.holds() ? "the fitted cage did not pass its proof"
                              : "the cage cannot be proved to enclose the surface");
  return proof;
}

}  // namespace

Result<LatticeCage> BuildLatticeCage(const SolidSurface& surface, const InsideTest& inside,
                                     const CageSettings& settings, FindingList* findings) {
  if (surface.triangles.empty()) {
    return Error{ExitCode::kInvalidInput, "no triangle with positive area is left", "MESH_EMPTY"};
  }
  const double clearance = settings.clearance * Length(BoxOf(surface).Extent());
  CellSearch search(surface, inside, settings.lattice, clearance, settings.join_parts);
  Result<CellAttempt> attempt =
      settings.cell_m > 0.0 ? search.Try(settings.cell_m) : search.Nearest(settings.target_tets);
  if (!attempt.ok()) return attempt.error();
  const SplitCage& lattice = attempt.value().cage;
  const double cell = attempt.value().cell_m;
  LatticeCage cage;
  const TetMesh without_copies = WithoutCopies(lattice);
  const double lattice_volume = CageVolume(without_copies);
  const SolidMeasure measure = MeasureSolid(surface, inside, without_copies);
  cage.solid_volume_m3 = measure.volume;

  FitSettings fit;
  fit.method = settings.fit;
  fit.clearance_m = clearance;
  fit.min_dihedral_deg = settings.min_dihedral_deg;
  fit.solid_volume_m3 = std::max(cage.solid_volume_m3, 0.2 * lattice_volume);
  fit.cell_m = cell;
  SplitCage split;
  const Proof proof = FitProvably(surface, inside, lattice, fit, &split, &cage, findings);
  if (settings.cell_m <= 0.0) {
    const auto count = static_cast<uint32_t>(split.mesh.tets.size());
    ReportCount(count, cell, settings.target_tets, findings);
  }
  const double cage_volume = CageVolume(split.mesh);
  ReportSolid(surface, measure, cage_volume, findings);
  cage.is_shell = measure.volume < kShellShare * cage_volume;
  cage.weights = WeighPieces(surface, inside, split);
  cage.num_components = CountComponents(split.mesh);
  cage.num_split_tets = split.num_split_tets;
  cage.num_split_nodes = split.num_split_nodes;
  cage.num_shared = split.num_shared;
  cage.num_branches = static_cast<uint32_t>(proof.faces.branches.size());
  const BoundaryDefects defects = FindBoundaryDefects(proof.faces);
  cage.num_pinched = static_cast<uint32_t>(defects.edges.size() + defects.nodes.size());
  if (cage.num_pinched > 0) {
    findings->Add("CAGE_PINCHED", cage.num_pinched,
                  "the cage's boundary is pinched at " + std::to_string(cage.num_pinched) +
                      " edges and nodes");
  }
  cage.num_attempts = search.num_attempts();
  cage.cell_m = cell;
  cage.mesh = std::move(split.mesh);
  cage.tet_of_point = proof.tet_of_point;
  return cage;
}

}  // namespace plush::tools
