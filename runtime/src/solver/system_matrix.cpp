// SPDX-License-Identifier: MIT
#include "solver/system_matrix.h"

#include "base/vector_math.h"

#include <cstddef>

namespace plush {

void MultiplySystem(const SystemView& system, std::span<const NodeVec> x, std::span<NodeVec> out) {
  const size_t num_nodes = system.masses.size();
  for (size_t i = 0; i < num_nodes; ++i) out[i] = x[i] * (system.masses[i] * system.mass_scale);
  out[num_nodes] = Vec3{};
  const ElementView& elements = system.elements;
  const float time2 = system.dt * (system.dt + elements.damping);
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 dm_inv = elements.DmInv(t);
    const Mat3 gradient = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv);
    ScatterNodeGradients(tet, NodeGradients(gradient, dm_inv), elements.Stiffness(t) * time2, out);
  }
  for (size_t i = 0; i < num_nodes; ++i) {
    if (system.pinned[i]) out[i] = Vec3{};
  }
}

}  // namespace plush
