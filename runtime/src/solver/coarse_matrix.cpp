// SPDX-License-Identifier: MIT
// Assembly of the coarse level's matrix from its groups, a sparse block Cholesky factor, and
// solves. Source: see coarse_matrix.h.
#include "solver/coarse_matrix.h"

#include "base/simd_target.h"
#include "base/vector_math.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/coarse_matrix.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using Doubles = hn::CappedTag<double, 8>;
using V = hn::Vec<Doubles>;
inline constexpr size_t kN = kLanes<Doubles>;
inline constexpr size_t kParts = (6 + kN - 1) / kN;  // vectors in six rows

// The columns of a block.
struct Columns {
  V v[6][kParts];

  HWY_INLINE Columns() {}
};

HWY_INLINE void Load(const double* from, Columns* to) {
  const Doubles d;
  for (size_t c = 0; c < 6; ++c) {
    for (size_t p = 0; p < kParts; ++p) to->v[c][p] = hn::LoadU(d, from + 8 * c + kN * p);
  }
}

// out = a times the six numbers `b`.
HWY_INLINE void Times(const Columns& a, const double* b, V* out) {
  const Doubles d;
  for (size_t p = 0; p < kParts; ++p) out[p] = hn::Mul(a.v[0][p], hn::Set(d, b[0]));
  for (size_t k = 1; k < 6; ++k) {
    const V factor = hn::Set(d, b[k]);
    for (size_t p = 0; p < kParts; ++p) out[p] = Fma(a.v[k][p], factor, out[p]);
  }
}

HWY_INLINE void Store(const V* v, double* to) {
  for (size_t p = 0; p < kParts; ++p) hn::StoreU(v[p], Doubles(), to + kN * p);
}

HWY_INLINE void AddTo(const V* v, double* to) {
  const Doubles d;
  for (size_t p = 0; p < kParts; ++p) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + kN * p), v[p]), d, to + kN * p);
  }
}

HWY_INLINE void SubtractFrom(const V* v, double* to) {
  const Doubles d;
  for (size_t p = 0; p < kParts; ++p) {
    hn::StoreU(hn::Sub(hn::LoadU(d, to + kN * p), v[p]), d, to + kN * p);
  }
}

// Adds S (scale K) S^T of a pair to its block, and takes it out of the diagonal ones. `S`: columns.
void AddPair(const double* S, const Columns& columns, const double* stiffness, double scale,
             const CoarsePair& pair, double* blocks) {
  Columns K;
  Load(stiffness, &K);
  const bool has_pins = pair.column == CoarsePair::kPins;
  double* row = blocks + CoarsePattern::kBlock * pair.row;
  double* column = blocks + CoarsePattern::kBlock * (has_pins ? pair.row : pair.column);
  double* block = blocks + CoarsePattern::kBlock * pair.block;
  for (size_t c = 0; c < 6; ++c) {
    double factors[6], turned[8];
    for (size_t k = 0; k < 6; ++k) factors[k] = scale * S[8 * k + c];
    V v[kParts];
    Times(K, factors, v);
    Store(v, turned);
    Times(columns, turned, v);
    SubtractFrom(v, row + 8 * c);
    if (has_pins) continue;
    SubtractFrom(v, column + 8 * c);
    AddTo(v, block + 8 * c);
  }
}

void AddGroup(const double* S, const double* stiffness, double scale, const CoarsePair* begin,
              const CoarsePair* end, double* blocks) {
  Columns columns;
  Load(S, &columns);
  for (const CoarsePair* pair = begin; pair != end; ++pair, stiffness += CoarsePattern::kBlock) {
    AddPair(S, columns, stiffness, scale, *pair, blocks);
  }
}

// A pivot is this share of its diagonal element or less if its unknown depends on others, such as a
// turn of a cluster whose nodes lie on a line. It then stays zero.
constexpr double kLeastPivot = 1.0e-10;

// Factors a diagonal block in place: only its lower triangle counts. `diagonal`: before all
// eliminations. Row 7 gets the inverse pivots.
void FactorDiagonal(const double* diagonal, double* A) {
  for (size_t c = 0; c < 6; ++c) {
    double pivot = A[8 * c + c];
    for (size_t k = 0; k < c; ++k) pivot -= A[8 * k + c] * A[8 * k + c];
    const bool is_independent = pivot > kLeastPivot * diagonal[c];
    const double inverse = is_independent ? 1.0 / std::sqrt(pivot) : 0.0;
    for (size_t r = c + 1; r < 6; ++r) {
      double sum = A[8 * c + r];
      for (size_t k = 0; k < c; ++k) sum -= A[8 * k + r] * A[8 * k + c];
      A[8 * c + r] = sum * inverse;
    }
    A[8 * c + 7] = inverse;
  }
}

// B = B L^-T for the factored diagonal block L.
HWY_INLINE void SolveRow(const double* L, double* B) {
  const Doubles d;
  Columns X;
  Load(B, &X);
  for (size_t c = 0; c < 6; ++c) {
    for (size_t k = 0; k < c; ++k) {
      const V factor = hn::Set(d, L[8 * k + c]);
      for (size_t p = 0; p < kParts; ++p) X.v[c][p] = FmaNegated(X.v[k][p], factor, X.v[c][p]);
    }
    const V inverse = hn::Set(d, L[8 * c + 7]);
    for (size_t p = 0; p < kParts; ++p) X.v[c][p] = hn::Mul(X.v[c][p], inverse);
    Store(X.v[c], B + 8 * c);
  }
}

// C -= A B^T.
HWY_INLINE void SubtractProduct(const Columns& A, const double* B, double* C) {
  for (size_t c = 0; c < 6; ++c) {
    double factors[6];
    for (size_t k = 0; k < 6; ++k) factors[k] = B[8 * k + c];
    V v[kParts];
    Times(A, factors, v);
    SubtractFrom(v, C + 8 * c);
  }
}

void Factor(const CoarsePattern& pattern, const double* diagonals, double* blocks) {
  constexpr size_t kBlock = CoarsePattern::kBlock;
  const size_t count = pattern.num_clusters();
  const uint32_t* target = pattern.targets.data();
  for (size_t j = 0; j < count; ++j) {
    const uint32_t pivot = pattern.order[j];
    double* L = blocks + kBlock * pivot;
    FactorDiagonal(diagonals + 8 * pivot, L);
    double* first = blocks + kBlock * (count + pattern.first_row[j]);
    double* end = blocks + kBlock * (count + pattern.first_row[j + 1]);
    for (double* B = first; B != end; B += kBlock) SolveRow(L, B);
    for (const double* B = first; B != end; B += kBlock) {
      for (const double* A = B; A != end; A += kBlock) {
        Columns columns;
        Load(A, &columns);
        SubtractProduct(columns, B, blocks + kBlock * *target++);
      }
    }
  }
}

// q = C^-1 q, all motions about the common point.
void Solve(const CoarsePattern& pattern, const double* blocks, double* q) {
  constexpr size_t kBlock = CoarsePattern::kBlock;
  const Doubles d;
  const size_t count = pattern.num_clusters();
  for (size_t j = 0; j < count; ++j) {
    const double* L = blocks + kBlock * pattern.order[j];
    double* x = q + 8 * pattern.order[j];
    for (size_t c = 0; c < 6; ++c) {
      x[c] *= L[8 * c + 7];
      for (size_t r = c + 1; r < 6; ++r) x[r] -= L[8 * c + r] * x[c];
    }
    for (uint32_t i = pattern.first_row[j]; i < pattern.first_row[j + 1]; ++i) {
      Columns A;
      Load(blocks + kBlock * (count + i), &A);
      V v[kParts];
      Times(A, x, v);
      SubtractFrom(v, q + 8 * pattern.rows[i]);
    }
  }
  for (size_t j = count; j-- > 0;) {
    const double* L = blocks + kBlock * pattern.order[j];
    double* x = q + 8 * pattern.order[j];
    Columns sums;
    for (size_t c = 0; c < 6; ++c) {
      for (size_t p = 0; p < kParts; ++p) sums.v[c][p] = hn::Zero(d);
    }
    for (uint32_t i = pattern.first_row[j]; i < pattern.first_row[j + 1]; ++i) {
      Columns A;
      Load(blocks + kBlock * (count + i), &A);
      for (size_t p = 0; p < kParts; ++p) {
        const V below = hn::LoadU(d, q + 8 * pattern.rows[i] + kN * p);
        for (size_t c = 0; c < 6; ++c) sums.v[c][p] = Fma(A.v[c][p], below, sums.v[c][p]);
      }
    }
    for (size_t c = 6; c-- > 0;) {
      double products[8];
      Store(sums.v[c], products);
      double sum = x[c];
      for (size_t r = 0; r < 6; ++r) sum -= products[r];
      for (size_t r = c + 1; r < 6; ++r) sum -= L[8 * c + r] * x[r];
      x[c] = sum * L[8 * c + 7];
    }
  }
}

// One number of a motion, for eight impulses.
struct Eight {
  V v[8 / kN];

  HWY_INLINE Eight() {}
};

HWY_INLINE Eight LoadEight(const double* from) {
  Eight out;
  for (size_t p = 0; p < 8 / kN; ++p) out.v[p] = hn::LoadU(Doubles(), from + kN * p);
  return out;
}

HWY_INLINE Eight Zero() {
  Eight out;
  for (size_t p = 0; p < 8 / kN; ++p) out.v[p] = hn::Zero(Doubles());
  return out;
}

HWY_INLINE void StoreEight(const Eight& row, double* to) {
  for (size_t p = 0; p < 8 / kN; ++p) hn::StoreU(row.v[p], Doubles(), to + kN * p);
}

// Without vectors, small code counts for more than speed.
#undef PLUSH_INLINE_VECTORS
#if HWY_TARGET == HWY_SCALAR
#define PLUSH_INLINE_VECTORS HWY_NOINLINE
#else
#define PLUSH_INLINE_VECTORS HWY_INLINE
#endif

// a -= factor b.
PLUSH_INLINE_VECTORS void Subtract(double factor, const Eight& b, Eight* a) {
  const V all = hn::Set(Doubles(), factor);
  for (size_t p = 0; p < 8 / kN; ++p) a->v[p] = FmaNegated(b.v[p], all, a->v[p]);
}

HWY_INLINE void Scale(double factor, Eight* a) {
  const V all = hn::Set(Doubles(), factor);
  for (size_t p = 0; p < 8 / kN; ++p) a->v[p] = hn::Mul(a->v[p], all);
}

// Like Solve for eight columns at once: q (6 num_clusters x 8). A single solve mostly waits for its
// own sums. Only the rows of cluster `k` need be set before. All others are zero then, and on the
// way down, elimination reaches few of them.
void SolveEight(const CoarsePattern& pattern, size_t k, const double* blocks, double* q) {
  constexpr size_t kBlock = CoarsePattern::kBlock, kRows = 6 * 8;
  const size_t count = pattern.num_clusters();
  bool is_set[kMaxClusters] = {};
  is_set[k] = true;
  Eight x[6];
  for (size_t j = 0; j < count; ++j) {
    if (!is_set[pattern.order[j]]) continue;
    const double* L = blocks + kBlock * pattern.order[j];
    double* own = q + kRows * pattern.order[j];
    for (size_t c = 0; c < 6; ++c) x[c] = LoadEight(own + 8 * c);
    for (size_t c = 0; c < 6; ++c) {
      Scale(L[8 * c + 7], &x[c]);
      for (size_t r = c + 1; r < 6; ++r) Subtract(L[8 * c + r], x[c], &x[r]);
      StoreEight(x[c], own + 8 * c);
    }
    for (uint32_t i = pattern.first_row[j]; i < pattern.first_row[j + 1]; ++i) {
      const double* A = blocks + kBlock * (count + i);
      double* other = q + kRows * pattern.rows[i];
      for (size_t r = 0; r < 6; ++r) {
        Eight row = is_set[pattern.rows[i]] ? LoadEight(other + 8 * r) : Zero();
        for (size_t c = 0; c < 6; ++c) Subtract(A[8 * c + r], x[c], &row);
        StoreEight(row, other + 8 * r);
      }
      is_set[pattern.rows[i]] = true;
    }
  }
  for (size_t j = count; j-- > 0;) {
    const double* L = blocks + kBlock * pattern.order[j];
    double* own = q + kRows * pattern.order[j];
    const bool is_zero = !is_set[pattern.order[j]];
    for (size_t c = 0; c < 6; ++c) x[c] = is_zero ? Zero() : LoadEight(own + 8 * c);
    for (uint32_t i = pattern.first_row[j]; i < pattern.first_row[j + 1]; ++i) {
      const double* A = blocks + kBlock * (count + i);
      const double* below = q + kRows * pattern.rows[i];
      for (size_t r = 0; r < 6; ++r) {
        const Eight row = LoadEight(below + 8 * r);
        for (size_t c = 0; c < 6; ++c) Subtract(A[8 * c + r], row, &x[c]);
      }
    }
    for (size_t c = 6; c-- > 0;) {
      for (size_t r = c + 1; r < 6; ++r) Subtract(L[8 * c + r], x[r], &x[c]);
      Scale(L[8 * c + 7], &x[c]);
      StoreEight(x[c], own + 8 * c);
    }
  }
}

// a b - c d. Not fused: all instruction sets give the same bits.
HWY_INLINE Eight Difference(const Eight& a, double b, const Eight& c, double d) {
  const V all_b = hn::Set(Doubles(), b), all_d = hn::Set(Doubles(), d);
  Eight out;
  for (size_t p = 0; p < 8 / kN; ++p) {
    out.v[p] = hn::Sub(hn::Mul(a.v[p], all_b), hn::Mul(c.v[p], all_d));
  }
  return out;
}

HWY_INLINE Eight Sum(const Eight& a, const Eight& b) {
  Eight out;
  for (size_t p = 0; p < 8 / kN; ++p) out.v[p] = hn::Add(a.v[p], b.v[p]);
  return out;
}

// Moves the motions q (6 count x 8) from the common point to the clusters' `centres` (4 x count),
// and stores them by column (6 count x 6).
void StoreResponse(const double* centres, const double* q, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i, q += 6 * 8, centres += 4) {
    const Eight x = LoadEight(q + 24), y = LoadEight(q + 32), z = LoadEight(q + 40);
    double numbers[6][8];
    StoreEight(Sum(LoadEight(q), Difference(y, centres[2], z, centres[1])), numbers[0]);
    StoreEight(Sum(LoadEight(q + 8), Difference(z, centres[0], x, centres[2])), numbers[1]);
    StoreEight(Sum(LoadEight(q + 16), Difference(x, centres[1], y, centres[0])), numbers[2]);
    StoreEight(x, numbers[3]);
    StoreEight(y, numbers[4]);
    StoreEight(z, numbers[5]);
    for (size_t c = 0; c < 6; ++c) {
      for (size_t r = 0; r < 6; ++r) {
        out[6 * (count * c + i) + r] = static_cast<float>(numbers[r][c]);
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {
namespace {

HWY_EXPORT(AddGroup);
HWY_EXPORT(Factor);
HWY_EXPORT(Solve);
HWY_EXPORT(SolveEight);
HWY_EXPORT(StoreResponse);

constexpr size_t kBlock = CoarsePattern::kBlock;

struct Double3 {
  double x, y, z;
};

Double3 Cross(const Double3& a, const Double3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// The normalised sum of the quaternions, each with the sign that is nearer to the first.
Mat3 MeanRotation(const CoarseGroup& group, const RotationView& rotations) {
  const Quat first = rotations.Get(group.slots[0]);
  Quat sum = first;
  for (size_t i = 1; i < CoarseGroup::kSamples; ++i) {
    const Quat q = rotations.Get(group.slots[i]);
    const float dot = q.x * first.x + q.y * first.y + q.z * first.z + q.w * first.w;
    const float sign = dot < 0.0f ? -1.0f : 1.0f;
    sum = {sum.x + sign * q.x, sum.y + sign * q.y, sum.z + sign * q.z, sum.w + sign * q.w};
  }
  // At least the length of `first`: no summand points against it.
  const float scale =
      1.0f / std::sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w);
  return RotationMatrix({sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale});
}

// From `origin`.
Double3 CentreOf(const CoarseGroup& group, const NodePlaces& y, const Vec3& origin) {
  Vec3 sum{};
  for (const uint32_t node : group.nodes) sum += y.At(node) - origin;
  constexpr double kShare = 1.0 / double(4 * CoarseGroup::kSamples);
  return {kShare * double(sum.x), kShare * double(sum.y), kShare * double(sum.z)};
}

// What a force and a moment in a group's frame, at its centre, are in the world and about the
// common point: the columns of a matrix.
void PlaceFrame(const Mat3& R, const Double3& centre, double* S) {
  const Vec3* axes[3] = {&R.c0, &R.c1, &R.c2};
  for (size_t k = 0; k < 3; ++k) {
    const Double3 axis = {axes[k]->x, axes[k]->y, axes[k]->z}, moment = Cross(centre, axis);
    const double force[8] = {axis.x, axis.y, axis.z, moment.x, moment.y, moment.z, 0.0, 0.0};
    const double turn[8] = {0.0, 0.0, 0.0, axis.x, axis.y, axis.z, 0.0, 0.0};
    std::copy(force, force + 8, S + 8 * k);
    std::copy(turn, turn + 8, S + 8 * (k + 3));
  }
}

// Nodes on a line do not move in turns about it, so nothing says by how much they turn: in stiff
// bodies, the sums' rounding made it hundreds of radians. Adds what a rod as thick as long has.
void AddLineInertia(double mass, const ClusterSums& sums, double* A) {
  constexpr double kThin2 = 1.0e-5;  // of squares of thickness and length
  const double xx = sums.squares.x, yy = sums.squares.y, zz = sums.squares.z;
  const double xy = sums.products.x, yz = sums.products.y, zx = sums.products.z;
  const double square = xx + yy + zz;
  const double minors = xx * yy - xy * xy + yy * zz - yz * yz + zz * xx - zx * zx;
  if (!(minors < kThin2 * square * square)) return;
  // The longest column of the squares is along the line.
  const double columns[3][3] = {{xx, xy, zx}, {xy, yy, yz}, {zx, yz, zz}};
  const double* u = columns[xx >= yy && xx >= zz ? 0 : yy >= zz ? 1 : 2];
  const double length2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  if (!(length2 > 0.0)) return;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      A[8 * (3 + j) + 3 + i] += mass * square * u[i] * u[j] / length2;
    }
  }
}

// Adds the inertia of a cluster with its centre at `c` to the lower triangle of a diagonal block.
void AddInertia(double mass, const ClusterSums& sums, const double* c, double* A) {
  // More than the sums' rounding, or nodes on a line would turn about it by any angle.
  constexpr double kExtra = 3.0e-6;
  const double x = c[0], y = c[1], z = c[2];
  const double xx = mass * (double(sums.squares.x) + x * x);
  const double yy = mass * (double(sums.squares.y) + y * y);
  const double zz = mass * (double(sums.squares.z) + z * z);
  for (size_t i = 0; i < 3; ++i) A[8 * i + i] += mass;
  // m c x below the masses.
  A[8 * 0 + 4] += mass * z;
  A[8 * 0 + 5] -= mass * y;
  A[8 * 1 + 3] -= mass * z;
  A[8 * 1 + 5] += mass * x;
  A[8 * 2 + 3] += mass * y;
  A[8 * 2 + 4] -= mass * x;
  const Vec3& squares = sums.squares;
  const double extra = kExtra * mass * (double(squares.x) + double(squares.y) + double(squares.z));
  A[8 * 3 + 3] += yy + zz + extra;
  A[8 * 4 + 4] += xx + zz + extra;
  A[8 * 5 + 5] += xx + yy + extra;
  A[8 * 3 + 4] -= mass * (double(sums.products.x) + x * y);
  A[8 * 4 + 5] -= mass * (double(sums.products.y) + y * z);
  A[8 * 3 + 5] -= mass * (double(sums.products.z) + z * x);
  AddLineInertia(mass, sums, A);
}

// Each pair left out that its block and its transpose are alike only in their sum over the group.
void Symmetrise(double* A) {
  for (size_t c = 0; c < 6; ++c) {
    for (size_t r = c + 1; r < 6; ++r) A[8 * c + r] = 0.5 * (A[8 * c + r] + A[8 * r + c]);
  }
}

}  // namespace

bool CoarseMatrix::Allocate(const Allocator& allocator, const CoarsePattern& pattern) {
  Array<double> blocks, centres;
  if (!blocks.Allocate(allocator, kBlock * pattern.num_blocks(), 0.0) ||
      !centres.Allocate(allocator, 4 * pattern.num_clusters(), 0.0)) {
    return false;
  }
  blocks_ = std::move(blocks);
  centres_ = std::move(centres);
  return true;
}

void CoarseMatrix::Make(const CoarsePattern& pattern, float scale, std::span<const float> masses,
                        std::span<const uint8_t> turns, const NodePlaces& y,
                        const RotationView& rotations, std::span<const ClusterSums> sums) {
  const size_t count = pattern.num_clusters();
  const auto has_mass = [](float mass) { return mass > 0.0f; };
  const size_t first =
      static_cast<size_t>(std::find_if(masses.begin(), masses.end(), has_mass) - masses.begin());
  const Vec3 origin = sums[first < count ? first : 0].centre;
  std::fill(blocks_.begin(), blocks_.end(), 0.0);
  for (const CoarseGroup& group : pattern.groups) {
    double S[kBlock];
    PlaceFrame(MeanRotation(group, rotations), CentreOf(group, y, origin), S);
    HWY_DYNAMIC_DISPATCH(AddGroup)
    (S, &pattern.stiffness[kBlock * group.first_pair], double(scale),
     pattern.pairs.data() + group.first_pair, pattern.pairs.data() + group.end_pair,
     blocks_.data());
  }
  double diagonals[8 * kMaxClusters];
  for (size_t k = 0; k < count; ++k) {
    double *A = &blocks_[kBlock * k], *c = &centres_[4 * k];
    const Vec3 centre = masses[k] > 0.0f ? sums[k].centre - origin : Vec3{};
    c[0] = centre.x, c[1] = centre.y, c[2] = centre.z;
    Symmetrise(A);
    AddInertia(masses[k], sums[k], c, A);
    for (size_t i = 0; i < 6; ++i) {
      const bool moves = i < 3 || turns[k] != 0;
      diagonals[8 * k + i] = moves ? A[8 * i + i] : std::numeric_limits<double>::infinity();
    }
  }
  HWY_DYNAMIC_DISPATCH(Factor)(pattern, diagonals, blocks_.data());
}

void CoarseMatrix::Solve(const CoarsePattern& pattern, std::span<double> q) const {
  const size_t count = pattern.num_clusters();
  const auto centre = [&](size_t k) {
    return Double3{centres_[4 * k], centres_[4 * k + 1], centres_[4 * k + 2]};
  };
  for (size_t k = 0; k < count; ++k) {
    double* b = &q[8 * k];
    const Double3 moment = Cross(centre(k), {b[0], b[1], b[2]});
    b[3] += moment.x, b[4] += moment.y, b[5] += moment.z;
  }
  HWY_DYNAMIC_DISPATCH(Solve)(pattern, blocks_.data(), q.data());
  for (size_t k = 0; k < count; ++k) {
    double* x = &q[8 * k];
    const Double3 shift = Cross({x[3], x[4], x[5]}, centre(k));
    x[0] += shift.x, x[1] += shift.y, x[2] += shift.z;
  }
}

void CoarseMatrix::Respond(const CoarsePattern& pattern, size_t k, std::span<double> q,
                           std::span<float> out) const {
  const size_t count = pattern.num_clusters();
  const double* own = &centres_[4 * k];
  double* b = &q[48 * k];  // row r of column c is at 8 r + c
  std::fill(b, b + 48, 0.0);
  for (size_t c = 0; c < 6; ++c) b[8 * c + c] = 1.0;
  b[8 * 4 + 0] = own[2], b[8 * 5 + 0] = -own[1];  // centre x impulse
  b[8 * 3 + 1] = -own[2], b[8 * 5 + 1] = own[0];
  b[8 * 3 + 2] = own[1], b[8 * 4 + 2] = -own[0];
  HWY_DYNAMIC_DISPATCH(SolveEight)(pattern, k, blocks_.data(), q.data());
  HWY_DYNAMIC_DISPATCH(StoreResponse)(centres_.data(), q.data(), count, out.data());
}

}  // namespace plush
#endif
