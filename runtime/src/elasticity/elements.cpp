// SPDX-License-Identifier: MIT
#include "elasticity/elements.h"

#include "plush/polar_decomposition.h"

#include "elasticity/tet_element.h"

namespace plush {
namespace {

// Enough for any warm start; the iteration stops by itself once it has converged.
constexpr int kConvergedIterations = 64;

Mat3 GradientAt(const ElementView& elements, size_t t, std::span<const Vec3> x) {
  const Tet& tet = elements.tets[t];
  return DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], elements.dm_inv[t]);
}

}  // namespace

void ComputeStretches(const ElementView& elements, std::span<const Vec3> x, int polar_iterations,
                      std::span<Quat> rotations, std::span<Mat3> stretches) {
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    rotations[t] = AnalyticPolarDecomposition(F, rotations[t], polar_iterations);
    stretches[t] = TransposeTimes(RotationMatrix(rotations[t]), F);
  }
}

void AddElasticImpulses(const ElementView& elements, std::span<const Vec3> x, float dt,
                        int polar_iterations, std::span<const Mat3> stretches,
                        std::span<const float> kappa, std::span<Quat> rotations,
                        std::span<Vec3> rhs) {
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    rotations[t] = AnalyticPolarDecomposition(F, rotations[t], polar_iterations);
    const Mat3 R = RotationMatrix(rotations[t]);
    // dt^2 times minus the derivative of mu V |F - R|^2, plus kappa times that of C = det F - 1.
    const float stiffness = 2.0f * elements.lame.Mu(t) * elements.volumes[t] * dt;
    Mat3 P = (R - F) * (stiffness * dt) + Cofactor(F) * kappa[t];
    if (!stretches.empty()) P = P + (R * stretches[t] - F) * (stiffness * elements.damping);
    ScatterNodeGradients(elements.tets[t], NodeGradients(P, elements.dm_inv[t]), 1.0f, rhs);
  }
}

void MatchRotations(const ElementView& elements, std::span<const Vec3> x,
                    std::span<Quat> rotations) {
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    rotations[t] =
        AnalyticPolarDecomposition(GradientAt(elements, t, x), rotations[t], kConvergedIterations);
  }
}

ElementSummary SummariseElements(const ElementView& elements, std::span<const Vec3> x,
                                 std::span<const Quat> rotations) {
  ElementSummary summary;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    const Mat3 R =
        RotationMatrix(AnalyticPolarDecomposition(F, rotations[t], kConvergedIterations));
    const float det = Determinant(F);
    const double V = elements.volumes[t];
    const double change = static_cast<double>(det) - 1.0;
    summary.elastic_j += elements.lame.Mu(t) * V * static_cast<double>(SquaredNorm(F - R)) +
                         0.5 * elements.lame.Lambda(t) * V * change * change;
    summary.volume += V * static_cast<double>(det);
    if (det < summary.min_det_f) summary.min_det_f = det;
    summary.inverted += det <= 0.0f ? 1u : 0u;
    summary.collapsed += det < kCollapsedDetF ? 1u : 0u;
  }
  return summary;
}

void ElasticForces(const ElementView& elements, std::span<const Vec3> x,
                   std::span<const Quat> rotations, std::span<Vec3> forces) {
  for (Vec3& force : forces) force = {};
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Mat3 F = GradientAt(elements, t, x);
    const Mat3 R =
        RotationMatrix(AnalyticPolarDecomposition(F, rotations[t], kConvergedIterations));
    const float V = elements.volumes[t];
    const float volume_change = Determinant(F) - 1.0f;
    const Mat3 P = (R - F) * (2.0f * elements.lame.Mu(t) * V) +
                   Cofactor(F) * (-elements.lame.Lambda(t) * V * volume_change);
    ScatterNodeGradients(elements.tets[t], NodeGradients(P, elements.dm_inv[t]), 1.0f, forces);
  }
}

}  // namespace plush
