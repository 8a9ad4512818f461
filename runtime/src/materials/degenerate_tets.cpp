// SPDX-License-Identifier: MIT
#include "materials/degenerate_tets.h"

namespace plush {
namespace {

Matrix3<float> ToMatrix3(const Mat3& m) {
  const auto column = [](const Vec3& v) { return Vector3<float>{v.x, v.y, v.z}; };
  return {column(m.c0), column(m.c1), column(m.c2)};
}

}  // namespace

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
