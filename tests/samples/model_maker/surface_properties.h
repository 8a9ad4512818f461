// SPDX-License-Identifier: MIT
// Properties that every surface of the model maker must have.
#pragma once

#include "marching_tets.h"

namespace plush::tests {

/// Whether every edge has exactly two triangles, in opposite directions, and every vertex one fan
/// of triangles.
bool IsClosedOrientedManifold(const samples::TriangleMesh& mesh);

/// Vertices - edges + triangles of a closed manifold: 2 for a ball, 0 for a ring.
int EulerCharacteristic(const samples::TriangleMesh& mesh);

/// Enclosed volume [m^3]; positive if triangles are counter-clockwise seen from outside.
double EnclosedVolume(const samples::TriangleMesh& mesh);

/// Smallest 4 sqrt(3) area / (sum of squared edges) of a triangle: 1 for equilateral, 0 for flat.
double WorstTriangle(const samples::TriangleMesh& mesh);

/// The solids of these tests: a ball of radius 0.1 m, and a closed ring of radius 0.1 m and
/// thickness 0.03 m around the y axis, of 24 segments.
samples::Solid BallSolid();
samples::Solid RingSolid();

}  // namespace plush::tests
