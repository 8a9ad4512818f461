// SPDX-License-Identifier: MIT
// Builds the bounding lattice cage: class CageDriver makes every attempt, for the reasons below.
// Source: [Civ, Sec. 5.3.1]; the proof and the attempts are ours.
#include "cage/lattice_cage.h"

#include "base/text.h"
#include "enclosure/cage_proof.h"
#include "lattice/cage_boundary.h"
#include "lattice/cell_search.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// Why a lattice is tried.
constexpr const char* kCellGiven = "the size of its cells was given";
constexpr const char* kAskedFor = "the number of tets was asked for";
constexpr const char* kPeeled = "the fit took off too many or too few tets";
constexpr const char* kTorn = "every fit of the last lattice tears the surface";

// Share of the requested tets that may be missing without a finding.
constexpr double kTolerance = 0.05;

// Most lattices tried to get the right number of tets after the fit, which removes empty ones.
constexpr size_t kMostRounds = 5;

// Shares of the requested tets that are tried in turn if every fit so far is torn.
constexpr std::array kSharesOfUntorn = {0.99, 0.98, 0.97};

// Most fits of one lattice.
constexpr int kMostFits = 4;

// FindSufficientCount shrinks the cells by kShrink at a time, up to kMostTetsToAdvise tets.
constexpr uint32_t kMostTetsToAdvise = 20'000;
constexpr double kShrink = 0.8;

// The lattice tets of the cage, each of them once.
TetMesh WithoutCopies(const SplitCage& cage) {
  TetMesh mesh;
  mesh.nodes = cage.mesh.nodes;
  for (const auto& [lattice_tet, copies] : cage.CopiesByLatticeTet()) {
    mesh.tets.push_back(cage.mesh.tets[copies[0]]);
  }
  return mesh;
}

// The next lattice to try: with about `tets` tets, or with cells of settings.cell_m if `tets` is 0.
struct Goal {
  const char* reason = nullptr;
  uint32_t tets = 0;
};

// The best fit of one lattice.
struct Candidate {
  SplitCage cage;
  CageProof proof;
  SolidMeasure solid;
  double cell_m = 0.0;
  uint32_t num_fits = 0;
  bool is_fitted = true;        // a fit passed the proof
  std::vector<Place> failures;  // where the last fit failed the proof or was torn

  uint32_t num_tets() const { return static_cast<uint32_t>(cage.mesh.tets.size()); }
};

// The centres of the tets, each of them once.
std::vector<Place> CentresOf(const TetMesh& mesh, std::vector<uint32_t> tets) {
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

class CageDriver {
 public:
  CageDriver(const SolidSurface& surface, const InsideTest& inside, const CageSettings& settings)
      : surface_(surface),
        inside_(inside),
        settings_(settings),
        clearance_(settings.clearance * Length(BoxOf(surface).Extent())),
        search_(surface, inside, settings.lattice, clearance_, settings.join_parts) {}

  // Tries lattices while there is a reason for another one; returns the best.
  Result<Candidate> Run() {
    std::optional<Candidate> best;
    std::optional<Goal> goal =
        settings_.cell_m > 0.0 ? Goal{kCellGiven, 0} : Goal{kAskedFor, settings_.target_tets};
    for (; goal; goal = NextGoal(*best)) {
      const Result<CellAttempt> lattice =
          goal->tets > 0 ? search_.Nearest(goal->tets) : search_.Try(settings_.cell_m);
      if (!lattice.ok() && best) break;
      if (!lattice.ok()) return lattice.error();
      Candidate candidate = FitAndProve(lattice.value());
      attempts_.push_back({goal->reason, goal->tets, lattice.value().cell_m,
                           lattice.value().num_tets(), candidate.num_tets(), candidate.num_fits,
                           candidate.is_fitted, candidate.proof.torn.empty()});
      if (!best || IsBetter(*goal, candidate, *best)) best = std::move(candidate);
    }
    return std::move(*best);
  }

  // A number of tets with which the solid fills at least twice kShellShare of its cage: of those
  // that the surface touches, because hardly any lie inside then. nullopt if it takes more than
  // kMostTetsToAdvise tets or exceeds the lattice's limit.
  std::optional<uint32_t> FindSufficientCount(const Candidate& cage) const {
    for (double cell = kShrink * cage.cell_m;; cell *= kShrink) {
      const Result<TouchedTets> touched = search_.Touch(cell);
      if (!touched.ok() || touched.value().count > kMostTetsToAdvise) return std::nullopt;
      if (cage.solid.volume >= 2.0 * kShellShare * touched.value().volume_m3) {
        return touched.value().count;
      }
    }
  }

  const std::vector<CageAttempt>& attempts() const { return attempts_; }
  uint32_t num_lattices() const { return search_.num_attempts(); }

 private:
  // The next lattice to try, or nullopt. `best` is the best of the attempts so far.
  std::optional<Goal> NextGoal(const Candidate& best) const {
    if (settings_.cell_m > 0.0) return std::nullopt;
    if (const std::optional<Goal> goal = GoalAfterPeeling()) return goal;
    return GoalAfterTears(best);
  }

  // If the fit left too few tets, asks for as many more. Bisects once another number left too many.
  std::optional<Goal> GoalAfterPeeling() const {
    const CageAttempt& last = attempts_.back();
    if (last.reason == kTorn || IsMet(last.tets) || attempts_.size() == kMostRounds) return {};
    // The search missed the number, not the fit.
    if (last.lattice_tets > last.wanted_tets) return {};
    if (attempts_.size() == 1 && last.tets == last.lattice_tets) return {};
    uint32_t too_few = 0;   // last number asked for that left too few tets
    uint32_t too_many = 0;  // last number asked for that left too many
    for (const CageAttempt& attempt : attempts_) {
      (attempt.tets > settings_.target_tets ? too_many : too_few) = attempt.wanted_tets;
    }
    const double lack = (1.0 - 0.5 * kTolerance) * settings_.target_tets - last.tets;
    const uint32_t wanted = too_many > 0 && too_few > 0
                                ? (too_many + too_few) / 2
                                : static_cast<uint32_t>(std::max(1.0, last.wanted_tets + lack));
    if (wanted == too_many || wanted == too_few) return {};
    return Goal{kPeeled, wanted};
  }

  // If every fit is torn, asks for slightly fewer tets, with which the fit may not be torn. This
  // does not help open surfaces.
  std::optional<Goal> GoalAfterTears(const Candidate& best) const {
    if (!surface_.closed || best.proof.torn.empty()) return {};
    const auto tried = static_cast<size_t>(std::count_if(
        attempts_.begin(), attempts_.end(), [](const auto& a) { return a.reason == kTorn; }));
    if (tried == kSharesOfUntorn.size()) return {};
    return Goal{kTorn, static_cast<uint32_t>(kSharesOfUntorn[tried] * settings_.target_tets)};
  }

  bool IsMet(uint32_t count) const {
    return count <= settings_.target_tets && count > (1.0 - kTolerance) * settings_.target_tets;
  }

  bool IsBetter(const Goal& goal, const Candidate& candidate, const Candidate& best) const {
    const uint32_t count = candidate.num_tets();
    if (goal.reason == kTorn) {
      return IsMet(count) && candidate.is_fitted && candidate.proof.torn.empty();
    }
    return count <= settings_.target_tets && count > best.num_tets();
  }

  // Fits the lattice anew until a fit passes the proof and is not torn.
  // - After any other fit, freezes the nodes of the tets at which it failed or was torn. At a
  //   branch, where strands that overlap in space meet, a fit can pull the face between the stem
  //   and the strands past the crotch.
  // - If every fit that passes the proof is torn, takes the least torn one.
  // - If none passes, takes the lattice without a fit.
  Candidate FitAndProve(const CellAttempt& lattice) const {
    Candidate candidate;
    FitSettings fit = SettingsOfFit(lattice, &candidate);
    std::optional<Candidate> torn;
    for (int i = 0; i < kMostFits; ++i) {
      candidate.cage = lattice.cage;
      FitCage(surface_, inside_, fit, &candidate.cage);
      ++candidate.num_fits;
      candidate.proof = ProveCage(surface_, candidate.cage, lattice.cell_m);
      CageProof& proof = candidate.proof;
      if (proof.holds() && proof.torn.empty()) return candidate;
      if (proof.holds()) {
        if (!torn || proof.torn.size() < torn->proof.torn.size()) torn = candidate;
        proof.suspects = proof.torn;
      }
      candidate.failures = CentresOf(candidate.cage.mesh, proof.suspects);
      if (fit.method == FitMethod::kNone) break;
      for (const uint32_t t : proof.suspects) {
        for (const uint32_t node : candidate.cage.mesh.tets[t]) {
          fit.frozen.push_back(candidate.cage.node_ids[node]);
        }
      }
    }
    if (torn) {
      torn->num_fits = candidate.num_fits;
      return std::move(*torn);
    }
    candidate.is_fitted = false;
    candidate.cage = lattice.cage;
    candidate.proof = ProveCage(surface_, candidate.cage, lattice.cell_m);
    return candidate;
  }

  // The settings of the fit. Also measures the solid, and stores it and the cell in the candidate.
  FitSettings SettingsOfFit(const CellAttempt& lattice, Candidate* candidate) const {
    const TetMesh without_copies = WithoutCopies(lattice.cage);
    candidate->solid = MeasureSolid(surface_, inside_, without_copies);
    candidate->cell_m = lattice.cell_m;
    FitSettings fit;
    fit.method = settings_.fit;
    fit.clearance_m = clearance_;
    fit.min_dihedral_deg = settings_.min_dihedral_deg;
    fit.solid_volume_m3 = std::max(candidate->solid.volume, 0.2 * CageVolume(without_copies));
    fit.cell_m = lattice.cell_m;
    return fit;
  }

  const SolidSurface& surface_;
  const InsideTest& inside_;
  const CageSettings& settings_;
  const double clearance_;
  CellSearch search_;
  std::vector<CageAttempt> attempts_;
};

// Adds CAGE_TOO_FEW_TETS if the cage has more tets than requested, or if a closed solid fills less
// than kShellShare of it; CAGE_TETS_NOT_REACHED if more than kTolerance of the tets are missing.
void ReportCount(const SolidSurface& surface, const CageSettings& settings, const Candidate& cage,
                 bool is_shell, const CageDriver& driver, FindingList* findings) {
  const uint32_t count = cage.num_tets();
  const double share = cage.solid.volume / CageVolume(cage.cage.mesh);
  if (surface.closed && !is_shell && share < kShellShare) {
    const std::optional<uint32_t> enough = driver.FindSufficientCount(cage);
    findings->Add(
        "CAGE_TOO_FEW_TETS", 1,
        "the model's parts fill " + RoundedText(100.0 * share) + "% of a cage of " +
            std::to_string(count) + " tets; " +
            (enough ? std::to_string(*enough) : "more than " + std::to_string(kMostTetsToAdvise)) +
            " tets would fit them closely");
    return;
  }
  if (settings.cell_m > 0.0) return;
  const std::string what = "the cage has " + std::to_string(count) + " tets instead of " +
                           std::to_string(settings.target_tets) + ", with cells of " +
                           RoundedText(cage.cell_m) + " m";
  if (count > settings.target_tets) {
    findings->Add("CAGE_TOO_FEW_TETS", 1,
                  what + "; the model's parts need " + std::to_string(count));
  } else if (count < (1.0 - kTolerance) * settings.target_tets) {
    findings->Add("CAGE_TETS_NOT_REACHED", 1, what);
  }
}

std::vector<Place> PlacesOf(const TetMesh& mesh, const BoundaryDefects& defects) {
  std::vector<Place> places;
  for (const auto& [a, b] : defects.edges) {
    places.push_back({(mesh.nodes[a] + mesh.nodes[b]) * 0.5, -1, -1, ""});
  }
  for (const uint32_t node : defects.nodes) places.push_back({mesh.nodes[node], -1, -1, ""});
  return places;
}

// Makes the result with all its counts. Adds CAGE_NOT_FITTED and CAGE_PINCHED.
LatticeCage Describe(Candidate fitted, FindingList* findings) {
  LatticeCage cage;
  if (!fitted.is_fitted) {
    findings->Add("CAGE_NOT_FITTED", 1,
                  fitted.proof.holds() ? "the fitted cage did not pass its proof"
                                       : "the boundary of the cage passes through itself",
                  fitted.failures);
  }
  const SplitCage& split = fitted.cage;
  const BoundaryDefects defects = FindBoundaryDefects(fitted.proof.faces);
  cage.num_pinched = static_cast<uint32_t>(defects.edges.size() + defects.nodes.size());
  if (cage.num_pinched > 0) {
    findings->Add("CAGE_PINCHED", cage.num_pinched,
                  "the cage's boundary is pinched at " + std::to_string(cage.num_pinched) +
                      " edges and nodes",
                  PlacesOf(split.mesh, defects));
  }
  cage.cell_m = fitted.cell_m;
  cage.solid = fitted.solid;
  cage.num_split_tets = split.num_split_tets;
  cage.num_split_nodes = split.num_split_nodes;
  cage.num_shared = split.num_shared;
  cage.num_branches = static_cast<uint32_t>(fitted.proof.faces.branches.size());
  cage.num_fits = fitted.num_fits;
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
  CageDriver driver(surface, inside, settings);
  Result<Candidate> best = driver.Run();
  if (!best.ok()) return best.error();
  if (const auto enclosed = RefuseEscapes(surface, best.value().proof, findings); !enclosed.ok()) {
    return enclosed.error();
  }
  const double cage_volume = CageVolume(best.value().cage.mesh);
  const bool is_shell = ReportSolid(surface, best.value().solid, cage_volume, findings);
  ReportCount(surface, settings, best.value(), is_shell, driver, findings);
  LatticeCage cage = Describe(std::move(best.value()), findings);
  cage.is_shell = is_shell;
  cage.attempts = driver.attempts();
  cage.num_lattices = driver.num_lattices();
  return cage;
}

}  // namespace plush::tools
