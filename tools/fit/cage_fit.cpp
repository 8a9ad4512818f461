// SPDX-License-Identifier: MIT
// Fits a cage pass by pass: descends volume and angles node by node (SnugFit), or the ODT energy.
// Sources: [Civ, Sec. 5.3.1, step 4]; [ACSYD05] for the ODT energy (title at OdtPosition).
#include "fit/cage_fit.h"

#include "base/float_rounding.h"
#include "fit/node_moves.h"
#include "fit/peeling.h"
#include "fit/tet_quality.h"
#include "lattice/cage_boundary.h"
#include "mesh/tet_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace plush::tools {
namespace {

// Passes of the descent. Twice as many make cages only 1% smaller.
constexpr uint32_t kSnugPasses = 15;
constexpr uint32_t kOdtPasses = 10;  // [Civ, Fig. 5.2]

// Passes between two searches for tets that became empty.
constexpr uint32_t kPassesToPeeling = 6;

// A node's first step, and the step below which it rests, in cells.
constexpr double kFirstStep = 0.2;
constexpr double kLastStep = 0.004;

// Random directions tried if the gradient and the normal fail.
constexpr int kRandomTries = 2;

// If less of a unit direction is left after turning it into a plane or line, it is given up.
constexpr double kLeastTurn = 0.05;

// A fixed sequence of directions. It need not be uniform on the sphere.
class Directions {
 public:
  Vec3d Next() {
    for (;;) {
      const Vec3d v = {Number(), Number(), Number()};
      const double squared = LengthSquared(v);
      if (squared > 0.01 && squared <= 1.0) return v / std::sqrt(squared);
    }
  }

 private:
  // A number in [-1, 1). xorshift64*: Sebastiano Vigna. An Experimental Exploration of Marsaglia's
  // xorshift Generators, Scrambled. 2016.
  double Number() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<double>((state_ * 0x2545F4914F6CDD1Dull) >> 11) * 0x1p-52 - 1.0;
  }
  uint64_t state_ = 0x9E3779B97F4A7C15ull;
};

Vec3d Unit(const Vec3d& v) {
  const double length = Length(v);
  return length > 0.0 ? v / length : Vec3d{};
}

Vec3d PartAlong(const Vec3d& v, const Vec3d& along) {
  const double squared = LengthSquared(along);
  return squared > 0.0 ? along * (Dot(v, along) / squared) : Vec3d{};
}

Vec3d WithoutPart(const Vec3d& v, const Vec3d& along) { return v - PartAlong(v, along); }

// Descends E = V_cage / V_solid + lambda mean(max(0, (50 - q) / 50)^2) node by node, where q is the
// smallest dihedral angle of a tet in degrees.
class SnugFit {
 public:
  // `steps`: step of each node [m], by SplitCage::node_ids, so that it survives peeling.
  SnugFit(const FitSettings& settings, const std::vector<uint32_t>& node_ids,
          std::vector<double>* steps, NodeMoves* moves)
      : settings_(settings),
        moves_(*moves),
        node_ids_(node_ids),
        steps_(*steps),
        tets_in_mean_(static_cast<double>(moves->mesh().tets.size())) {}

  // Moves every node once, if it can. Returns whether any moved.
  bool Pass() {
    bool moved = false;
    for (uint32_t node = 0; node < moves_.num_nodes(); ++node) {
      double& step = steps_[node_ids_[node]];
      if (step < kLastStep * settings_.cell_m) continue;
      if (Improve(node)) {
        moved = true;
        step = std::min(1.5 * step, moves_.max_step());
        WakeNeighbours(node);
      } else {
        step *= 0.5;
      }
    }
    return moved;
  }

 private:
  // The terms of E that depend on the node, placed at `at`; nullopt if an angle is below the guard.
  std::optional<double> EnergyAt(uint32_t node, const Vec3d& at) const {
    double volume = 0.0;
    double penalty = 0.0;
    for (const uint32_t t : moves_.TetsOf(node)) {
      const auto corners = moves_.CornersWith(t, node, at);
      const double angle = SmallestDihedral(corners);
      if (angle < moves_.LeastAngle(t)) return std::nullopt;
      volume += TetVolume(corners);
      const double lack = std::max(0.0, (50.0 - angle) / 50.0);
      penalty += lack * lack;
    }
    return volume / settings_.solid_volume_m3 + settings_.quality_weight * penalty / tets_in_mean_;
  }

  // The unit direction of steepest descent, by one-sided differences.
  Vec3d Descent(uint32_t node, double energy) const {
    const Vec3d at = moves_.mesh().nodes[node];
    const double h = 1e-3 * settings_.cell_m;
    Vec3d gradient;
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d moved = at;
      moved[axis] += h;
      double sign = 1.0;
      std::optional<double> other = EnergyAt(node, moved);
      if (!other) {
        moved[axis] -= 2.0 * h;
        sign = -1.0;
        other = EnergyAt(node, moved);
      }
      gradient[axis] = other ? sign * (*other - energy) : 0.0;
    }
    return -Unit(gradient);
  }

  bool Improve(uint32_t node) {
    const std::optional<double> energy = EnergyAt(node, moves_.mesh().nodes[node]);
    if (!energy) return false;
    if (Try(node, Descent(node, *energy), *energy)) return true;
    const Vec3d inwards = moves_.InwardNormal(node);
    if (LengthSquared(inwards) > 0.0 && Try(node, Unit(inwards), *energy)) return true;
    for (int i = 0; i < kRandomTries; ++i) {
      if (Try(node, directions_.Next(), *energy)) return true;
    }
    return false;
  }

  // Tries one step along `direction`. If the surface stops a boundary face, turns the step into the
  // face's plane; if it then stops a second face, into the line in which both planes meet.
  bool Try(uint32_t node, Vec3d direction, double energy) {
    const Vec3d from = moves_.mesh().nodes[node];
    Vec3d first_stop;
    for (int turn = 0; turn < 3; ++turn) {
      const Vec3d to = RoundToFloat(from + direction * steps_[node_ids_[node]]);
      const std::optional<double> better = EnergyAt(node, to);
      if (!better || !(*better < energy - 1e-9)) return false;
      Vec3d stop;
      if (moves_.Move(node, to, &stop)) return true;
      if (LengthSquared(stop) == 0.0) return false;
      const Vec3d turned =
          turn == 0 ? WithoutPart(direction, stop) : PartAlong(direction, Cross(first_stop, stop));
      if (LengthSquared(turned) < kLeastTurn * kLeastTurn) return false;
      direction = Unit(turned);
      first_stop = stop;
    }
    return false;
  }

  // Makes the nodes around move again: a move makes room for them.
  void WakeNeighbours(uint32_t node) {
    for (const uint32_t t : moves_.TetsOf(node)) {
      for (const uint32_t other : moves_.mesh().tets[t]) {
        double& step = steps_[node_ids_[other]];
        step = std::max(step, 2.0 * kLastStep * settings_.cell_m);
      }
    }
  }

  const FitSettings& settings_;
  NodeMoves& moves_;
  const std::vector<uint32_t>& node_ids_;
  std::vector<double>& steps_;  // per node id [m]
  const double tets_in_mean_;
  Directions directions_;
};

Vec3d Circumcentre(const std::array<Vec3d, 4>& tet) {
  const Vec3d b = tet[1] - tet[0];
  const Vec3d c = tet[2] - tet[0];
  const Vec3d d = tet[3] - tet[0];
  const Vec3d sum = Cross(c, d) * LengthSquared(b) + Cross(d, b) * LengthSquared(c) +
                    Cross(b, c) * LengthSquared(d);
  return tet[0] + sum / (2.0 * Dot(b, Cross(c, d)));
}

// The position at which the ODT energy of the tets around the node is least: the mean of their
// circumcentres, weighted by volume [ACSYD05, Eq. 7]: Pierre Alliez, David Cohen-Steiner, Mariette
// Yvinec, Mathieu Desbrun. Variational Tetrahedral Meshing. 2005.
Vec3d OdtPosition(const NodeMoves& moves, uint32_t node) {
  Vec3d sum;
  double volume = 0.0;
  for (const uint32_t t : moves.TetsOf(node)) {
    const auto corners = CornersOf(moves.mesh(), t);
    const double weight = SixVolume(corners[0], corners[1], corners[2], corners[3]);
    sum += Circumcentre(corners) * weight;
    volume += weight;
  }
  return sum / volume;
}

bool KeepsAngles(const NodeMoves& moves, uint32_t node, const Vec3d& to) {
  for (const uint32_t t : moves.TetsOf(node)) {
    if (SmallestDihedral(moves.CornersWith(t, node, to)) < moves.LeastAngle(t)) return false;
  }
  return true;
}

// Moves each boundary node towards its ODT position by the relaxed step, or by half of it, a
// quarter and so on, until a step is free.
bool OdtPass(const FitSettings& settings, NodeMoves* moves) {
  constexpr int kHalvings = 5;
  bool moved = false;
  for (uint32_t node = 0; node < moves->num_nodes(); ++node) {
    if (!moves->IsOnBoundary(node)) continue;
    const Vec3d from = moves->mesh().nodes[node];
    Vec3d step = (OdtPosition(*moves, node) - from) * settings.odt_relaxation;
    const double length = Length(step);
    if (length > moves->max_step()) step = step * (moves->max_step() / length);
    for (int i = 0; i < kHalvings; ++i, step = step * 0.5) {
      const Vec3d to = RoundToFloat(from + step);
      Vec3d stop;
      if (to == from) break;
      if (!KeepsAngles(*moves, node, to) || !moves->Move(node, to, &stop)) continue;
      moved = true;
      break;
    }
  }
  return moved;
}

// Number of tets at each node, by node id.
std::vector<uint32_t> CountTets(const SplitCage& cage, size_t num_ids) {
  std::vector<uint32_t> counts(num_ids, 0);
  for (const auto& tet : cage.mesh.tets) {
    for (const uint32_t node : tet) ++counts[cage.node_ids[node]];
  }
  return counts;
}

}  // namespace

uint32_t FitCage(const SolidSurface& surface, const InsideTest& inside, const FitSettings& settings,
                 SplitCage* cage) {
  if (settings.method == FitMethod::kNone) return 0;
  const bool snug = settings.method == FitMethod::kSnug;
  const uint32_t most_passes =
      settings.passes > 0 ? settings.passes : (snug ? kSnugPasses : kOdtPasses);
  const TriangleBvh bvh(surface.points, surface.triangles, inside.order());
  std::optional<NodeMoves> moves;  // made anew after tets are peeled
  std::vector<double> steps(cage->node_ids.size(), kFirstStep * settings.cell_m);
  uint32_t passes = 0;
  bool changes = true;
  while (changes && passes < most_passes) {
    if (!moves) moves.emplace(surface, bvh, inside, settings, cage);
    SnugFit fit(settings, cage->node_ids, &steps, &*moves);
    const uint32_t stop = std::min(passes + kPassesToPeeling, most_passes);
    bool moved = true;
    while (moved && passes < stop) {
      moves->BeginPass();
      moved = snug ? fit.Pass() : OdtPass(settings, &*moves);
      ++passes;
    }
    const std::vector<uint32_t> before = CountTets(*cage, steps.size());
    const uint32_t peeled = PeelCage(surface, bvh, inside, settings.clearance_m, cage);
    if (peeled > 0) {
      moves.reset();
      // Nodes that lost a tet start again with the first step.
      const std::vector<uint32_t> after = CountTets(*cage, steps.size());
      for (size_t id = 0; id < steps.size(); ++id) {
        if (after[id] != before[id]) steps[id] = kFirstStep * settings.cell_m;
      }
    }
    changes = moved || peeled > 0;
  }
  return passes;
}

}  // namespace plush::tools
