// SPDX-License-Identifier: MIT
// A body whose volumes are swept and whose flat tets are lifted.
#pragma once

#include "runtime/solver_fixtures.h"
#include "solver/volume_sweep.h"

#include <cstddef>
#include <vector>

namespace plush::test {

inline constexpr float kSweepDt = 0.01f;
inline constexpr tools::Material kSweepMaterial = {1.0e5, 0.45, 1000.0};

// A body and everything that a sweep reads or changes.
struct Swept {
  explicit Swept(const tools::TetMesh& mesh, const tools::Material& material = kSweepMaterial)
      : shape(mesh, material),
        before(shape.rest()),
        x(ToNodeVecs(before)),
        kappa(shape.num_places()) {
    for (size_t i = 0; i < before.size(); ++i) x[i].w = 1.0f / shape.simulation().masses[i];
  }

  void Move(Random* random, double size) {
    const Points moved = ToEigen(x) + random->Vectors(before.size(), size);
    for (size_t i = 0; i < before.size(); ++i) x[i] = ToVec3(moved.col(Eigen::Index(i)));
  }

  void Sweep() { SweepVolumes(shape.elements(), kSweepDt, x, kappa); }
  bool Lift() { return LiftFlatTets(shape.elements(), before, x); }

  ShapeAsset shape;
  std::vector<Vec3> before;  // positions at the start of the substep, for lifts
  std::vector<NodeVec> x;    // w: inverse masses
  std::vector<float> kappa;  // by place
};

}  // namespace plush::test
