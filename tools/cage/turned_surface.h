// SPDX-License-Identifier: MIT
// A model turned against the axes, for lattices that do not run along its faces.
#pragma once

#include "cage/solid_surface.h"
#include "cage/split_cage.h"

namespace plush::tools {

/// The surface turned about the centre of its box, by the same turn for all models: no axis, plane
/// diagonal or space diagonal of the model lies along one of the lattice's. Points are rounded.
SolidSurface TurnedSurface(const SolidSurface& surface);

/// Turns a cage of TurnedSurface(surface) back, before it is fitted. Its nodes are rounded to
/// single precision, a tiny part of the clearance.
void TurnBack(const SolidSurface& surface, SplitCage* cage);

}  // namespace plush::tools
