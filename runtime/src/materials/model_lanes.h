// SPDX-License-Identifier: MIT
// Forces and differentials of the materials other than the default one, with the default rotation,
// 16 tets at once. model_pass.h has all other pairs, one tet after the other.
// Source: see model_pass.h.
#pragma once

#include "plush/implicit_settings.h"

#include "base/node_vec.h"
#include "elasticity/elements.h"
#include "elasticity/force_differential.h"

#include <span>

namespace plush {

/// Whether settings need this pass. The matrix and its diagonal blocks are model_pass.h's.
inline bool UsesModelLanes(const ImplicitSettings& settings) {
  return settings.model != MaterialModel::kCorrectedCorotated &&
         settings.rotation == RotationMethod::kAnalytic && !settings.assembled &&
         settings.preconditioner != Preconditioner::kJacobi;
}

/// Whether products are those of AddModelLanesProduct. Others are those of stiffness_product.h.
inline bool IsExactModel(MaterialModel model, StressDifferential differential) {
  return differential == StressDifferential::kExact || model == MaterialModel::kLinear;
}

/// LineariseTets for a material: see LineariseModelTets. Without `lowest`.
void LineariseModelLanes(const ElementView& elements, std::span<const NodeVec> x,
                         const ElementSettings& settings, MaterialModel model,
                         std::span<const float> starts, TetsAt at, std::span<float> kappa,
                         std::span<NodeVec> rhs);

/// AddStiffnessProduct for the exact differential of a material at the place of
/// LineariseModelLanes. Returns y . (dt^2 + damping dt) K y [kg m^2].
double AddModelLanesProduct(const ElementView& elements, const ElementSettings& settings,
                            MaterialModel model, TetsAt at, std::span<const NodeVec> y,
                            std::span<NodeVec> out);

}  // namespace plush
