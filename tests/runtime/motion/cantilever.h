// SPDX-License-Identifier: MIT
// A beam clamped at one end, and its vibrations by the dense eigenvalue problem of the same mesh.
#pragma once

#include "runtime/dense_reference.h"

#include <cstdint>
#include <vector>

namespace plush::test {

/// Cells along x, y and z, and their length.
struct BeamSize {
  uint32_t nx = 8, ny = 2, nz = 3;
  double cell = 0.05;  ///< [m]

  double length() const { return nx * cell; }
  double height() const { return ny * cell; }  ///< along y, the direction in which it bends
  double width() const { return nz * cell; }
};

struct Cantilever {
  Cantilever(const BeamSize& beam_size, const tools::Material& beam_material, double dt);

  BeamSize size;
  tools::Material material;
  ShapeAsset shape;
  DenseModel model;            ///< by the asset's numbers; the nodes at x = 0 are pinned
  std::vector<uint32_t> pins;  ///< nodes at x = 0

  /// Negative derivative of DenseForces at rest by central differences [N/m] (3n x 3n).
  Eigen::MatrixXd Stiffness() const;
  /// `vectors` of free nodes in one column, those of pinned nodes left out; and back.
  Eigen::VectorXd FreeParts(const Points& vectors) const;
  Points AllNodes(const Eigen::VectorXd& free_parts) const;
};

/// A small vibration about the rest shape.
struct BeamMode {
  double omega = 0.0;  ///< [rad/s]
  Points shape;        ///< largest displacement 1; zero at the pins (3 x num_nodes)

  /// How far `x` is displaced along this mode: 1 for rest + shape.
  double PartOf(const DenseModel& model, const Points& x) const;
};

struct BeamModes {
  BeamMode bending;  ///< first one along y
  BeamMode torsion;  ///< first one about x
};

/// Solves the dense eigenvalue problem of the beam's stiffness and lumped masses.
BeamModes ModesOf(const Cantilever& beam);

// The beam formulas: Timoshenko's sag of the tip under its own weight [m], Euler-Bernoulli's and
// Saint-Venant's angular frequencies [rad/s]. The latter takes sections up to twice as wide as
// high.
double SagByFormula(const BeamSize& size, const tools::Material& material, double gravity);
double BendingByFormula(const BeamSize& size, const tools::Material& material);
double TorsionByFormula(const BeamSize& size, const tools::Material& material);

}  // namespace plush::test
