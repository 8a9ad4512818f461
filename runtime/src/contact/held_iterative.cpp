// SPDX-License-Identifier: MIT
// SolveHeldIterative: conjugate gradients in the directions that the rows leave free,
// preconditioned with the factor of A. Source: held_solve.h.
#include "base/vector_math.h"
#include "contact/held_solve.h"

#include <cmath>
#include <cstddef>

namespace plush {
namespace {

double DotAll(std::span<const NodeVec> a, std::span<const NodeVec> b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(Dot(a[i], b[i]));
  return sum;
}

// The rows of one node as combinations of an orthonormal basis: row_j = sum_k<=j C[j][k] e[k].
// Leaves out rows that depend on earlier ones.
struct NodeFrame {
  Vec3 e[3];
  float C[3][3] = {};
  HeldRow* rows[3] = {};
  int size = 0;
};

// Makes the frame of the node whose rows begin at `first`, and clears their multipliers. Returns
// the next node's first row.
size_t MakeFrame(std::span<HeldRow> rows, size_t first, NodeFrame* out_frame) {
  constexpr float kDependent = 1.0e-3f;
  NodeFrame& f = *out_frame;
  f = {};
  size_t i = first;
  for (; i < rows.size() && rows[i].node == rows[first].node; ++i) {
    rows[i].multiplier = 0.0;
    if (f.size == 3) continue;
    Vec3 rest = rows[i].direction;
    float* c = f.C[f.size];
    for (int k = 0; k < f.size; ++k) {
      c[k] = Dot(f.e[k], rest);
      rest -= f.e[k] * c[k];
    }
    const float length = Length(rest);
    if (!(length > kDependent)) continue;
    c[f.size] = length;
    f.e[f.size] = rest * (1.0f / length);
    f.rows[f.size++] = &rows[i];
  }
  return i;
}

// Moves `d` onto the rows of one node: forward substitution of the targets along the basis.
void MoveOntoRows(const NodeFrame& f, NodeVec* d) {
  float along[3] = {};
  for (int j = 0; j < f.size; ++j) {
    float target = f.rows[j]->target;
    for (int k = 0; k < j; ++k) target -= f.C[j][k] * along[k];
    along[j] = target / f.C[j][j];
    *d += f.e[j] * (along[j] - Dot(f.e[j], *d));
  }
}

// Splits the impulse on one node into the multipliers of its rows: back substitution.
void SplitImpulse(const NodeFrame& f, const Vec3& impulse) {
  for (int j = f.size; j-- > 0;) {
    double sum = double(Dot(f.e[j], impulse));
    for (int i = j + 1; i < f.size; ++i) sum -= double(f.C[i][j]) * f.rows[i]->multiplier;
    f.rows[j]->multiplier = sum / double(f.C[j][j]);
  }
}

// Removes the held components from `v`.
void Project(std::span<const Vec3> held, std::span<NodeVec> v) {
  for (size_t i = 0; i < held.size() / 3; ++i) {
    for (int k = 0; k < 3; ++k) v[i] -= held[3 * i + k] * Dot(held[3 * i + k], v[i]);
  }
}

}  // namespace

float SolveHeldIterative(const FactoredSystem& system, std::span<const NodeVec> b,
                         std::span<HeldRow> rows, int iterations, HeldSolveWorkspace* workspace,
                         std::span<NodeVec> d) {
  HeldSolveWorkspace& w = *workspace;
  for (Vec3& direction : w.held) direction = {};
  NodeFrame frame;
  for (size_t i = 0; i < rows.size();) {
    const uint32_t node = rows[i].node;
    i = MakeFrame(rows, i, &frame);
    MoveOntoRows(frame, &d[node]);
    for (int k = 0; k < frame.size; ++k) w.held[size_t{3} * node + size_t(k)] = frame.e[k];
  }
  const std::span<NodeVec> r = w.residual.span(), p = w.direction.span(),
                           z = w.preconditioned.span(), product = w.product.span();
  MultiplySystem(system.system, d, product);
  for (size_t i = 0; i < d.size(); ++i) r[i] = b[i] - product[i];
  Project(w.held.span(), r);
  const auto precondition = [&] {
    for (size_t i = 0; i < d.size(); ++i) z[i] = r[i];
    SolvePanels(system.factor, system.workspace, z);
    Project(w.held.span(), z);
  };
  precondition();
  for (size_t i = 0; i < d.size(); ++i) p[i] = z[i];
  const double size_of_b = DotAll(b, b);
  double rz = DotAll(r, z);
  for (int k = 0; k < iterations && rz > 0.0; ++k) {
    MultiplySystem(system.system, p, product);
    Project(w.held.span(), product);
    const double curvature = DotAll(p, product);
    if (!(curvature > 0.0)) break;
    const float step = static_cast<float>(rz / curvature);
    for (size_t i = 0; i < d.size(); ++i) {
      d[i] += p[i] * step;
      r[i] -= product[i] * step;
    }
    precondition();
    const double next = DotAll(r, z);
    const float turn = static_cast<float>(next / rz);
    for (size_t i = 0; i < d.size(); ++i) p[i] = z[i] + p[i] * turn;
    rz = next;
  }
  // The rows' impulses balance the residual in their directions.
  MultiplySystem(system.system, d, product);
  for (size_t i = 0; i < rows.size();) {
    const uint32_t node = rows[i].node;
    i = MakeFrame(rows, i, &frame);
    SplitImpulse(frame, product[node] - b[node]);
  }
  return size_of_b > 0.0 ? static_cast<float>(std::sqrt(DotAll(r, r) / size_of_b)) : 0.0f;
}

}  // namespace plush
