// SPDX-License-Identifier: MIT
#include "lattice/cell_search.h"

#include "base/float_rounding.h"
#include "lattice/lattice_contacts.h"
#include "lattice/solid_voxels.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// Rotation by the quaternion (a, b, c, d) = (14, 3, 5, 2), over its squared length: as whole
// numbers the same everywhere.
constexpr double kSquared = 234.0;
constexpr Vec3d kRows[3] = {{176.0 / kSquared, -26.0 / kSquared, 152.0 / kSquared},
                            {86.0 / kSquared, 208.0 / kSquared, -64.0 / kSquared},
                            {-128.0 / kSquared, 104.0 / kSquared, 166.0 / kSquared}};

Vec3d Turned(const Vec3d& v) { return {Dot(kRows[0], v), Dot(kRows[1], v), Dot(kRows[2], v)}; }
Vec3d TurnedBack(const Vec3d& v) { return kRows[0] * v.x + kRows[1] * v.y + kRows[2] * v.z; }

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

namespace {

// Cages built at one place of the lattice: at most so many, fewer where each one takes long.
constexpr int kMostTries = 16;
constexpr int kFewestTries = 5;
constexpr size_t kTrianglesForTries = 500'000;
constexpr size_t kPartsAsMuch = 8;

// Places of which real cages are built: as many as there are times these triangles in the surface.
constexpr size_t kTrianglesForPlaces = 80'000;
constexpr size_t kMostPlaces = 6;
// The same for surfaces that are open, where no search ends well for certain.
constexpr size_t kTrianglesForOpenPlaces = 400'000;

// Penalty of an attempt with the wrong number of tets or a pinched boundary.
constexpr double kCostOfFailure = 1000.0;

// Below this share of the wanted number the search goes on.
constexpr double kEnough = 0.95;

// Voxels are thicker than the solid: they fall into more tets.
constexpr double kVoxelExcess = 1.07;

// Refinements of a guess. A cage has so many times the tets that points of the surface find: those
// that a corner of the solid enters between them, and copies (1.06 to 1.13 over nine models with
// 200 to 1000 tets).
constexpr int kRefinements = 3;
constexpr double kMissed = 1.09;

// Cells grow up to this many longest sides of the box: the whole model fits into one tet.
constexpr double kLargestCell = 16.0;

// Voxels per cell of the lattice along each axis, and the most voxels along the longest side.
constexpr double kVoxelsPerCell = 7.0;
constexpr double kMostVoxels = 250.0;

// Places of the lattice along each axis, in cells. A bcc lattice is the same half a cell on along
// all three.
constexpr std::array<double, 4> kPlaces = {0.0171, 0.2633, 0.5207, 0.7571};

// From and up to these numbers of tets all places are compared, or two along each axis; beyond, one
// is as good as another.
constexpr uint32_t kFewestToGuess = 50;
constexpr uint32_t kCompareAll = 2'000;
constexpr uint32_t kCompareSome = 20'000;

// What a tet costs in a cage that holds a second piece, in tets: copies overlap, and where strands
// begin the fit stays loose. Over 96 cages of three models the volume after the fit goes with the
// number of copies (correlation 0.9).
constexpr double kCostOfPiece = 5.0;

// x^(13/32) by roots, which are the same everywhere. The number of tets around a surface grows with
// 1 / cell to a power between the surface's 2 and the volume's 3: about 32/13.
double RootOfCount(double x) {
  const double quarter = std::sqrt(std::sqrt(x));
  const double eighth = std::sqrt(quarter);
  return quarter * eighth * std::sqrt(std::sqrt(eighth));
}

}  // namespace

// Guesses what cages would be like.
class CellSearch::Guess {
 public:
  Guess(const CellSearch& search, double cell)
      : search_(search),
        voxels_(search.surface_,
                std::max(cell / kVoxelsPerCell, search.LongestSide() / kMostVoxels)) {}

  // The size of cell at this place of the lattice that makes about `wanted` tets, coming from
  // place.cell, and a measure of the cage's volume.
  struct Scored {
    Place place;
    double score = HUGE_VAL;
  };
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

  // The places of the lattice with the best scores, the best one first.
  std::vector<Place> Best(Place start, double wanted, uint32_t target, size_t count) const {
    std::vector<Scored> all = {At(start, wanted, 3)};
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

  // The place with the size of cell adjusted so that the cage has about `aim` tets.
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
  const LatticeContacts contacts = FindContacts(lattice.value(), surface_, clearance_);
  return CellAttempt{cell, SplitLattice(lattice.value(), surface_, links_, inside_, contacts,
                                        clearance_, join_parts_)};
}

Result<CellAttempt> CellSearch::Nearest(uint32_t target) {
  Result<CellAttempt> best = NearestAlong(target);
  if (!best.ok() || target < kFewestToGuess || IsGood(best.value(), target)) return best;
  if (NumPlaces() < kMostPlaces) return best;
  const SolidSurface surface = TurnedSurface(surface_);
  const InsideTest inside(surface);
  CellSearch search(surface, inside, kind_, clearance_, join_parts_);
  Result<CellAttempt> other = search.NearestAlong(target);
  num_attempts_ += search.num_attempts_;
  if (!other.ok() || CostOf(other.value(), target) >= CostOf(best.value(), target)) return best;
  TurnBack(surface_, &other.value().cage);
  return other;
}

// With the lattice along the axes.
size_t CellSearch::Work() const {
  // Parts that lie in one tet make a trial cage slow: so many are as much work again.
  return surface_.triangles.size() * (1 + links_.num_parts / kPartsAsMuch);
}

size_t CellSearch::NumPlaces() const {
  if (surface_.closed) return kMostPlaces;
  return std::clamp<size_t>(kTrianglesForOpenPlaces / Work(), 1, kMostPlaces);
}

Result<CellAttempt> CellSearch::NearestAlong(uint32_t target) {
  const double aim = 0.5 * (1.0 + kEnough) * target;
  const Place start = {1.5 * LongestSide() / RootOfCount(target), CentredShift(kind_)};
  const size_t work = Work();
  const int tries =
      std::clamp(static_cast<int>(kTrianglesForTries / work), kFewestTries, kMostTries);
  if (target < kFewestToGuess) return Adjust(start, target, tries);
  const Guess guess(*this, start.cell);
  const size_t count = std::clamp<size_t>(kTrianglesForPlaces / work, 1, kMostPlaces);
  // More than that only where none has the right number of tets without pinching.
  const std::vector<Place> places = guess.Best(start, kVoxelExcess * aim, target, NumPlaces());
  std::optional<CellAttempt> best;
  double excess = 1.0;  // cell sizes that the guesses were off by
  for (size_t i = 0; i < places.size(); ++i) {
    if (i >= count && best && IsGood(*best, target)) break;
    Place place = guess.Refined(places[i], aim);
    const double guessed = place.cell;
    place.cell *= excess;
    // All but the last chance of an answer stop early where the number is hard to meet.
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

Result<CellAttempt> CellSearch::Adjust(Place place, uint32_t target, int tries) {
  const double aim = 0.5 * (1.0 + kEnough) * target;
  std::optional<CellAttempt> best;    // with most tets of those with few enough
  std::optional<CellAttempt> fewest;  // of the others
  double few = 0.0;                   // smallest cell with few enough
  double many = 0.0;                  // largest cell with too many
  double too_fine = 0.0;              // largest cell beyond the lattice's limits
  std::optional<Error> last_error;
  for (int i = 0; i < tries || (!best && !fewest && i < kMostTries); ++i) {
    Result<CellAttempt> attempt = Try(place.cell, place.shift);
    if (!attempt.ok()) {
      if (attempt.error().exit_code != ExitCode::kLimit) return attempt.error();
      // Small parts far apart: the lattice is at its limit before the number is reached.
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
      if (few > 0.0 && many > 0.0) many = 0.0;  // not monotonic: look a little farther on
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
  // Nothing else counts then.
  const double off =
      count > target ? count / target : (count > kEnough * target ? 1.0 : target / count);
  return cost * kCostOfFailure * off * (1.0 + cage.num_pinched);
}

}  // namespace plush::tools
