// SPDX-License-Identifier: MIT
// The body of most cases: an armadillo that hangs by one hand and swings, in the set-up used to
// measure other solvers (E 1 MPa, nu 0.33, 1000 kg/m^3, dt 10 ms, no damping).
#pragma once

#include "plush/world.h"

#include "bench/bench_models.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plush::bench {

/// Bodies of the crowd cases, those of [Kug]'s large scene.
inline constexpr size_t kArmsOfCrowd = 105;

/// An armadillo's tet mesh and the node that its pins surround.
struct Arm {
  const char* name;       ///< of the case
  const char* model;      ///< below tets/
  size_t pinned_node;     ///< of the model
  size_t least_tets = 0;  ///< refined to this many
  double young = 1.0e6;   ///< [Pa]
};

inline constexpr Arm kArm4k = {"arm_4k", "arm_4k", 811};

/// A baked arm and the nodes of its pinned hand.
struct SwingingArm {
  std::unique_ptr<AlignedBytes> bytes;
  Asset asset;
  tools::Vec3d hand;             ///< rest position of the pinned node [m]
  std::vector<uint32_t> pinned;  ///< nodes within 2 cm of it, ascending

  /// Half a turn about y; views `pinned`.
  BodyDesc Desc() const;
  /// Pins the `count` nodes nearest to the hand instead.
  void PinNearest(size_t count);
};

/// Imports and bakes the model at `path`, or ends the program.
SwingingArm MakeArm(const std::string& path, const Arm& which);

/// A sample's model, baked with the sample's options, that hangs by a few nodes.
struct Toy {
  const char* name;   ///< of the case
  const char* model;  ///< below samples/models/
  uint32_t tets;      ///< wanted, of its lattice cage
  double young;       ///< [Pa]
  double poisson;     ///< Poisson's ratio
  double damping;     ///< [s]
  bool by_farthest;   ///< hangs by the node that is farthest from the vertical axis through its
                      ///< centre, else by the point `hand`
  tools::Vec3d hand;  ///< in the model [m]
};

/// Imports and bakes a toy, or ends the program. The eight nodes nearest to the hand are pinned.
/// `collision_triangles`: see SimplifySettings.
SwingingArm MakeToy(const Toy& toy, std::optional<uint32_t> collision_triangles = {});

/// A world with the default step. Bodies that hang still do not sleep.
WorldDesc SwingingWorld();
/// The step of [Kug, Alg. 2]: one outer iteration and two volume sweeps.
inline constexpr SplittingSettings kKugStep = {.outer_iterations = 1, .volume_sweeps = 2};

/// The middle one of these numbers; 0 if there are none.
double Median(std::vector<double> numbers);

}  // namespace plush::bench
