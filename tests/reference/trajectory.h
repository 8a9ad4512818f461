// SPDX-License-Identifier: MIT
// Measures of motion: how far a trajectory is from the reference's, how fast and how deep it
// swings.
#pragma once

#include "reference/elastic_body.h"

#include <Eigen/Dense>

#include <cstdint>
#include <string>
#include <vector>

namespace plush::reference {

/// Positions of all nodes after each step, in single precision: 1e-7 of the coordinates.
struct Trajectory {
  explicit Trajectory(const Points& start) : rest(start.cast<float>()) {}

  void Add(const Points& x) { steps.push_back(x.cast<float>()); }
  size_t num_steps() const { return steps.size(); }

  using Positions = Eigen::Matrix<float, 3, Eigen::Dynamic>;
  Positions rest;                ///< before the first step [m] (3 x num_nodes)
  std::vector<Positions> steps;  ///< [m] (num_steps x 3 x num_nodes)
};

/// Root mean square distance of the nodes of both trajectories over all steps, divided by the root
/// mean square displacement of `right` from its rest. 0: the same motion; 1: as wrong as no motion.
/// Both have the same nodes; counts the steps that both have.
double TrajectoryError(const Trajectory& measured, const Trajectory& right);

/// Index of the step (0: the first) after which the nodes' mean position is least along
/// `direction`: the end of the first half swing, if `direction` points back to where the body
/// started from.
size_t HalfSwingStep(const Trajectory& trajectory, const Eigen::Vector3d& direction);

/// Lowest y of any node after any step [m].
double LowestY(const Trajectory& trajectory);

/// Writes the positions of all steps, or reads them to a trajectory with `rest`. Return whether
/// they could; reading fails also if the file belongs to another `key` or number of nodes.
bool WriteTrajectory(const std::string& path, uint64_t key, const Trajectory& trajectory);
bool ReadTrajectory(const std::string& path, uint64_t key, Trajectory* trajectory);

}  // namespace plush::reference
