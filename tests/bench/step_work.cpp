// SPDX-License-Identifier: MIT
#include "bench/step_work.h"

#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "base/node_vec.h"
#include "body/crowd.h"
#include "elasticity/element_pass.h"

#include <algorithm>
#include <vector>

namespace plush::bench {
namespace {

// Arithmetic of a tet, counted in the source. Elements: 36 for F, 133 for a Newton step of its
// rotation, 112 for the impulses and their sums at the nodes. Relaxation: of a multiplier. Volume:
// one correction.
constexpr double kElementArithmetic = 281.0, kRelaxationArithmetic = 26.0, kVolumeArithmetic = 87.0;

// Rows of a TetBlock that a pass reads, of 16 numbers each: nodes, Dm^-1, stiffness; and nodes,
// determinant, bulk.
constexpr double kRow = 4.0 * kBlockTets;
constexpr double kElementRows = (4 + 9 + 1) * kRow, kVolumeRows = (4 + 1 + 1) * kRow;

// What all steps read of an asset, and the arithmetic of one body.
struct Rest {
  double nodes, tets, blocks;
  double solve_bytes = 0.0;          // values and rows of a solve, both ways
  double solve_multiply_adds = 0.0;  // of L and D^-1 without padding
  double coarse_share = 0.0;         // of the blocks: those that the coarse level evaluates again
  double coarse_unknowns = 0.0, footprint = 0.0;
};

// Share of the blocks with a tet whose nodes lie in two clusters, or in one and in pins.
double CoarseShare(const SimulationView& s, std::span<const uint32_t> pinned) {
  constexpr int kPinned = -1;
  std::vector<int> places(s.clusters.begin(), s.clusters.end());
  for (const uint32_t node : pinned) places[node] = kPinned;
  places.push_back(kPinned);  // of the spare node of lanes without a tet
  size_t count = 0;
  for (const TetBlock& block : s.blocks) {
    bool resists = false;
    for (size_t lane = 0; lane < kBlockTets; ++lane) {
      for (size_t k = 1; k < 4; ++k) {
        resists |= places[block.nodes[k][lane]] != places[block.nodes[0][lane]];
      }
    }
    count += resists ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(s.blocks.size());
}

Rest MeasureRest(const Asset& asset, std::span<const uint32_t> pinned,
                 const SplittingSettings& splitting) {
  const SimulationView& s = asset.simulation();
  const FactorView& factor = asset.factor();
  Rest rest = {.nodes = static_cast<double>(s.nodes.size()),
               .tets = static_cast<double>(s.tets.size()),
               .blocks = static_cast<double>(s.blocks.size())};
  for (const Supernode& n : factor.supernodes) {
    const double below = static_cast<double>(BlockValues(n.num_rows, n.num_columns));
    const double diagonal = static_cast<double>(BlockValues(n.num_columns, n.num_columns));
    rest.solve_bytes += 4.0 * (2.0 * below + diagonal);
    rest.solve_multiply_adds +=
        3.0 * double(n.num_columns) * (2.0 * double(n.num_rows) + double(n.num_columns));
  }
  const double structure =
      static_cast<double>(factor.supernodes.size_bytes() + factor.rows.size_bytes());
  rest.solve_bytes += 2.0 * structure;
  rest.footprint =
      static_cast<double>(s.blocks.size_bytes() + factor.values.size_bytes()) + structure;
  if (s.num_clusters > 0 && splitting.volume_sweeps == 0) {
    rest.coarse_share = CoarseShare(s, pinned);
    rest.coarse_unknowns = 6.0 * s.num_clusters;
    rest.footprint += 4.0 * rest.coarse_unknowns * rest.coarse_unknowns;
  }
  return rest;
}

// Sizes of what is stepped, a body or a crowd of `bodies` bodies [bytes].
struct Arrays {
  double bodies;     // number whose state is read and written
  double node;       // x or v of one node of a body
  double position;   // of the iterate, of a node
  double vector;     // of the right-hand side, of a node
  double rotations;  // of all tets
  double kappa;      // of all tets
};

// One outer iteration.
StepWork WorkOfIteration(const Rest& rest, const Arrays& a, const SplittingSettings& splitting) {
  StepWork work;
  const bool relaxes = splitting.volume_sweeps == 0;
  const double positions = rest.nodes * a.position, vectors = rest.nodes * a.vector;
  const double sweep = rest.blocks * kVolumeRows + 2.0 * a.kappa + 2.0 * positions;
  const double blocks = rest.blocks * kElementRows + 2.0 * a.rotations + a.kappa;
  // The right-hand side is written, and read and written; rotations are read and written.
  work.elements.bytes = blocks + 2.0 * positions + 3.0 * vectors + (relaxes ? a.kappa : 0.0);
  work.solve.bytes = rest.solve_bytes + 4.0 * vectors;  // read and written down and up
  work.volume.bytes = splitting.volume_sweeps * sweep;
  work.elements.multiply_adds =
      a.bodies * rest.tets * (kElementArithmetic + (relaxes ? kRelaxationArithmetic : 0.0));
  work.solve.multiply_adds = a.bodies * rest.solve_multiply_adds;
  work.volume.multiply_adds = a.bodies * rest.tets * kVolumeArithmetic * splitting.volume_sweeps;
  if (rest.coarse_unknowns > 0.0) {
    // Some tets again, at positions and with a right-hand side that are read and written whole.
    work.elements.bytes += rest.coarse_share * (blocks + positions + 2.0 * vectors) +
                           2.0 * a.bodies * rest.nodes * a.node + positions + vectors;
    work.elements.multiply_adds += a.bodies * rest.tets * rest.coarse_share * kElementArithmetic;
    // Sums over clusters, the product with C^-1, and the clusters' motions.
    const double entries = rest.coarse_unknowns * rest.coarse_unknowns;
    work.solve.bytes += a.bodies * 4.0 * entries + 3.0 * positions + vectors;
    work.solve.multiply_adds += a.bodies * entries;
  }
  return work;
}

StepWork WorkOf(const Rest& rest, const Arrays& a, const SplittingSettings& splitting) {
  StepWork work;
  for (int k = 0; k < splitting.outer_iterations; ++k) work += WorkOfIteration(rest, a, splitting);
  const double positions = rest.nodes * a.position, vectors = rest.nodes * a.vector;
  const double states = a.bodies * rest.nodes * a.node;
  // x and v are read for the prediction and at the end, and written there.
  work.other.bytes = 6.0 * states + 4.0 * positions + vectors;
  work.footprint = 2.0 * states + positions + vectors + a.rotations + a.kappa;
  return work;
}

PhaseWork& operator+=(PhaseWork& a, const PhaseWork& b) {
  a.bytes += b.bytes;
  a.multiply_adds += b.multiply_adds;
  return a;
}

}  // namespace

StepWork& StepWork::operator+=(const StepWork& more) {
  elements += more.elements;
  solve += more.solve;
  volume += more.volume;
  other += more.other;
  footprint += more.footprint;
  return *this;
}

StepWork WorkOfStep(const Asset& asset, std::span<const uint32_t> pinned, size_t bodies,
                    const SplittingSettings& splitting) {
  const Rest rest = MeasureRest(asset, pinned, splitting);
  constexpr double kNode = sizeof(NodeVec), kFloat = sizeof(float);
  const double places = rest.blocks * kBlockTets;
  const Arrays alone = {1.0, kNode, kNode, kNode, 4.0 * kFloat * places, kFloat * places};
  StepWork work;
  while (bodies > 0) {
    const size_t least = work.footprint > 0.0 ? kLeastFurtherCrowd : kLeastCrowd;
    const size_t together = bodies < least ? 1 : std::min(bodies, kCrowdLanes);
    if (together == 1) {
      work += WorkOf(rest, alone, splitting);
    } else {
      work += WorkOf(
          rest,
          {static_cast<double>(together), kNode, kFloat * kCrowdPosition, kFloat * kCrowdVector,
           kFloat * kCrowdRotation * rest.tets, kFloat * kCrowdLanes * rest.tets},
          splitting);
    }
    bodies -= together;
  }
  work.footprint += rest.footprint;
  return work;
}

}  // namespace plush::bench
