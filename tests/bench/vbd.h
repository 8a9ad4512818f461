// SPDX-License-Identifier: MIT
// Vertex block descent on implicit Euler's objective: a solver of other authors, written anew, to
// compare the step with. Its energy is that of reference/elastic_body.h, without damping. Single
// precision, one thread, 16 nodes in lanes.
//
// One departure from the paper, in the solver's favour: every other pass goes through the colours
// backwards. Two such passes together have real eigenvalues from 0 to below 1, for which
// Chebyshev's acceleration is made. Passes in one direction do not: for this body they diverge if
// it assumes a spectral radius of 0.99.
#pragma once

#include "base/node_vec.h"
#include "reference/elastic_body.h"

#include <Eigen/Dense>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::bench {

struct DescentSettings {
  double dt_s = 0.01;
  Eigen::Vector3d gravity = {0.0, -9.81, 0.0};  ///< [m/s^2]
  std::vector<uint32_t> pinned;                 ///< nodes; they stay
  int iterations = 20;                          ///< passes over all nodes per step
  float radius = 0.95f;  ///< spectral radius of two passes that the Chebyshev acceleration assumes;
                         ///< 0: none
};

inline constexpr size_t kDescentLanes = 16;

/// A corner of one tet at each of 16 nodes. In the tet's own frame its opposite face p, q, r lies
/// in the plane z = 0, with p at the origin and q on the x axis. F then has the columns
///   edge[0] (q - p),  edge[1] (r - p) + edge[2] (q - p),
///   edge[3] (x - p) + edge[4] (r - p) + edge[5] (q - p),
/// and only the last one depends on the node's x. Lanes without a tet have zeros and spare nodes.
struct alignas(64) DescentCorners {
  uint32_t nodes[3][kDescentLanes];  ///< p, q, r
  float edge[6][kDescentLanes];      ///< [1/m]
  float stiffness[kDescentLanes];    ///< 2 mu V [J]
  float bulk[kDescentLanes];         ///< lambda V [J]
  float rotation[4][kDescentLanes];  ///< quaternions (x, y, z, w), kept from pass to pass
};

/// 16 free nodes of a colour, or spare ones.
struct DescentNodes {
  uint32_t nodes[kDescentLanes];
  uint32_t begin, end;  ///< their corners
};

class VertexBlockDescent {
 public:
  VertexBlockDescent(const reference::ElasticBody& body, const DescentSettings& settings);

  void Step();

  reference::Points x() const;  ///< [m] (3 x num_nodes)

 private:
  void Plan(const reference::ElasticBody& body);
  void StartStep();

  DescentSettings settings_;
  size_t num_nodes_;
  std::vector<uint8_t> is_pinned_;
  std::vector<DescentNodes> order_;  // by colours
  std::vector<DescentCorners> corners_;
  // With a spare element each. The inertial positions have m / dt^2 as w [N/m].
  std::vector<NodeVec> x_, v_, last_v_, y_, inertial_, before_, last_;
};

}  // namespace plush::bench
