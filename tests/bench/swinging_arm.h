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
/// Of the cases step/...
inline constexpr Arm kStepArms[] = {kArm4k,
                                    {"arm_16k", "arm_16k", 494},
                                    {"arm_55k", "arm_55k", 1075},
                                    {"arm_170k", "arm_55k", 1075, 170000},
                                    {"arm_4k_soft", "arm_4k", 811, 0, 1.0e5},
                                    {"arm_4k_stiff", "arm_4k", 811, 0, 1.0e7}};

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

/// As samples/run.sh bakes them, and without damping. But the octopus has a Poisson's ratio of
/// 0.33: with 0.4, up to 41 steps of its reference do not converge; with 0.33, 12.
inline constexpr Toy kStepToys[] = {
    {"bear_by_ear", "bear.glb", 400, 4.0e4, 0.4, 0.15, false, {0.13, 0.52, -0.004}},
    {"bear_by_ear_undamped", "bear.glb", 400, 4.0e4, 0.4, 0.0, false, {0.13, 0.52, -0.004}},
    {"octopus_by_arm", "octopus.glb", 900, 6.0e4, 0.33, 0.15, true, {}},
    {"octopus_by_arm_undamped", "octopus.glb", 900, 6.0e4, 0.33, 0.0, true, {}}};

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
