// SPDX-License-Identifier: MIT
// The coarse level of a step: clusters of nodes move as rigid bodies.
//
// The constant matrix A of [Kug] charges 2 mu V |D|^2 for a change D of a tet's F. The material
// charges 2 mu V |sym(R^T D)|^2: nothing for turns. A body that bends or swings turns all its tets,
// and one solve with A takes most of these turns back. So a second correction follows it: each
// cluster moves rigidly, with the material's own matrix projected onto these motions,
// C = Z^T H Z. Only tets with nodes of two clusters, or of a cluster and pins, contribute to it.
//
// C: see coarse_matrix.h.
#pragma once

#include "plush/allocator.h"
#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "elasticity/elements.h"
#include "solver/coarse_matrix.h"
#include "solver/system_matrix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Sums over the free nodes of a cluster.
struct ClusterSums {
  Vec3 impulse;  ///< of the right-hand side [kg m]
  Vec3 moment;   ///< of the right-hand side about `centre` [kg m^2]
  Vec3 centre;   ///< centre of mass [m]
  // Of the positions about the centre, weighted by mass shares [m^2].
  Vec3 squares;   ///< means of x^2, y^2, z^2
  Vec3 products;  ///< means of x y, y z, z x
  // Of the inertial part b = M (predicted - y) of the right-hand side.
  Vec3 inertia;  ///< sum of b [kg m]
  Mat3 arms;     ///< sum of r b^T, r from the centre [kg m^2]
};

/// Springs that hold a component, as masses: K = k h^2 + c h [kg] at r from the component's origin
/// [m]. In double precision: one stiff spring outweighs the body, and leaves it free to turn.
struct ComponentHold {
  double mass = 0.0;         ///< [kg]
  double moment[3] = {};     ///< sum of mass r [kg m]
  double spread[3][3] = {};  ///< sum of mass r r^T [kg m^2]

  void Add(float stiffness, const Vec3& r);
};

/// The turn by about `angle` [rad], at most half a turn, minus the identity.
Mat3 TurnBy(const Vec3& angle);
/// The angle of such a turn minus the identity [rad].
Vec3 AngleOf(const Mat3& change);

/// The motion that moves x by shift + change (x - centre).
struct RigidMotion {
  Vec3 centre;  ///< [m]
  Vec3 shift;   ///< [m]
  Mat3 change;  ///< a rotation minus the identity
};

/// The motion that undoes another one.
RigidMotion InverseOf(const RigidMotion& motion);
/// The same way, but only a `share` of it.
RigidMotion PartOf(const RigidMotion& motion, float share);

// The motions may overshoot: C knows that the tets between clusters resist strains, but not that
// stretched or squeezed ones resist turns, too, and that float sums are rough. So a step evaluates
// these tets again after the motions. Along the way, the objective falls by the mean of the work of
// the right-hand side at both ends, as far as it is quadratic.

/// Work of a right-hand side along a cluster's motion. The right-hand side is that at the motion's
/// start, or at its end.
float WorkAtStart(const ClusterSums& sums, const RigidMotion& motion);
float WorkAtEnd(const ClusterSums& sums, const RigidMotion& motion);

/// Whether a motion is so small that it needs no second look: it moves no node by much more than a
/// twentieth of the cluster's size. A motion that grows from step to step exceeds that soon.
bool IsSmall(const ClusterSums& sums, const RigidMotion& motion);

/// What a component turns about (hinges.h): its centre of mass, or a point or line where pins are.
/// (If springs or constraints hold it: see ComponentHold and HeldDirection.)
struct Hinge {
  enum class Kind : uint8_t { kNone, kPoint, kLine, kHeld };
  Kind kind;       ///< kHeld: it cannot turn
  double at[3];    ///< the point, or one on the line [m]
  double axis[3];  ///< of the line; unit
  double way[3];   ///< of `at` in the substep, for predictions [m]

  bool IsOnPoints() const { return kind != Kind::kNone; }
};

/// A direction in which a constraint holds a point of a component.
struct HeldDirection {
  Vec3 place;             ///< where motions take the point [m]
  Vec3 direction;         ///< unit
  double distance = 0.0;  ///< along the direction, by which the place is off [m]
  double impulse = 0.0;   ///< along the direction [kg m]
};

/// Whether directions, at least one, leave a rigid motion. If they hold a component fast, it is the
/// material that says where the rest of it goes, not the nearest rigid motion.
bool LeaveMotion(std::span<const HeldDirection> held);

/// Most parts of a correction that are tried before it is dropped.
inline constexpr int kMostParts = 3;

/// How much of the motions to keep: 1 unless they overshot far; else where the work is zero, or 0
/// if the numbers are not finite.
float ShareToKeep(float work_at_start, float work_at_end);

/// A run of blocks of tets.
struct BlockRun {
  uint32_t begin = 0, end = 0;
};

/// Whether stress waves of a CoarseLevel's `wave_rate6` cross more than `most` clusters in `h`
/// seconds.
inline bool CrossesClusters(double wave_rate6, float h, double most) {
  const auto power6 = [](double of) { return of * of * of * of * of * of; };
  return power6(double(h)) * wave_rate6 > power6(most);
}

/// What the coarse level of a system needs besides the time step.
struct CoarseLevel {
  /// Of each node, < num_clusters: the baked ones, cut where only pins join their free nodes. Such
  /// parts would move each other, although no force does (num_nodes x 1).
  Array<uint16_t> clusters;
  // A cluster whose nodes are all pinned has no members and no mass.
  Array<uint32_t>
      first_member;         ///< of each cluster in `members`, and the end (num_clusters + 1 x 1)
  Array<uint32_t> members;  ///< free nodes by cluster
  Array<uint32_t> first_inner;  ///< of each cluster in `members`: the nodes before it are those of
                                ///< the blocks in `runs` (num_clusters x 1)
  Array<float> shares;          ///< of the members in their clusters' masses
  Array<float> masses;          ///< of the clusters [kg] (num_clusters x 1)
  // Components that pins do not hold: without any, or with pins about which they turn (hinges.h).
  Array<uint16_t> free_clusters;  ///< of these components, by component
  Array<uint16_t>
      first_of_components;          ///< in `free_clusters`, and the end (num_components + 1 x 1)
  Array<uint32_t> hinge_pins;       ///< their pins, first two that are far from each other
  Array<uint32_t> first_hinge_pin;  ///< of each component in `hinge_pins`, and the end
                                    ///< (num_components + 1 x 1)
  Array<uint8_t> turns;             ///< 0 for clusters of one or two nodes: a turn about them would
                                    ///< seem to move the group's tets, which lie as at rest
  double wave_rate6 = 0.0;    ///< the greatest (c / d)^6 of a cluster [1/s^6]: speed of its stress
                              ///< waves, c^2 = (2 mu + lambda) / density, over the diameter of a
                              ///< ball of its volume. No root, so that libraries cannot differ
  float most_bulk = 0.0f;     ///< the greatest lambda / mu of a tet
  Array<uint16_t> resisting;  ///< bit i: the tet at place i of the block resists (num_blocks x 1)
  Array<BlockRun> runs;       ///< blocks with tets that resist
  CoarsePattern pattern;

  /// Leaves it empty if no cluster has free nodes. `baked` clusters (num_nodes x 1) are below
  /// `num_baked`. Parts stay together once there are kMaxClusters. Returns false if the allocator
  /// fails.
  bool Build(const Allocator& allocator, const SystemView& system, std::span<const Vec3> rest,
             std::span<const uint16_t> baked, uint32_t num_baked);

  /// Whether the free nodes of this level, which has all pins of `other` and maybe more, are in the
  /// clusters that they are in there.
  bool SharesClusters(const CoarseLevel& other) const;

  size_t num_clusters() const { return masses.size(); }
  /// That turn freely.
  size_t num_components() const { return std::max<size_t>(first_of_components.size(), 1) - 1; }
  std::span<const uint16_t> Component(size_t c) const {
    return free_clusters.span().subspan(
        first_of_components[c], size_t{first_of_components[c + 1]} - first_of_components[c]);
  }
  std::span<const uint32_t> HingePinsOf(size_t c) const {
    return hinge_pins.span().subspan(first_hinge_pin[c],
                                     first_hinge_pin[c + 1] - first_hinge_pin[c]);
  }
  /// The hinges of the components, whose nodes are at `y` (num_components x 1).
  void FindHinges(const NodePlaces& y, std::span<Hinge> hinges) const;
  /// Whether stress waves cross more than `most` clusters in `h` seconds. Within a cluster, A takes
  /// turns back by the share of stiffness beside inertia, which grows with the square of that
  /// number.
  bool CrossesClusters(float h, double most) const {
    return plush::CrossesClusters(wave_rate6, h, most);
  }
  /// Whether a Poisson's ratio may be above 0.444. Without clusters no bulk is known.
  bool MayBeIncompressible() const {
    constexpr float kLeastBulk = 8.0f;  // lambda / mu
    return num_clusters() == 0 || most_bulk > kLeastBulk;
  }
  /// Unknowns: a translation and a turn for each cluster.
  size_t num_unknowns() const { return 6 * num_clusters(); }

  /// Sums the inertial right-hand side over the clusters at positions `y` (num_nodes x 1 each).
  void Sum(std::span<const NodeVec> y, std::span<const NodeVec> rhs,
           std::span<ClusterSums> sums) const;

  /// Adds the impulses `rhs` of the blocks in `runs`. If it `balances`, the impulses on a component
  /// without pins get no resultant and no moment, those on one with pins no moment about its hinge.
  /// They have none but for rounding, which would turn stiff bodies.
  void AddForces(std::span<const NodeVec> y, std::span<const NodeVec> rhs, bool balances,
                 std::span<ClusterSums> sums) const;

  /// The clusters' motions C^-1 Z^T rhs. With `hinges` (num_components x 1, or empty), a
  /// component's mean turn is about its centre or hinge, so that it does not strain stiff bodies.
  /// Turns about the clusters' own centres strain them to second order. Does not allocate.
  void Solve(const CoarseMatrix& matrix, std::span<const ClusterSums> sums,
             std::span<const Hinge> hinges, std::span<RigidMotion> motions) const;

  /// Adds to the `motions` of component `c` the rigid motion that makes sum m |y - predicted|^2
  /// least, a turn about its hinge if it has one. Internal forces do no work in it, so it is exact:
  /// the component keeps its momentum, and its angular momentum changes as implicit Euler's does.
  /// C^-1 alone misses both: by rounding where stiffness outweighs inertia, and where turns are
  /// large.
  /// Springs that hold it resist that motion, `hold`: places after `motions`, from the centre of
  /// the component's first cluster before them. (Their impulses alone, among the inertial parts of
  /// `sums`, would turn the body over where stiff springs press it together.)
  void KeepMomenta(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
                   const ComponentHold& hold, std::span<RigidMotion> motions) const;
  /// The same for a component without pins that constraints hold, but not fast: a rigid motion
  /// makes the distances zero. (If a few nodes closed them alone, the strain would throw small and
  /// stiff bodies.) Sets the impulses that do so.
  void KeepHeldMomenta(size_t c, std::span<const ClusterSums> sums, const ComponentHold& hold,
                       std::span<HeldDirection> held, std::span<RigidMotion> motions) const;

  /// Takes the resultant and the moment of `impulses` and `moments` on the clusters of component
  /// `c` away, as a rigid motion's share (num_clusters x 1 each). See AddForces.
  void Balance(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
               std::span<Vec3> impulses, std::span<Vec3> moments) const;
  /// Makes the mean motion among the `motions` of component `c` rigid, if it turns by less than a
  /// radian. See Solve.
  void TurnAsOne(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums,
                 std::span<RigidMotion> motions) const;

  /// Predictions `y`, which velocities `v` carry from `x` in `h` seconds, turn with components:
  /// each turns rigidly as its angular momentum says, instead of straight on, which strains it to
  /// second order. With `only_spins`, components of which the turn has less than half of the energy
  /// beside their centre's go straight on. `hinges`: at `x`, with their ways. Scratch memory:
  /// `momenta` (num_nodes x 1 each).
  void TurnPredictions(std::span<const NodeVec> x, std::span<const NodeVec> v, float h,
                       std::span<const Hinge> hinges, bool only_spins, std::span<NodeVec> momenta,
                       std::span<NodeVec> y) const;

  /// Gives components without pins the angular momentum back that a substep of `h` seconds took. It
  /// began with velocities `before` and ends at `x` with `v` (num_nodes x 1 each). Turns by more
  /// than 0.3 radians get less of it back, by more than 0.4 nothing; 0.1 and 0.2 if waves cross
  /// 1,000 clusters. Scratch memory: `momenta` (num_nodes x 1).
  void KeepTurns(std::span<const NodeVec> x, std::span<const NodeVec> before, float h,
                 std::span<NodeVec> momenta, std::span<NodeVec> v) const;

  /// `rigid`: the part of velocities `v` of nodes at `x` that is a rigid motion of each component,
  /// as its pins leave it, with its momenta; zero in components that pins hold (num_nodes x 1
  /// each). Returns its kinetic energy [J]. Does not allocate.
  double FindRigidPart(std::span<const NodeVec> x, std::span<const NodeVec> v,
                       std::span<NodeVec> rigid) const;
  /// The same part as `motions` of the clusters in `h` seconds (num_clusters x 1). Overwrites v.
  double FindRigidMotions(std::span<const NodeVec> x, float h, std::span<NodeVec> v,
                          std::span<RigidMotion> motions) const;

  /// Moves the clusters' nodes `y`.
  void Move(std::span<const RigidMotion> motions, std::span<NodeVec> y) const;
};

/// Numbers of a crowd's ClusterSums and RigidMotion per cluster, in the order of their members,
/// matrices by columns: number k of cluster i of the body in lane l is at [16 (c i + k) + l].
inline constexpr size_t kCrowdSums = 27 * 16;
inline constexpr size_t kCrowdMotion = 15 * 16;

/// CoarseLevel::Sum for a crowd: `positions` (num_nodes x 4 x 16), `rhs` (num_nodes x 3 x 16),
/// `sums` (num_clusters x 27 x 16). Leaves out nodes of inverse mass 0, which a lane can have
/// beyond the pins of `level`.
void SumCrowdClusters(const CoarseLevel& level, const float* positions, const float* rhs,
                      float* sums);

/// CoarseLevel::AddForces for a crowd. `more_pins`: whether a lane has pins beyond those of
/// `level`, so that forces may act on all members.
void AddCrowdForces(const CoarseLevel& level, const float* positions, const float* rhs,
                    bool more_pins, float* sums);

/// CoarseLevel::Move for a crowd: `motions` (num_clusters x 15 x 16). Nodes of inverse mass 0 stay.
void MoveCrowdClusters(const CoarseLevel& level, const float* motions, float* positions);

}  // namespace plush
