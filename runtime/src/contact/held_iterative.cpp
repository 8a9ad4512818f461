// SPDX-License-Identifier: MIT
// Held solve by conjugate gradients on the freedom that the rows leave, with the factor of A as
// preconditioner.
#include "base/vector_math.h"
#include "contact/held_solve.h"

#include <cmath>
#include <cstddef>

namespace plush {
namespace {

double DotAll(std::span<const Vec3> a, std::span<const Vec3> b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(Dot(a[i], b[i]));
  return sum;
}

// Orthonormal basis of each node's held directions, three slots a node, zero where unused.
void OrthonormaliseRows(std::span<const HeldRow> rows, std::span<Vec3> held) {
  constexpr float kDependent = 1.0e-3f;
  for (Vec3& direction : held) direction = {};
  for (const HeldRow& row : rows) {
    Vec3* basis = &held[size_t{3} * row.node];
    Vec3 direction = row.direction;
    int k = 0;
    for (; k < 3 && Dot(basis[k], basis[k]) > 0.0f; ++k) {
      direction -= basis[k] * Dot(basis[k], direction);
    }
    const float length = Length(direction);
    if (k < 3 && length > kDependent) basis[k] = direction * (1.0f / length);
  }
}

// Takes the held components out of `v`.
void Project(std::span<const Vec3> held, std::span<Vec3> v) {
  for (size_t i = 0; i < v.size(); ++i) {
    for (int k = 0; k < 3; ++k) v[i] -= held[3 * i + k] * Dot(held[3 * i + k], v[i]);
  }
}

}  // namespace

float SolveHeldIterative(const FactoredSystem& system, std::span<const Vec3> b,
                         std::span<HeldRow> rows, int iterations, HeldSolveWorkspace* workspace,
                         std::span<Vec3> d) {
  HeldSolveWorkspace& w = *workspace;
  OrthonormaliseRows(rows, w.held_.span());
  // Two rounds of one row after another reach the common solution of a node's (at most three)
  // nearly orthogonal rows; exactly so for a normal and its tangents.
  for (int round = 0; round < 2; ++round) {
    for (const HeldRow& row : rows) {
      d[row.node] += row.direction * (row.target - Dot(row.direction, d[row.node]));
    }
  }
  const std::span<Vec3> r = w.residual_.span(), p = w.direction_.span(),
                        z = w.preconditioned_.span(), product = w.product_.span();
  MultiplySystem(system.system, d, product);
  for (size_t i = 0; i < d.size(); ++i) r[i] = b[i] - product[i];
  Project(w.held_.span(), r);
  const auto precondition = [&] {
    for (size_t i = 0; i < d.size(); ++i) z[i] = r[i];
    Substitute(system.pattern, system.values, z);
    Project(w.held_.span(), z);
  };
  precondition();
  for (size_t i = 0; i < d.size(); ++i) p[i] = z[i];
  const double size_of_b = DotAll(b, b);
  double rz = DotAll(r, z);
  for (int k = 0; k < iterations && rz > 0.0; ++k) {
    MultiplySystem(system.system, p, product);
    Project(w.held_.span(), product);
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
  // What the rows must push with is what the equations of their directions lack.
  MultiplySystem(system.system, d, product);
  for (HeldRow& row : rows) {
    row.multiplier = double(Dot(row.direction, product[row.node] - b[row.node]));
  }
  return size_of_b > 0.0 ? static_cast<float>(std::sqrt(DotAll(r, r) / size_of_b)) : 0.0f;
}

}  // namespace plush
