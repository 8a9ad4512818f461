// SPDX-License-Identifier: MIT
// Compares the factor with a second factorisation, and its solutions with the matrix assembled from
// the tets [Kug, Alg. 1].
#include "plush/format/factor_panels.h"
#include "plush/format/system_factor.h"
#include "plush/format/tet_block.h"

#include "base/vec3.h"
#include "rest/rest_data.h"
#include "validate/rest_checks.h"
#include "validate/tally.h"

#include <Eigen/Dense>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// Allows for terms of higher order, and for rounding in double while factoring and solving.
constexpr double kRoom = 1.1;

// Two runs of one build make the same values. Another compiler may round sums in double
// differently, which shows if terms cancel.
constexpr double kSameFactor = 4.0 * kRoundoff;
constexpr double kCancelled = 1.0e-3 * kRoundoff;

// A supernode's dense blocks in double: L below the columns, D^-1, and its inverse.
struct Panel {
  Matrix below;
  Matrix inverse;
  Matrix diagonal;
};

Panel UnpackPanel(std::span<const float> values, const Supernode& s) {
  Panel panel = {Matrix(s.num_rows, s.num_columns), Matrix(s.num_columns, s.num_columns), {}};
  const size_t start = s.first_value + BlockValues(s.num_rows, s.num_columns);
  for (uint32_t c = 0; c < s.num_columns; ++c) {
    for (uint32_t r = 0; r < s.num_rows; ++r) {
      panel.below(r, c) = -values[s.first_value + BlockIndex(s.num_rows, s.num_columns, r, c)];
    }
    for (uint32_t r = 0; r < s.num_columns; ++r) {
      panel.inverse(r, c) = values[start + BlockIndex(s.num_columns, s.num_columns, r, c)];
    }
  }
  panel.diagonal = panel.inverse.inverse();
  // Floats of D^-1 may keep only the motion as a whole of a body that is very stiff for its mass
  // and time step. They then say nothing about its strain: any residual is their rounding.
  if (!panel.diagonal.allFinite()) panel.diagonal.fill(std::numeric_limits<double>::infinity());
  return panel;
}

class UnpackedFactor {
 public:
  explicit UnpackedFactor(const FactorView& factor) : factor_(factor) {
    for (const Supernode& s : factor.supernodes) panels_.push_back(UnpackPanel(factor.values, s));
  }

  // x with L D L^T x = b.
  Vector Solve(const Vector& b) const {
    Vector x = b;
    for (size_t i = 0; i < panels_.size(); ++i) Scatter(i, -panels_[i].below * Columns(i, x), &x);
    for (size_t i = panels_.size(); i-- > 0;) {
      Columns(i, &x) =
          panels_[i].inverse * Columns(i, x) - panels_[i].below.transpose() * Gather(i, x);
    }
    return x;
  }

  // Largest change of each row of L D L^T x by rounding.
  Vector RoundingOf(const Vector& x) const {
    Vector y = x.cwiseAbs();  // becomes |L^T| |x|, then that times |D|, then that times |L|
    for (size_t i = 0; i < panels_.size(); ++i) {
      Columns(i, &y) += panels_[i].below.cwiseAbs().transpose() * Gather(i, y);
    }
    for (size_t i = 0; i < panels_.size(); ++i) {
      const Matrix diagonal = panels_[i].diagonal.cwiseAbs();
      const Vector once = diagonal * Columns(i, y);
      Columns(i, &y) = 2.0 * once + diagonal * (panels_[i].inverse.cwiseAbs() * once);
    }
    for (size_t i = panels_.size(); i-- > 0;) {
      Scatter(i, panels_[i].below.cwiseAbs() * Columns(i, y), &y);
    }
    return kRoundoff * y;
  }

 private:
  Vector Columns(size_t i, const Vector& x) const {
    return x.segment(factor_.supernodes[i].first_column, factor_.supernodes[i].num_columns);
  }
  Eigen::VectorBlock<Vector> Columns(size_t i, Vector* x) const {
    return x->segment(factor_.supernodes[i].first_column, factor_.supernodes[i].num_columns);
  }
  // Elements in the supernode's rows.
  Vector Gather(size_t i, const Vector& x) const {
    const Supernode& s = factor_.supernodes[i];
    Vector out(s.num_rows);
    for (uint32_t r = 0; r < s.num_rows; ++r) out[r] = x[factor_.rows[s.first_row + r]];
    return out;
  }
  // Adds to the elements in the supernode's rows.
  void Scatter(size_t i, const Vector& values, Vector* x) const {
    const Supernode& s = factor_.supernodes[i];
    for (uint32_t r = 0; r < s.num_rows; ++r) (*x)[factor_.rows[s.first_row + r]] += values[r];
  }

  const FactorView& factor_;
  std::vector<Panel> panels_;
};

// Gradients of the four shape functions [1/m].
std::array<Vec3d, 4> ShapeGradients(const Mat3& dm_inv) {
  const Vec3d b = {dm_inv.c0.x, dm_inv.c1.x, dm_inv.c2.x};
  const Vec3d c = {dm_inv.c0.y, dm_inv.c1.y, dm_inv.c2.y};
  const Vec3d d = {dm_inv.c0.z, dm_inv.c1.z, dm_inv.c2.z};
  return {-(b + c + d), b, c, d};
}

// The product A x, summed tet by tet.
Vector MultiplySystem(const SimulationView& s, double dt, const Vector& x) {
  Vector out(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) out[i] = s.masses[static_cast<size_t>(i)] * x[i];
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const std::array<uint32_t, 4> ids = NodesOf(s.tets[t]);
    const std::array<Vec3d, 4> gradients = ShapeGradients(s.DmInv(t));
    Vec3d stretch = {};
    for (size_t k = 0; k < 4; ++k) stretch += x[ids[k]] * gradients[k];
    stretch = dt * (dt + s.damping) * s.BlockOf(t).stiffness[s.LaneOf(t)] * stretch;
    for (size_t k = 0; k < 4; ++k) out[ids[k]] += Dot(gradients[k], stretch);
  }
  return out;
}

// Any fixed numbers of both signs in [-1, 1].
Vector RightSide(Eigen::Index size, uint32_t seed) {
  Vector b(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    seed = 1664525u * seed + 1013904223u;
    b[i] = seed / 2147483648.0 - 1.0;
  }
  return b;
}

void CheckResiduals(const SimulationView& simulation, const FactorView& factor,
                    FindingList* findings) {
  const UnpackedFactor unpacked(factor);
  Tally wrong("FILE_FACTOR", "factor.values",
              "solving with it leaves a residual; deviations count in allowed errors");
  for (const uint32_t seed : {1u, 2u}) {
    const Vector b = RightSide(static_cast<Eigen::Index>(simulation.nodes.size()), seed);
    const Vector x = unpacked.Solve(b);
    const Vector residual = MultiplySystem(simulation, factor.dt, x) - b;
    const Vector allowed = kRoom * unpacked.RoundingOf(x);
    for (Eigen::Index i = 0; i < b.size(); ++i) {
      if (std::abs(residual[i]) <= allowed[i]) continue;
      wrong.AddAt(static_cast<uint64_t>(i), ToDouble(simulation.nodes[static_cast<size_t>(i)]),
                  std::abs(residual[i]) / allowed[i]);
    }
    if (wrong.count() > 0) break;  // the second one finds nearly the same
  }
  wrong.Report(findings);
}

// Largest ratio of difference to allowance in a dense block. As A is positive definite, an entry of
// L or D^-1 is at most the product of the scales of its row and column.
double WorstEntry(const Matrix& stored, const Matrix& expected, const Vector& row_scales,
                  const Vector& column_scales) {
  double worst = 0.0;
  for (Eigen::Index c = 0; c < stored.cols(); ++c) {
    for (Eigen::Index r = 0; r < stored.rows(); ++r) {
      const double allowed = kSameFactor * std::abs(expected(r, c)) +
                             kCancelled * std::abs(row_scales[r] * column_scales[c]);
      const double difference = std::abs(stored(r, c) - expected(r, c));
      if (difference > 0.0) worst = std::max(worst, difference / allowed);
    }
  }
  return worst;
}

Vector SystemDiagonal(const SimulationView& s, double dt) {
  Vector diagonal(static_cast<Eigen::Index>(s.nodes.size()));
  for (size_t i = 0; i < s.nodes.size(); ++i) diagonal[static_cast<Eigen::Index>(i)] = s.masses[i];
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const std::array<uint32_t, 4> ids = NodesOf(s.tets[t]);
    const std::array<Vec3d, 4> gradients = ShapeGradients(s.DmInv(t));
    const double stiffness = dt * (dt + s.damping) * s.BlockOf(t).stiffness[s.LaneOf(t)];
    for (size_t k = 0; k < 4; ++k) diagonal[ids[k]] += stiffness * LengthSquared(gradients[k]);
  }
  return diagonal;
}

void CompareValues(const SimulationView& simulation, const FactorView& factor,
                   std::span<const float> expected, FindingList* findings) {
  Tally wrong("FILE_FACTOR", "factor.values",
              "not those of the rest data in this supernode; deviations count in allowed errors");
  const Vector diagonal = SystemDiagonal(simulation, factor.dt);
  for (size_t i = 0; i < factor.supernodes.size(); ++i) {
    const Supernode& s = factor.supernodes[i];
    const Panel stored = UnpackPanel(factor.values, s);
    const Panel made = UnpackPanel(expected, s);
    const Vector columns = made.inverse.diagonal().cwiseAbs().cwiseSqrt();
    Vector rows(s.num_rows);
    for (uint32_t r = 0; r < s.num_rows; ++r) {
      rows[r] = std::sqrt(diagonal[factor.rows[s.first_row + r]]);
    }
    const double worst = std::max(WorstEntry(stored.below, made.below, rows, columns),
                                  WorstEntry(stored.inverse, made.inverse, columns, columns));
    if (!(worst <= 1.0)) wrong.AddAt(i, ToDouble(simulation.nodes[s.first_column]), worst);
  }
  wrong.Report(findings);
}

}  // namespace

void CheckFactorAccuracy(const SimulationView& simulation, const FactorView& factor,
                         FindingList* findings) {
  std::vector<float> expected(factor.values.size());
  const Status status = FactoriseSystem({.blocks = simulation.blocks,
                                         .masses = simulation.masses,
                                         .dt = factor.dt,
                                         .damping = simulation.damping},
                                        {factor.supernodes, factor.supernode_of, factor.rows},
                                        DefaultAllocator(), expected);
  if (!status.ok()) {
    findings->Add("FILE_FACTOR", 1,
                  std::string("the rest data's matrix cannot be factored: ") + status.reason);
    return;
  }
  CompareValues(simulation, factor, expected, findings);
  CheckResiduals(simulation, factor, findings);
}

}  // namespace plush::tools
