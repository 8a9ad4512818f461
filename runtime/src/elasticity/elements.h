// SPDX-License-Identifier: MIT
// All tets of one body: elastic forces and energies of the corotated material.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
//
// Energy: sum_t mu V |F - R|^2 + lambda/2 V (det F - 1)^2 [Kug, Eq. 7 and 13], with the volume term
// of volume_law.h.
//
// A body's data per tet is stored by block, like TetBlock: with c numbers per tet, number k of the
// tet at place s = 16 b + i is at [16 (c b + k) + i].
#pragma once

#include "plush/format/tet_block.h"
#include "plush/types.h"

#include "base/node_vec.h"
#include "base/vector_math.h"
#include "elasticity/volume_law.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// F = Ds Dm^-1 [Kug, Eq. 4] for node positions x_a .. x_d.
inline Mat3 DeformationGradient(const Vec3& xa, const Vec3& xb, const Vec3& xc, const Vec3& xd,
                                const Mat3& dm_inv) {
  return Mat3{xb - xa, xc - xa, xd - xa} * dm_inv;
}

/// Derivatives of a scalar with respect to the positions of nodes b, c, d (the columns), from its
/// derivative P with respect to F: dPsi/dDs = P Dm^-T. The derivative with respect to node a is
/// minus their sum.
inline Mat3 NodeGradients(const Mat3& P, const Mat3& dm_inv) { return P * Transpose(dm_inv); }

/// Adds `gradients` (of b, c, d) times `scale` to these nodes' entries, Vec3 or NodeVec, and minus
/// their sum to node a's.
template <class Node>
void ScatterNodeGradients(const Tet& tet, const Mat3& gradients, float scale, std::span<Node> out) {
  const Vec3 b = gradients.c0 * scale, c = gradients.c1 * scale, d = gradients.c2 * scale;
  out[tet.b] += b;
  out[tet.c] += c;
  out[tet.d] += d;
  out[tet.a] -= b + c + d;
}

/// Lame parameters of one material.
struct LamePair {
  float mu = 0.0f;      ///< E / (2 (1 + nu)) [Pa]
  float lambda = 0.0f;  ///< E nu / ((1 + nu)(1 - 2 nu)) [Pa]
};

/// From Young's modulus [Pa] and Poisson's ratio (below 0.5). Infinite if beyond float's range.
inline LamePair LameParameters(double young, double poisson) {
  return {static_cast<float>(young / (2.0 * (1.0 + poisson))),
          static_cast<float>(young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)))};
}

/// The constant data of a body's tets.
struct ElementView {
  std::span<const Tet> tets;         ///< (num_tets x 1)
  std::span<const uint32_t> slots;   ///< place of each tet (num_tets x 1)
  std::span<const TetBlock> blocks;  ///< (num_blocks x 1)
  std::span<const float> stiffness;  ///< 2 mu V by place [J] (16 num_blocks x 1); empty: as baked
  std::span<const float> bulk;       ///< lambda V by place [J] (16 num_blocks x 1); empty: as baked
  float damping = 0.0f;              ///< Kelvin-Voigt relaxation time beta of the stretch term [s]

  // By tet.
  const TetBlock& BlockOf(size_t t) const { return blocks[slots[t] / kBlockTets]; }
  size_t LaneOf(size_t t) const { return slots[t] % kBlockTets; }
  float Stiffness(size_t t) const {
    return stiffness.empty() ? BlockOf(t).stiffness[LaneOf(t)] : stiffness[slots[t]];
  }
  float Bulk(size_t t) const { return bulk.empty() ? BlockOf(t).bulk[LaneOf(t)] : bulk[slots[t]]; }
  double Volume(size_t t) const { return 1.0 / (6.0 * double(BlockOf(t).det_dm_inv[LaneOf(t)])); }
  Mat3 DmInv(size_t t) const {
    const auto& m = BlockOf(t).dm_inv;
    const size_t i = LaneOf(t);
    return {{m[0][i], m[1][i], m[2][i]}, {m[3][i], m[4][i], m[5][i]}, {m[6][i], m[7][i], m[8][i]}};
  }

  // By block.
  const float* StiffnessOf(size_t block) const {
    return stiffness.empty() ? blocks[block].stiffness : &stiffness[kBlockTets * block];
  }
  const float* BulkOf(size_t block) const {
    return bulk.empty() ? blocks[block].bulk : &bulk[kBlockTets * block];
  }
};

/// Rotations of tets as unit quaternions x, y, z, w: of one body by block (4 x 16 num_blocks), or
/// in one lane of a crowd (16 num_blocks x 4 x 16). Like a std::span, a const view still allows
/// writing.
class RotationView {
 public:
  RotationView() = default;
  explicit RotationView(std::span<float> numbers) : numbers_(numbers) {}
  RotationView(std::span<float> numbers, size_t crowd_lane)
      : numbers_(numbers), lane_(crowd_lane), in_crowd_(true) {}

  Quat Get(uint32_t slot) const {
    const float* q = At(slot);
    return {q[0], q[kBlockTets], q[2 * kBlockTets], q[3 * kBlockTets]};
  }
  void Set(uint32_t slot, const Quat& rotation) const {
    float* q = At(slot);
    q[0] = rotation.x;
    q[kBlockTets] = rotation.y;
    q[2 * kBlockTets] = rotation.z;
    q[3 * kBlockTets] = rotation.w;
  }
  bool in_crowd() const { return in_crowd_; }
  /// For a view of one body.
  float* Block(size_t block) const { return &numbers_[4 * kBlockTets * block]; }

 private:
  float* At(uint32_t slot) const {
    if (in_crowd_) return &numbers_[4 * kBlockTets * slot + lane_];
    return Block(slot / kBlockTets) + slot % kBlockTets;
  }

  std::span<float> numbers_;
  size_t lane_ = 0;
  bool in_crowd_ = false;
};

/// Settings of a step that all its tets share.
struct ElementSettings {
  float dt = 0.0f;           ///< [s]
  float damping = 0.0f;      ///< Kelvin-Voigt relaxation time [s]
  int polar_iterations = 1;  ///< most Newton steps per rotation
  float relaxation = 0.0f;   ///< of the multipliers, see AddElasticImpulses; 0: they are kept
  VolumeLaw law = {};        ///< of the volume term
};

/// Makes the rotations converge at positions `x` (num_nodes x 1), starting from their current
/// values. Does not allocate.
void MatchRotations(const ElementView& elements, NodeVectors x, const RotationView& rotations);

/// Energy and shape of all tets at one moment.
struct ElementSummary {
  double elastic_j = 0.0;  ///< elastic energy [J]
  double volume = 0.0;     ///< of the deformed cage [m^3]
  float min_det_f = 1.0f;
  uint32_t inverted = 0;   ///< det F <= 0
  uint32_t collapsed = 0;  ///< det F < kCollapsedDetF, inverted ones included
};

/// Tets below this det F count as collapsed.
inline constexpr float kCollapsedDetF = 0.1f;

/// Energy, volume and degeneracy at positions `x`, with rotations converged from `rotations`.
ElementSummary SummariseElements(const ElementView& elements, NodeVectors x,
                                 const RotationView& rotations, const VolumeLaw& law);

/// Elastic forces [N] at positions `x`: minus the gradient of ElementSummary::elastic_j with
/// the same `law` (num_nodes x 1).
void ElasticForces(const ElementView& elements, NodeVectors x, const RotationView& rotations,
                   const VolumeLaw& law, std::span<Vec3> forces);

}  // namespace plush
