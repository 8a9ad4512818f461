// SPDX-License-Identifier: MIT
// Evenly spread points of a tet.
#pragma once

#include <array>
#include <cstdint>

namespace plush::tools {

/// Weights of a tet's corners for the `index`-th point of a fixed sequence that fills every tet
/// evenly: the unit cube's, folded into the tet (Claudio Rocchini, Paolo Cignoni. Generating Random
/// Points in a Tetrahedron. 2000).
std::array<double, 4> SampleWeights(uint64_t index);

}  // namespace plush::tools
