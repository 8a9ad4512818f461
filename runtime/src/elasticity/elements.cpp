// SPDX-License-Identifier: MIT
#include "elasticity/elements.h"

#include "elasticity/polar_decomposition.h"

namespace plush {
namespace {

// Enough for any warm start; the iteration stops once it has converged.
constexpr int kConvergedIterations = 64;

Mat3 GradientAt(const ElementView& elements, size_t t, NodeVectors x) {
  const Tet& tet = elements.tets[t];
  return DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], elements.DmInv(t));
}

// The rotation of tet t for its gradient F, converged from its current one.
Quat ConvergedRotation(const ElementView& elements, size_t t, const Mat3& F,
                       const RotationView& rotations) {
  return AnalyticPolarDecomposition(F, rotations.Get(elements.slots[t]), kConvergedIterations);
}

}  // namespace

void MatchRotations(const ElementView& elements, NodeVectors x, const RotationView& rotations) {
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    rotations.Set(elements.slots[t], ConvergedRotation(elements, t, F, rotations));
  }
}

ElementSummary SummariseElements(const ElementView& elements, NodeVectors x,
                                 const RotationView& rotations, const VolumeLaw& law) {
  ElementSummary summary;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    const Mat3 R = RotationMatrix(ConvergedRotation(elements, t, F, rotations));
    const float det = Determinant(F);
    const double change = static_cast<double>(det) - 1.0;
    const double stiffness = elements.Stiffness(t), bulk = elements.Bulk(t);
    summary.elastic_j +=
        0.5 * stiffness * double(SquaredNorm(F - R)) + VolumeEnergy(law, stiffness, bulk, change);
    summary.volume += elements.Volume(t) * static_cast<double>(det);
    if (det < summary.min_det_f) summary.min_det_f = det;
    summary.inverted += det <= 0.0f ? 1u : 0u;
    summary.collapsed += det < kCollapsedDetF ? 1u : 0u;
  }
  return summary;
}

void ElasticForces(const ElementView& elements, NodeVectors x, const RotationView& rotations,
                   const VolumeLaw& law, std::span<Vec3> forces) {
  for (Vec3& force : forces) force = {};
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    const Mat3 R = RotationMatrix(ConvergedRotation(elements, t, F, rotations));
    const float stiffness = elements.Stiffness(t);
    const float pressure = VolumePressure(law, stiffness, elements.Bulk(t), Determinant(F) - 1.0f);
    const Mat3 P = (R - F) * stiffness - Cofactor(F) * pressure;
    ScatterNodeGradients(elements.tets[t], NodeGradients(P, elements.DmInv(t)), 1.0f, forces);
  }
}

}  // namespace plush
