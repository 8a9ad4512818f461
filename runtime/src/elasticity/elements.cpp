// SPDX-License-Identifier: MIT
#include "elasticity/elements.h"

#include "elasticity/polar_decomposition.h"

#include <cmath>

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

// lambda V, with lambda at most `most` mu.
double LimitedBulk(const ElementView& elements, size_t t, float most) {
  return std::fmin(double(elements.Bulk(t)), 0.5 * double(most) * double(elements.Stiffness(t)));
}

}  // namespace

void MatchRotations(const ElementView& elements, NodeVectors x, const RotationView& rotations) {
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    rotations.Set(elements.slots[t], ConvergedRotation(elements, t, F, rotations));
  }
}

ElementSummary SummariseElements(const ElementView& elements, NodeVectors x,
                                 const RotationView& rotations, float most_bulk) {
  ElementSummary summary;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    const Mat3 R = RotationMatrix(ConvergedRotation(elements, t, F, rotations));
    const float det = Determinant(F);
    const double change = static_cast<double>(det) - 1.0;
    summary.elastic_j += 0.5 * double(elements.Stiffness(t)) * double(SquaredNorm(F - R)) +
                         0.5 * LimitedBulk(elements, t, most_bulk) * change * change;
    summary.volume += elements.Volume(t) * static_cast<double>(det);
    if (det < summary.min_det_f) summary.min_det_f = det;
    summary.inverted += det <= 0.0f ? 1u : 0u;
    summary.collapsed += det < kCollapsedDetF ? 1u : 0u;
  }
  return summary;
}

void ElasticForces(const ElementView& elements, NodeVectors x, const RotationView& rotations,
                   float most_bulk, std::span<Vec3> forces) {
  for (Vec3& force : forces) force = {};
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    const Mat3 R = RotationMatrix(ConvergedRotation(elements, t, F, rotations));
    const float volume_change = Determinant(F) - 1.0f;
    const Mat3 P =
        (R - F) * elements.Stiffness(t) +
        Cofactor(F) * (-static_cast<float>(LimitedBulk(elements, t, most_bulk)) * volume_change);
    ScatterNodeGradients(elements.tets[t], NodeGradients(P, elements.DmInv(t)), 1.0f, forces);
  }
}

}  // namespace plush
