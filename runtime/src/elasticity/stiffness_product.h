// SPDX-License-Identifier: MIT
// Products with the stiffness of all tets at one place, for linear solves.
//
// A product needs no rotation if the rest data are turned once. With B = Dm^-1 R^T, M' = R M R^T is
// Ds B, and the node gradients of R T are T' B^T with T' = R T R^T (see force_differential.h for M
// and T). In T', S' = R S R^T and C' = cof S' stand where S and C stand in T.
#pragma once

#include "base/node_vec.h"
#include "elasticity/elements.h"
#include "elasticity/force_differential.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// What a product reads of a block's tets.
/// - Approximate differentials: with k = (dt^2 + damping dt) 2 mu V and l = dt^2 lambda V,
///   T' = sym(M') + g skew(M') + (C:M') C, where `turned` is sqrt(k) B, `symmetric` C = sqrt(l/k)
///   C' and `share` g. sqrt(k) scales M', and scales T' again where forces are made.
/// - Exact: `turned` is B, `symmetric` S'.
struct alignas(64) ProductBlock {
  uint32_t places[4][kBlockTets];  ///< of the nodes in an array of NodeVec [bytes]
  float turned[9][kBlockTets];
  float symmetric[6][kBlockTets];
  float share[kBlockTets];
};
static_assert(sizeof(ProductBlock) == 1280);

/// Makes `products` (num_blocks x 1) those of (dt^2 + damping dt) K, K the stiffness [N/m] that the
/// `differential` gives at the place of LineariseTets. The viscous part is 2 mu damping dt sym(M),
/// always positive. Of materials other than kCorotated, approximate differentials are those of
/// kCorrectedCorotated; exact ones are materials/model_lanes.h's. Does not allocate.
void MakeProducts(const ElementView& elements, const ElementSettings& settings, TetsAt at,
                  StressDifferential differential, std::span<ProductBlock> products,
                  MaterialModel model = MaterialModel::kCorrectedCorotated);

/// Adds (dt^2 + damping dt) K y to `out` [kg m] (num_nodes + 1 x 1), with what MakeProducts made of
/// the rest. `y`: [m] (num_nodes + 1 x 1). Returns y . (dt^2 + damping dt) K y [kg m^2]. Does not
/// allocate.
double AddStiffnessProduct(const ElementView& elements, const ElementSettings& settings,
                           std::span<const ProductBlock> products, StressDifferential differential,
                           std::span<const NodeVec> y, std::span<NodeVec> out);

}  // namespace plush
