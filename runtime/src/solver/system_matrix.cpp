// SPDX-License-Identifier: MIT
#include "solver/system_matrix.h"

#include "elasticity/tet_element.h"

#include <algorithm>
#include <cstddef>

namespace plush {
namespace {

// Place of entry (row, column), row >= column, in the pattern. It is there: Asset::Open has checked
// that the pattern holds every pair of nodes of every tet.
size_t FindEntry(const CholeskyPattern& pattern, uint32_t row, uint32_t column) {
  const auto begin = pattern.rows.begin() + pattern.column_starts[column];
  const auto end = pattern.rows.begin() + pattern.column_starts[column + 1];
  return static_cast<size_t>(std::lower_bound(begin, end, row) - pattern.rows.begin());
}

// Rows of Dm^-1 are the gradients of the shape functions of nodes b, c, d; node a's is minus their
// sum.
struct ShapeGradients {
  double g[4][3];
  explicit ShapeGradients(const Mat3& m)
      : g{{-(double(m.c0.x) + m.c0.y + m.c0.z), -(double(m.c1.x) + m.c1.y + m.c1.z),
           -(double(m.c2.x) + m.c2.y + m.c2.z)},
          {m.c0.x, m.c1.x, m.c2.x},
          {m.c0.y, m.c1.y, m.c2.y},
          {m.c0.z, m.c1.z, m.c2.z}} {}
  double Dot(int i, int j) const {
    return g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2];
  }
};

}  // namespace

void AssembleSystem(const SystemView& system, const CholeskyPattern& pattern,
                    std::span<double> values) {
  std::fill(values.begin(), values.end(), 0.0);
  for (uint32_t i = 0; i < pattern.size(); ++i) {
    values[pattern.column_starts[i]] =
        system.pinned[i] ? 1.0 : double(system.masses[i]) * double(system.mass_scale);
  }
  const ElementView& elements = system.elements;
  const double time2 = double(system.dt) * (double(system.dt) + double(elements.damping));
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    const ShapeGradients gradients(elements.dm_inv[t]);
    const double stiffness = 2.0 * elements.lame.Mu(t) * double(elements.volumes[t]) * time2;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        if (nodes[i] < nodes[j] || system.pinned[nodes[i]] || system.pinned[nodes[j]]) continue;
        values[FindEntry(pattern, nodes[i], nodes[j])] += stiffness * gradients.Dot(i, j);
      }
    }
  }
}

void MultiplySystem(const SystemView& system, std::span<const Vec3> x, std::span<Vec3> out) {
  for (size_t i = 0; i < x.size(); ++i) {
    out[i] = x[i] * (system.masses[i] * system.mass_scale);
  }
  const ElementView& elements = system.elements;
  const float time2 = system.dt * (system.dt + elements.damping);
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3& dm_inv = elements.dm_inv[t];
    const Mat3 gradient = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv);
    const float stiffness = 2.0f * elements.lame.Mu(t) * elements.volumes[t] * time2;
    ScatterNodeGradients(tet, NodeGradients(gradient, dm_inv), stiffness, out);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (system.pinned[i]) out[i] = {};
  }
}

}  // namespace plush
