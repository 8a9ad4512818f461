// SPDX-License-Identifier: MIT
// Where a triangle that moves first meets a convex solid: solids that move by more than their own
// width in a substep pass triangles between the corners.
#pragma once

#include "colliders/solid.h"

namespace plush {

/// Whether a triangle moves so far that it may pass the solid.
bool MayPass(const Solid& solid, const SweptTriangle& triangle);

/// Finds the point at which a triangle enters the solid, and the plane between the two there, with
/// the gap of the point at the end of its way. Returns whether it enters. A triangle that starts
/// inside does not.
bool FindEntry(const Solid& solid, const SweptTriangle& triangle, TrianglePoint* point,
               Tangent* plane);

}  // namespace plush
