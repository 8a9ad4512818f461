// SPDX-License-Identifier: MIT
// Vertex block descent on implicit Euler's objective: a solver of other authors, written anew, to
// compare the runtime's step with. Single precision, one thread, no vector code.
#pragma once

#include "reference/elastic_body.h"

#include <Eigen/Dense>

#include <cstdint>
#include <vector>

namespace plush::reference {

struct DescentSettings {
  double dt_s = 0.01;
  Eigen::Vector3d gravity = {0.0, -9.81, 0.0};  ///< [m/s^2]
  std::vector<uint32_t> pinned;                 ///< nodes; they stay
  int iterations = 20;                          ///< sweeps over all nodes per step
  float radius = 0.95f;  ///< spectral radius that the Chebyshev acceleration assumes; 0: none
};

class VertexBlockDescent {
 public:
  VertexBlockDescent(const ElasticBody& body, const DescentSettings& settings);

  void Step();

  Points x() const { return x_.cast<double>(); }  ///< [m] (3 x num_nodes)

 private:
  using FloatPoints = Eigen::Matrix<float, 3, Eigen::Dynamic>;
  struct FloatTet {
    uint32_t nodes[4];
    Eigen::Matrix<float, 4, 3> gradients;
    float stiffness, bulk;
  };
  struct Corner {
    uint32_t tet, place;
  };

  void Colour();
  void MoveNode(uint32_t node);
  FloatPoints FirstIterate() const;

  DescentSettings settings_;
  std::vector<FloatTet> tets_;
  std::vector<Eigen::Matrix3f> rotations_;  // of the tets, kept from visit to visit
  Eigen::VectorXf inertias_;                // m / dt^2 [N/m]
  std::vector<uint32_t> corner_starts_;
  std::vector<Corner> corners_;  // of the tets at each node
  std::vector<uint32_t> order_;  // free nodes by colour
  FloatPoints x_, v_, last_v_, y_, inertial_;
};

}  // namespace plush::reference
