// SPDX-License-Identifier: MIT
// Searches for a lattice with the wanted number of tets; cell_search.h lists the steps.
// Voxels score the places (class Guess), then attempts adjust the cell size (Adjust).
#include "lattice/cell_search.h"

#include "base/float_rounding.h"
#include "lattice/lattice_contacts.h"
#include "lattice/solid_voxels.h"
#include "mesh/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// Rotation matrix of the quaternion (w, x, y, z) = (14, 3, 5, 2), divided by its squared length.
// Whole numbers make it the same on every platform.
constexpr double kSquared = 234.0;
constexpr Vec3d kRows[3] = {{176.0 / kSquared, -26.0 / kSquared, 152.0 / kSquared},
                            {86.0 / kSquared, 208.0 / kSquared, -64.0 / kSquared},
                            {-128.0 / kSquared, 104.0 / kSquared, 166.0 / kSquared}};

Vec3d Turned(const Vec3d& v) { return {Dot(kRows[0], v), Dot(kRows[1], v), Dot(kRows[2], v)}; }
Vec3d TurnedBack(const Vec3d& v) { return kRows[0] * v.x + kRows[1] * v.y + kRows[2] * v.z; }

// Most attempts at the last place if no cage was found before: kTrianglesForTries / Work(), within
// these bounds.
constexpr int kMostTries = 16;
constexpr int kFewestTries = 5;
constexpr size_t kTrianglesForTries = 500'000;

// This many parts of the surface double the work of an attempt.
constexpr size_t kPartsAsMuch = 8;

// Number of places that are always tried: kTrianglesForPlaces / Work(), from 1 to kMostPlaces.
constexpr size_t kTrianglesForPlaces = 80'000;
constexpr size_t kMostPlaces = 6;
// Most places tried if the surface is open: kTrianglesForOpenPlaces / Work(), within the same
// bounds. An open surface may have no good cage, however long the search.
constexpr size_t kTrianglesForOpenPlaces = 400'000;

// Factor on the cost of a cage with the wrong number of tets or a pinched boundary.
constexpr double kCostOfFailure = 1000.0;

// Share of the wanted number of tets that a cage must exceed.
constexpr double kEnough = 0.95;

// Tets that voxels fall into, per tet that the solid enters; voxels are thicker than the solid.
constexpr double kVoxelExcess = 1.07;

// Refinements of a guessed cell size, and of the first one.
constexpr int kRefinements = 3;
constexpr int kFirstSteps = 3;
// Tets of a cage per tet that SolidVoxels::CountTets finds. Its samples miss tets that only a
// corner of the solid enters, and it does not count copies. Measured: 1.06 to 1.13 over nine models
// with 200 to 1000 tets.
constexpr double kMissed = 1.09;

// Largest cell, relative to the longest side of the bounding box: one tet then holds the whole
// model.
constexpr double kLargestCell = 16.0;

// Voxels per cell of the lattice along each axis, and the most voxels along the longest side of a
// body that fills its box (others get more: SolidVoxels::FinestEdge).
constexpr double kVoxelsPerCell = 7.0;
constexpr double kMostVoxels = 250.0;
// Fewest voxels per cell along each axis. A voxel is then as large as a tet.
constexpr double kFewestVoxelsPerCell = 2.3;

// Places of the lattice along each axis, in cells. Only the first and third are used along x: a bcc
// lattice repeats after half a cell along all three axes at once.
constexpr std::array<double, 4> kPlaces = {0.0171, 0.2633, 0.5207, 0.7571};

// Places that are scored depend on the wanted number of tets: only the centred one below
// kFewestToGuess, all up to kCompareAll, two along each axis up to kCompareSome. Beyond, one place
// is as good as another.
constexpr uint32_t kFewestToGuess = 50;
constexpr uint32_t kCompareAll = 2'000;
constexpr uint32_t kCompareSome = 20'000;

// Cost of each further piece within a tet, in tets. Copies overlap, and the fit stays loose where
// strands begin. Over 96 cages of three models the volume after the fit correlates with the number
// of copies (0.9).
constexpr double kCostOfPiece = 5.0;

// Bound of the distance by which TurnBack's rounding moves a node [m]: half a step of a float along
// each axis. Nodes lie less than the box's diagonal away from it.
double RoundingOfNodes(const Box3& box) {
  return 0x1p-23 * (Length(box.Centre()) + 2.0 * Length(box.Extent()));
}

// x^(13/32) by square roots, which are the same on every platform. The number of tets grows with
// (1 / cell)^(32/13): the power lies between 2 (tets along a surface) and 3 (tets in a volume).
double RootOfCount(double x) {
  const double quarter = std::sqrt(std::sqrt(x));
  const double eighth = std::sqrt(quarter);
  return quarter * eighth * std::sqrt(std::sqrt(eighth));
}

}  // namespace

SolidSurface TurnedSurface(const SolidSurface& surface) {
  const Vec3d centre = BoxOf(surface).Centre();
  SolidSurface turned = surface;
  for (Vec3d& point : turned.points) point = Turned(point - centre) + centre;
  return turned;
}

void TurnBack(const SolidSurface& surface, SplitCage* cage) {
  const Vec3d centre = BoxOf(surface).Centre();
  for (Vec3d& node : cage->mesh.nodes) node = RoundToFloat(TurnedBack(node - centre) + centre);
  cage->rest_nodes = cage->mesh.nodes;
}

// Predicts the cages of lattices from voxels, without building them.
class CellSearch::Guess {
 public:
  Guess(const CellSearch& search, double cell)
      : search_(search),
        finest_(
            std::min(search.LongestSide() / kMostVoxels, SolidVoxels::FinestEdge(search.surface_))),
        voxels_(search.surface_, std::max(cell / kVoxelsPerCell, finest_)) {}

  const SolidVoxels& voxels() const { return voxels_; }
  // Whether the voxels are as small as they can be.
  bool IsFinest() const { return voxels_.edge() <= finest_; }

  // A place and its predicted cost: the volume of the tets and a penalty for copies. Lower is
  // better.
  struct Scored {
    Place place;
    double score = HUGE_VAL;
  };
  // Scores a place. Adjusts its cell size in `steps` steps from place.cell to about `wanted` tets.
  Scored At(Place place, double wanted, int steps) const {
    Scored scored{place, HUGE_VAL};
    for (int i = 0; i < steps; ++i) {
      const Result<Lattice> lattice = Lattice::Make(search_.kind_, search_.box_.low,
                                                    search_.box_.high, place.cell, place.shift);
      if (!lattice.ok()) return scored;
      const SolidVoxels::Cut cut = voxels_.CutBy(lattice.value());
      const double cost = cut.tets + kCostOfPiece * (cut.pieces - cut.tets);
      scored = {place, place.cell * place.cell * place.cell * cost};
      place.cell *= RootOfCount(cut.pieces / wanted);
    }
    scored.place.cell = place.cell;
    return scored;
  }

  // The `count` places with the best scores, the best one first.
  std::vector<Place> Best(Place start, double wanted, uint32_t target, size_t count) const {
    std::vector<Scored> all = {At(start, wanted, kFirstSteps)};
    const size_t stride = target <= kCompareAll ? 1 : 2;
    for (size_t x = 0; x < 2 && target <= kCompareSome; ++x) {
      for (size_t y = 0; y < kPlaces.size(); y += stride) {
        for (size_t z = 0; z < kPlaces.size(); z += stride) {
          all.push_back(
              At({all[0].place.cell, {kPlaces[2 * x], kPlaces[y], kPlaces[z]}}, wanted, 2));
        }
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Scored& a, const Scored& b) { return a.score < b.score; });
    std::vector<Place> best;
    for (size_t i = 0; i < std::min(count, all.size()); ++i) best.push_back(all[i].place);
    return best;
  }

  // The place, with its cell size adjusted so that the cage has about `aim` tets.
  Place Refined(Place place, double aim) const {
    for (int i = 0; i < kRefinements; ++i) {
      const Result<Lattice> lattice = Lattice::Make(search_.kind_, search_.box_.low,
                                                    search_.box_.high, place.cell, place.shift);
      if (!lattice.ok()) return place;
      const double count = kMissed * voxels_.CountTets(lattice.value());
      place.cell *= RootOfCount(count / aim);
    }
    return place;
  }

 private:
  const CellSearch& search_;
  double finest_;  // smallest edge of a voxel [m]
  SolidVoxels voxels_;
};

CellSearch::CellSearch(const SolidSurface& surface, const InsideTest& inside, LatticeKind kind,
                       double clearance, bool join_parts)
    : surface_(surface),
      inside_(inside),
      kind_(kind),
      clearance_(clearance),
      join_parts_(join_parts),
      links_(MakeSurfaceLinks(surface)),
      box_(BoxOf(surface)) {}

double CellSearch::LongestSide() const {
  const Vec3d size = box_.Extent();
  return std::max({size.x, size.y, size.z});
}

Result<CellAttempt> CellSearch::Try(double cell, const LatticeShift& shift) {
  ++num_attempts_;
  Result<Lattice> lattice = Lattice::Make(kind_, box_.low, box_.high, cell, shift);
  if (!lattice.ok()) return lattice.error();
  const Result<LatticeContacts> contacts = FindContacts(lattice.value(), surface_, clearance_);
  if (!contacts.ok()) return contacts.error();
  most_touched_ = std::max(most_touched_, contacts.value().tets.size());
  Result<SplitCage> cage = SplitLattice(lattice.value(), surface_, links_, inside_,
                                        contacts.value(), clearance_, join_parts_);
  if (!cage.ok()) return cage.error();
  return CellAttempt{cell, std::move(cage.value())};
}

Result<TouchedTets> CellSearch::Touch(double cell) const {
  const Result<Lattice> lattice =
      Lattice::Make(kind_, box_.low, box_.high, cell, CentredShift(kind_));
  if (!lattice.ok()) return lattice.error();
  const Result<LatticeContacts> contacts = FindContacts(lattice.value(), surface_, clearance_);
  if (!contacts.ok()) return contacts.error();
  TouchedTets touched;
  for (const uint32_t tet : contacts.value().tets) {
    ++touched.count;
    touched.volume_m3 += TetVolume(lattice.value().TetCorners(tet));
  }
  return touched;
}

Result<CellAttempt> CellSearch::Nearest(uint32_t target) {
  Result<CellAttempt> best = NearestAlong(target);
  if (!best.ok() && best.error().exit_code == ExitCode::kLimit) {
    return best.error().WithContext("a cage of about " + std::to_string(target) + " tets");
  }
  if (!best.ok() || target < kFewestToGuess || IsGood(best.value(), target)) return best;
  if (NumPlaces() < kMostPlaces) return best;
  const SolidSurface surface = TurnedSurface(surface_);
  const InsideTest inside(surface);
  // What a rounded node may come to touch counts as near.
  const double clearance = std::max(clearance_, RoundingOfNodes(box_));
  CellSearch search(surface, inside, kind_, clearance, join_parts_);
  Result<CellAttempt> other = search.NearestAlong(target);
  num_attempts_ += search.num_attempts_;
  most_touched_ = std::max(most_touched_, search.most_touched_);
  if (!other.ok() || CostOf(other.value(), target) >= CostOf(best.value(), target)) return best;
  TurnBack(surface_, &other.value().cage);
  return other;
}

size_t CellSearch::Work() const {
  // Many parts within one tet slow an attempt down.
  return surface_.triangles.size() * (1 + links_.num_parts / kPartsAsMuch);
}

size_t CellSearch::NumPlaces() const {
  if (surface_.closed) return kMostPlaces;
  return std::clamp<size_t>(kTrianglesForOpenPlaces / Work(), 1, kMostPlaces);
}

// A guess whose voxels tell the tets apart. In a body that fills little of its box, voxels for the
// start's cells are too few, or larger than the tets. The next ones are smaller, or made for the
// cells that these predict.
CellSearch::Guess CellSearch::ResolvingGuess(Place* start, double wanted) const {
  while (true) {
    Guess guess(*this, start->cell);
    if (guess.IsFinest()) return guess;
    if (static_cast<double>(guess.voxels().num_voxels()) < wanted) {
      start->cell *= 0.5;
      continue;
    }
    const double cell = guess.At(*start, wanted, kFirstSteps).place.cell;
    if (cell >= kFewestVoxelsPerCell * guess.voxels().edge()) return guess;
    start->cell = cell;
  }
}

// Steps 1 to 3 of the search, with the lattice along the axes of the surface.
Result<CellAttempt> CellSearch::NearestAlong(uint32_t target) {
  const double aim = 0.5 * (1.0 + kEnough) * target;
  Place start = {1.5 * LongestSide() / RootOfCount(target), CentredShift(kind_)};
  const size_t work = Work();
  const int tries =
      std::clamp(static_cast<int>(kTrianglesForTries / work), kFewestTries, kMostTries);
  if (target < kFewestToGuess) return Adjust(start, target, tries);
  const Guess guess = ResolvingGuess(&start, kVoxelExcess * aim);
  const size_t count = std::clamp<size_t>(kTrianglesForPlaces / work, 1, kMostPlaces);
  // The first `count` places are always tried, the others only until a cage is good.
  const std::vector<Place> places = guess.Best(start, kVoxelExcess * aim, target, NumPlaces());
  std::optional<CellAttempt> best;
  double excess = 1.0;  // cell size found at the previous place, relative to its guess
  for (size_t i = 0; i < places.size(); ++i) {
    if (i >= count && best && IsGood(*best, target)) break;
    Place place = guess.Refined(places[i], aim);
    const double guessed = place.cell;
    place.cell *= excess;
    // Give up early if the number is hard to meet, except at the last chance to get any cage.
    Result<CellAttempt> attempt = Adjust(place, target, best || i + 1 < places.size() ? 5 : tries);
    if (!attempt.ok()) {
      if (best || i + 1 < places.size()) continue;
      return attempt.error();
    }
    excess = attempt.value().cell_m / guessed;
    if (!best || CostOf(attempt.value(), target) < CostOf(*best, target)) {
      best = std::move(attempt.value());
    }
  }
  return std::move(*best);
}

// Makes up to `tries` attempts at one place and adjusts the cell size in between. Returns the
// largest cage of at most `target` tets; if there is none, the smallest cage.
Result<CellAttempt> CellSearch::Adjust(Place place, uint32_t target, int tries) {
  const double aim = 0.5 * (1.0 + kEnough) * target;
  std::optional<CellAttempt> best;    // most tets among cages with at most `target`
  std::optional<CellAttempt> fewest;  // fewest tets among the others
  double few = 0.0;                   // smallest cell that gave at most `target` tets
  double many = 0.0;                  // largest cell that gave more
  double too_fine = 0.0;              // largest cell that exceeded the lattice's limits
  std::optional<Error> last_error;
  for (int i = 0; i < tries || (!best && !fewest && i < kMostTries); ++i) {
    Result<CellAttempt> attempt = Try(place.cell, place.shift);
    if (!attempt.ok()) {
      if (attempt.error().exit_code != ExitCode::kLimit) return attempt.error();
      // Small parts far apart: the lattice reaches its limit before the number of tets is met.
      too_fine = std::max(too_fine, place.cell);
      last_error = attempt.error();
      if (best) break;
      place.cell *= 1.5;
      continue;
    }
    const double count = attempt.value().num_tets();
    if (count <= target) {
      few = few == 0.0 ? place.cell : std::min(few, place.cell);
      if (!best || count > best->num_tets()) best = std::move(attempt.value());
      if (best->num_tets() > kEnough * target) break;
    } else {
      many = std::max(many, place.cell);
      if (!fewest || count < fewest->num_tets()) fewest = std::move(attempt.value());
      if (many >= kLargestCell * LongestSide()) break;
    }
    if (few > 0.0 && many > 0.0 && few > many) {
      place.cell = i % 2 == 0 ? 0.5 * (few + many) : many + (few - many) * 0.3;
    } else {
      place.cell *=
          std::clamp(RootOfCount(count / aim), 0.5, 2.0) * (count > target ? 1.004 : 0.996);
      if (few > 0.0 && many > 0.0) many = 0.0;  // not monotonic: forget this bound, go on
    }
    if (place.cell <= too_fine) break;
  }
  if (best) return std::move(*best);
  if (fewest) return std::move(*fewest);
  return *last_error;
}

bool CellSearch::IsGood(const CellAttempt& attempt, uint32_t target) {
  const uint32_t count = attempt.num_tets();
  return count <= target && count > kEnough * target && attempt.cage.num_pinched == 0;
}

double CellSearch::CostOf(const CellAttempt& attempt, uint32_t target) {
  const SplitCage& cage = attempt.cage;
  const double count = attempt.num_tets();
  const double cost = attempt.cell_m * attempt.cell_m * attempt.cell_m *
                      (count + kCostOfPiece * cage.num_split_tets);
  if (IsGood(attempt, target)) return cost;
  // The factor outweighs all differences between good cages.
  const double off =
      count > target ? count / target : (count > kEnough * target ? 1.0 : target / count);
  return cost * kCostOfFailure * off * (1.0 + cage.num_pinched);
}

}  // namespace plush::tools
