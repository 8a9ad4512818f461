// SPDX-License-Identifier: MIT
// The elastic energy of a body without rotations: |F - R|^2 = tr(F^T F) - 2 tr(R^T F) + 3, and
// tr(R^T F) is a root of a polynomial of F's invariants.
// Based on: Huancheng Lin, Floyd M. Chitalu, Taku Komura. Isotropic ARAP Energy Using
// Cauchy-Green Invariants. 2022
#pragma once

#include "elasticity/elements.h"

namespace plush {

/// ElementSummary::elastic_j, without rotations to start from and in a third of the time. Does not
/// allocate.
double ElasticEnergy(const ElementView& elements, NodeVectors x, float most_bulk);

}  // namespace plush
