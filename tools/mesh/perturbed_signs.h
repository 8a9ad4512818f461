// SPDX-License-Identifier: MIT
// Orientation signs that are never zero: where a surface touches the cage's tets in a node, edge or
// plane, it is taken to be moved by an infinitely small vector. Based on:
// Herbert Edelsbrunner, Ernst Peter Muecke. Simulation of Simplicity. 1990
//
// The vector is (e, e^2, e^3) for every point of the surface alike, so that all signs are those of
// one and the same surface in one and the same cage.
#pragma once

#include "base/vec3.h"

namespace plush::tools {

/// Side of plane (a, b, c) of the cage on which point `p` of the surface lies: 1 where the plane's
/// counter-clockwise normal points, else -1. The three points are not on one line.
int SideOfCagePlane(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p);

/// Side of triangle (p, q, r) of the surface on which node `n` of the cage lies; the same signs.
/// The triangle has an area.
int SideOfSurfacePlane(const Vec3d& p, const Vec3d& q, const Vec3d& r, const Vec3d& n);

/// Sign of SixVolume(p, q, a, b) for an edge pq of the surface and an edge ab of the cage: how
/// their lines pass each other. 0 only where they are parallel and in one plane; they do not cross
/// then.
int PassingSide(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b);

}  // namespace plush::tools
