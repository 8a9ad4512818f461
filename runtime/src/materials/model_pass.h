// SPDX-License-Identifier: MIT
// Forces of any material with any rotation, and their differentials, for all tets of a body, one
// after the other. force_differential.h has those of the default pair, 16 at once.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), chapters 2 to 4: [Civ].
#pragma once

#include "plush/implicit_settings.h"

#include "base/node_vec.h"
#include "elasticity/block_matrix.h"
#include "elasticity/elements.h"
#include "materials/rotation_method.h"

#include <cstddef>
#include <span>

namespace plush {

/// What a tet remembers, and where the last LineariseModelTets found it.
struct ModelTet {
  Matrix3<float> F;
  RotationState<float> state;
};

/// Whether settings need this pass.
inline bool UsesModel(const ImplicitSettings& settings) {
  return settings.model != MaterialModel::kCorrectedCorotated ||
         settings.rotation != RotationMethod::kAnalytic;
}

/// Begins a step at positions `x` (num_nodes x 1): kAnalytic takes the last rotations from
/// `rotations`. A tet with det F < alpha that has no witness, because it starts so, gets one.
/// `tets`: (num_tets x 1). Does not allocate.
void BeginModelTets(const ElementView& elements, NodeVectors x, const ImplicitSettings& model,
                    const RotationView& rotations, std::span<ModelTet> tets);

/// Goes to positions `x` [m] (num_nodes + 1 x 1): finds F and the rotations, and adds dt^2 times
/// the tets' forces to `rhs` [kg m] (num_nodes + 1 x 1), from Stress, or of degenerate tets, if the
/// settings say so, DegenerateStress. `starts` and `kappa`: see LineariseTets. Does not allocate.
void LineariseModelTets(const ElementView& elements, std::span<const NodeVec> x,
                        const ElementSettings& settings, const ImplicitSettings& model,
                        std::span<const float> starts, std::span<ModelTet> tets,
                        std::span<float> kappa, std::span<NodeVec> rhs);

/// Adds (dt^2 + damping dt) K y to `out` [kg m] (num_nodes + 1 x 1), K the stiffness [N/m] of the
/// `differential` at the place of LineariseModelTets; see AddStiffnessProduct. Of materials without
/// a rotation, approximations are those of kCorrectedCorotated. kExact is not symmetric with
/// rotations that are not polar ones. Does not allocate.
void AddModelProduct(const ElementView& elements, const ElementSettings& settings,
                     const ImplicitSettings& model, std::span<const ModelTet> tets,
                     StressDifferential differential, std::span<const NodeVec> y,
                     std::span<NodeVec> out);

/// Adds the 3x3 blocks on the diagonal of (dt^2 + damping dt) K, of the hybrid differential, to
/// `blocks` [kg] (num_nodes x 1). Does not allocate.
void AddModelDiagonal(const ElementView& elements, const ElementSettings& settings,
                      const ImplicitSettings& model, std::span<const ModelTet> tets,
                      std::span<Mat3> blocks);

/// Makes `matrix` (dt^2 + damping dt) K, the symmetric part of the one of AddModelProduct [kg].
/// Does not allocate.
void MakeModelStiffness(const ElementView& elements, const ElementSettings& settings,
                        const ImplicitSettings& model, std::span<const ModelTet> tets,
                        StressDifferential differential, BlockMatrix* matrix);

/// Ends a step that moved the nodes from `before` to `after` (num_nodes x 1 each): updates the
/// witnesses (UpdateWitness), if the settings need them, and writes proper rotations to
/// `rotations`. Does not allocate.
void EndModelTets(const ElementView& elements, NodeVectors before, NodeVectors after,
                  const ImplicitSettings& model, std::span<ModelTet> tets,
                  const RotationView& rotations);

}  // namespace plush
