// SPDX-License-Identifier: MIT
#include "materials/degenerate_tets.h"

namespace plush {
size_t UpdateWitnesses(const ElementView& elements, NodeVectors before, NodeVectors after,
                       float alpha, std::span<Witness> witnesses) {
  size_t count = 0;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 dm_inv = elements.DmInv(t);
    const auto gradient_at = [&](const NodeVectors& x) {
      return ToMatrix3(DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv));
    };
    witnesses[t] = UpdateWitness(witnesses[t], gradient_at(before), gradient_at(after),
                                 ToMatrix3(dm_inv), double(alpha));
    count += witnesses[t] != kNoWitness ? 1u : 0u;
  }
  return count;
}

}  // namespace plush
