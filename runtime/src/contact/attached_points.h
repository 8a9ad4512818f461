// SPDX-License-Identifier: MIT
// Points of a body that springs and constraints hold, solved within the elastic step.
//
// A spring is one row of the substep's quadratic model. With e the way from its target to the
// point, and the force at the end of the substep of h seconds,
//   p = h^2 force = -K e + c h e_start,   K = k h^2 + c h,
// so its compliance is 1 / K. A change of p moves the point by S_ii, as an impulse on a contact
// does (point_couplings.h), so the exact change of one row is
//   (-K e + c h e_start - p) / (1 + K S_ii).
// Gauss-Seidel sweeps over rows and contacts find all impulses; none needs another factor. They
// take springs that are linear and pull at targets together (spring_block.h). Between
// two bodies, both answer: S_ii is the sum of theirs, and each gets the opposite impulse at once,
// so momentum stays whenever the sweeps end.
//
// In solves that turn the body (free_turn.h), impulses move points by its turn, too, which is not
// in their `moved`.
//
// A constraint is a row without compliance that acts in some directions only. A sweep solves all of
// a body together (constraint_block.h).
#pragma once

#include "plush/allocator.h"
#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "base/vector_math.h"
#include "contact/constraint_block.h"
#include "contact/plane_contacts.h"
#include "contact/point_couplings.h"
#include "contact/spring_block.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace plush {

struct AttachedPoints;
struct CoarseContacts;

/// A spring or a constraint, in the world's units. Both bodies of a spring share it.
struct AttachmentRow {
  static constexpr float kLeastGain = 1.0e-12f;  ///< [kg]; with softer ones, the numbers overflow
  /// A point that it pulls at: the first one with `impulse`, the second one with its opposite.
  struct Side {
    AttachedPoints* of = nullptr;  ///< null: none, the target
    uint32_t index = 0;            ///< in of->points
  };
  Side sides[2];
  float rest_length = 0.0f;  ///< [m]
  float stiffness = 0.0f;    ///< [N/m]
  float damping = 0.0f;      ///< [N s/m]
  float max_force = 0.0f;    ///< [N]
  // Of a constraint.
  Vec3 directions[3];           ///< in which it holds the point: orthonormal
  uint32_t num_directions = 0;  ///< 0: it is a spring
  float correction = 1.0f;      ///< share of `gap` that a step closes
  Vec3 gap;                     ///< in the directions, at the start of the step [m]
  Vec3 held[3];                 ///< the directions in which no other row holds the point
  uint32_t num_held = 0;
  float fine_response = 0.0f;  ///< of the point, while clusters move [1/kg]
  Vec3 force;                  ///< on the first point in the last substep [N]
  Vec3 mean_force;             ///< the same, mean over the step [N]
  bool acts = false;           ///< in the current step: both bodies take part
  // Of the substep.
  Vec3 base;          ///< way from the target, or the other body's origin, to the origin of the
                      ///< first body [m]
  Vec3 start;         ///< way to the first point at the start [m]
  float gain = 0.0f;  ///< K [kg]
  float drag = 0.0f;  ///< c h [kg]
  float most = 0.0f;  ///< of `impulse` [kg m]
  Vec3 impulse;       ///< p [kg m]
  // Of the current solve.
  Vec3 way;     ///< to the first point at the current iterate [m]
  Vec3 normal;  ///< its direction; matters if rest_length is not 0
  Vec3 before;  ///< `impulse` at Locate [kg m]
  Vec3 known;   ///< the part of `impulse` that both iterates show [kg m]
  // Of a spring in ContactGradients.
  Vec3 first;     ///< LawImpulse where it begins [kg m]
  Vec3 resisted;  ///< K times the motion of the current direction [kg m]

  bool is_constraint() const { return num_directions > 0; }
  /// Begins a substep of `h` seconds; `base` and `start` are set.
  void Begin(float h);
  /// The change of the impulse that answers a further motion `moved` of the way [m], if an impulse
  /// moves it by `response` [1/kg]. Makes it.
  Vec3 Change(const Vec3& moved, float response);
  /// The same with the response of the coarse level [1/kg].
  Vec3 Change(const Vec3& moved, const Mat3& response);
  /// h^2 times a spring's force at `way` [kg m].
  Vec3 LawImpulse() const;
  /// What it loses while the way moves on by `motion` [m]: nothing at its limit [kg m].
  Vec3 Resistance(const Vec3& motion) const;
  /// Whether a spring's law asks for more than its largest force at `way`.
  bool IsAtLimit() const;
  /// What the law asks of `impulse` more, after a further motion `moved` of the way [kg m].
  Vec3 Missing(const Vec3& moved) const;

 private:
  Vec3 Limited(const Vec3& whole) const;
  Vec3 Add(const Vec3& change);
  Vec3 HeldChange(const Vec3& moved, const Mat3& response);
};

/// A point of a body in a row.
struct AttachedPoint {
  uint32_t row = 0;   ///< AttachedPoints::rows
  float sign = 1.0f;  ///< of the row's impulse on it
  EmbeddedPoint point;
  Vec3 at[4];   ///< its nodes at the current iterate [m]
  Vec3 moved;   ///< displacement by the current sweeps, in the body's units [m]
  Vec3 change;  ///< of its constraint's impulse in the current sweep [kg m]; while clusters move,
                ///< displacement by that [m]
  float turned_response = 0.0f;  ///< displacement per impulse on it with the body's turn, at most
                                 ///< [1/kg]
  CoarsePoint coarse;
  Mat3 response;  ///< on the coarse level [1/kg]
};

/// All attached points of a body, ascending rows, and how they answer impulses.
struct AttachedPoints {
  Array<AttachedPoint> points;  ///< (capacity x 1)
  uint32_t num_points = 0;
  uint32_t num_loaded = 0;  ///< of a state, while it is loaded
  uint32_t num_loaded_constraints = 0;
  bool is_stale = false;          ///< whether rows or pins have changed since `points` was filled
  bool has_target = false;        ///< whether a row holds the body to something else than a body
  bool joins_bodies = false;      ///< whether a row holds it to another body
  bool has_springs = false;       ///< whether a row is a spring
  bool has_constraints = false;   ///< whether a row is a constraint
  bool acts_on_clusters = true;   ///< whether impulses change while clusters move
  SpringBlock springs;            ///< of the rows that are solved together
  ConstraintBlock block;          ///< of the rows that are constraints
  std::span<AttachmentRow> rows;  ///< of the world, by slot
  // The body: at the start of the substep, and its current iterate.
  std::span<const NodeVec> x;              ///< (num_nodes x 1)
  std::span<NodeVec> y;                    ///< (num_nodes x 1)
  double origin[3] = {};                   ///< [m]
  float scale = 1.0f;                      ///< of the body
  uint64_t factor_id = 0;                  ///< of the factor that the values belong to, or 0
  size_t num_nodes = 0;                    ///< of the body
  ContactState* contacts = nullptr;        ///< of the body, once it has solved with contacts
  CoarseContacts* coarse_solve = nullptr;  ///< its part in the current coarse solve, or null
  Array<float> columns;                    ///< of A^-1 W^T by point [1/kg] (capacity x num_nodes)
  Array<float> couplings;                  ///< between points [1/kg] (capacity x capacity)
  // Scratch memory.
  Array<float> to_contacts;             ///< see ToContacts (capacity x CouplingStride(most slots))
  Array<EmbeddedPoint> contact_points;  ///< of the slots that are known (most slots x 1)
  uint32_t num_contact_points = 0;
  Array<NodeVec> solved;  ///< (num_nodes + 1 x 1)

  std::span<AttachedPoint> Current() { return points.span().first(num_points); }
  std::span<const AttachedPoint> Current() const { return points.span().first(num_points); }
  bool any() const { return num_points > 0; }
  AttachmentRow& RowOf(const AttachedPoint& at) const { return rows[at.row]; }
  /// An impulse of the row on this point, in the body's units [kg m].
  Vec3 Own(const AttachedPoint& at, const Vec3& impulse) const {
    return impulse * (at.sign / (scale * scale * scale * scale));
  }
  /// How much an impulse on a point moves it in the world, at most [1/kg].
  float Response(uint32_t index) const {
    const float own = couplings[(points.size() + 1) * index];
    return (Turn() != nullptr ? points[index].turned_response : own) / (scale * scale * scale);
  }

  /// The turn of the body in the current solve, or null.
  FreeTurn* Turn() const { return contacts != nullptr ? contacts->turn : nullptr; }
  /// Where it has moved a point [m].
  Vec3 TurnedBy(const AttachedPoint& at) const {
    const FreeTurn* const turn = Turn();
    return turn != nullptr ? TurnedPoint(*turn, at.point).MovedBy(turn->turning) : Vec3{};
  }

  /// How the current impulses resist a turn.
  TurnResistance ResistanceTo(const FreeTurn& turn) const;

  /// Adds an impulse on a point to the turn.
  void PushTurn(const AttachedPoint& at, const Vec3& own) const {
    FreeTurn* const turn = Turn();
    if (turn != nullptr) TurnedPoint(*turn, at.point).Push(own, turn);
  }

  /// Makes room for `count` points and keeps existing ones. Forgets values. Returns false, with
  /// nothing changed, if the allocator fails.
  bool Reserve(const Allocator& allocator, uint32_t count, size_t of_nodes);

  /// Makes room for `count` constraints among the points. The same.
  bool ReserveConstraints(const Allocator& allocator, uint32_t count, size_t of_nodes);

  /// Finds columns, couplings and the block unless they are known for the factor. Does not
  /// allocate.
  void Find(const FactoredSystem& system);

  /// Lets rows answer with the turn of the current solve, too, or no longer if it has none.
  void AnswerWithTurn();

  /// Lists the springs that are solved together, once all rows have begun a substep.
  void ListSprings();

  /// Finds where points and ways are at the iterate get(node), from which sweeps start.
  template <class Get>
  void Locate(const Get& get) {
    for (AttachedPoint& at : Current()) {
      for (int k = 0; k < 4; ++k) at.at[k] = get(at.point.nodes[k]);
    }
    FindWays();
  }

  /// Adds the rows' impulses to a right-hand side: add(node, impulse).
  template <class Add>
  void Push(const Add& add) const {
    for (const AttachedPoint& at : Current()) {
      const Vec3 own = Own(at, RowOf(at).impulse);
      for (int k = 0; k < 4; ++k) add(at.point.nodes[k], own * at.point.Free(k));
    }
  }

  /// Starts sweeps from where the displacements get(node) have moved the points.
  template <class Get>
  void StartSweeps(const Get& get) {
    StartOthers();
    StartOwn(get);
  }
  /// The same if the bodies that share rows take part in the same solve.
  template <class Get>
  void StartOwn(const Get& get) {
    for (AttachedPoint& at : Current()) {
      at.moved = TurnedBy(at) * -1.0f;  // the turn is in the displacements
      for (int k = 0; k < 4; ++k) at.moved += get(at.point.nodes[k]) * at.point.weights[k];
    }
  }

  /// Changes the impulse of each row once, those of constraints last. Calls changed(its body's
  /// AttachedPoints, index, impulse in that body's units) for each of its points. Returns the
  /// longest motion of a point by the change of its own row [m].
  template <class Changed>
  float Sweep(const Changed& changed) {
    float longest = 0.0f;
    const bool at_once = SweepSprings(changed, &longest);
    if (at_once) MoveBySprings();
    uint32_t next = at_once ? 0 : springs.num_springs;  // of the springs that are done
    for (uint32_t i = 0; i < num_points; ++i) {
      if (next < springs.num_springs && springs.points[next] == i) {
        ++next;
        continue;
      }
      AttachmentRow& row = rows[points[i].row];
      if (!row.acts || row.is_constraint()) continue;
      float response = 0.0f;
      for (const AttachmentRow::Side& side : row.sides) {
        if (side.of != nullptr) response += side.of->Response(side.index);
      }
      const Vec3 change = row.Change(MovedOf(row), response);
      if (IsZero(change)) continue;
      longest = std::fmax(longest, response * Length(change));
      MoveOther(row, change);
      const Vec3 own = Own(points[i], change);
      const float* coupled = &couplings[points.size() * i];
      for (uint32_t j = 0; j < num_points; ++j) points[j].moved += own * coupled[j];
      PushTurn(points[i], own);
      for (const AttachmentRow::Side& side : row.sides) {
        if (side.of == nullptr) continue;
        changed(side.of, side.index, side.of->Own(side.of->points[side.index], change));
      }
    }
    return std::fmax(longest, SweepBlock(changed));
  }

  /// The same for the springs that are solved together, without moving the points. Returns false,
  /// with nothing changed, if there are none, or if one would exceed its largest force.
  template <class Changed>
  bool SweepSprings(const Changed& changed, float* longest) {
    if (springs.num_springs == 0 || !FindSpringChanges()) return false;
    for (uint32_t k = 0; k < springs.num_springs; ++k) {
      const uint32_t i = springs.points[k];
      const Vec3 change = points[i].change;
      if (IsZero(change)) continue;
      *longest = std::fmax(*longest, Response(i) * Length(change));
      RowOf(points[i]).impulse += change;
      const Vec3 own = Own(points[i], change);
      PushTurn(points[i], own);
      changed(this, i, own);
    }
    return true;
  }

  /// The same for the constraints, which hold exactly afterwards.
  template <class Changed>
  float SweepBlock(const Changed& changed) {
    if (!block.any()) return 0.0f;
    const float longest = FindBlockChanges();
    for (uint32_t i = 0; i < num_points; ++i) {
      const Vec3 change = points[i].change;
      if (IsZero(change)) continue;
      RowOf(points[i]).impulse += change;
      const Vec3 own = Own(points[i], change);
      const float* coupled = &couplings[points.size() * i];
      for (uint32_t j = 0; j < num_points; ++j) points[j].moved += own * coupled[j];
      PushTurn(points[i], own);
      changed(this, i, own);
    }
    return longest;
  }

  /// Moves the iterate get(node) so that the constraints hold: first as impulses do, then what
  /// rounding leaves by the least motion of the points' nodes. add(node, displacement).
  template <class Get, class Add>
  void Hold(const Get& get, const Add& add) {
    if (!block.any()) return;
    Locate(get);
    for (AttachedPoint& at : Current()) at.moved = {};
    SweepBlock([](AttachedPoints*, uint32_t, const Vec3&) {});
    AddChanges(add);
    HoldNodes(get, add);
  }

  /// The same by the nodes of the points alone: others stay.
  template <class Get, class Add>
  void HoldNodes(const Get& get, const Add& add) {
    if (!block.any()) return;
    Locate(get);
    FindDistances();
    block.projector.Move(block.Numbers(), add);
  }

  /// Takes the part of a right-hand side that constraints answer out of it, and makes it their
  /// impulses.
  void ProjectImpulses(std::span<NodeVec> rhs);

  /// Sweeps until points move by less than `accuracy` [m], in the body's units.
  void SweepAlone(float accuracy);

  /// Adds what the changes since Locate add to the displacement: add(node, displacement).
  template <class Add>
  void AddChanges(const Add& add) const {
    for (uint32_t i = 0; i < num_points; ++i) {
      const AttachmentRow& row = RowOf(points[i]);
      const Vec3 own = Own(points[i], row.impulse - row.before);
      if (IsZero(own)) continue;
      const float* column = &columns[num_nodes * i];
      for (size_t node = 0; node < num_nodes; ++node) add(node, own * column[node]);
    }
  }

  /// The same for vectors of a body (num_nodes x 1).
  void AddChanges(std::span<NodeVec> d) const;

  /// Moves the iterates of the other bodies as the changes of impulses since Locate do, but for
  /// those that take part in the current coarse solve.
  void MoveOthers();
  /// After a solve of all bodies that share rows: their iterates show the impulses.
  void KnowImpulses();

  /// How far sweeps have moved the way of a row [m].
  Vec3 MovedOf(const AttachmentRow& row) const;
  /// The part of a change of impulse that the other body feels: moves its points, unless it takes
  /// part in the current coarse solve.
  void MoveOther(const AttachmentRow& row, const Vec3& change);
  /// Starts sweeps from where changes of impulses move the other bodies before MoveOthers.
  void StartOthers();

  /// Sums term(row, motion of its way [m]) over the springs that act and have their first point
  /// here. The points of all their bodies have `moved` by the motion.
  template <class Term>
  double SumSprings(const Term& term) const {
    double sum = 0.0;
    for (const AttachedPoint& at : Current()) {
      AttachmentRow& row = RowOf(at);
      if (at.sign > 0.0f && row.acts && !row.is_constraint()) sum += term(&row, MovedOf(row));
    }
    return sum;
  }

  /// Whether a spring that acts joins the body to another one.
  bool JoinsBodies() const {
    return std::ranges::any_of(Current(), [this](const AttachedPoint& at) {
      return RowOf(at).acts && RowOf(at).sides[1].of != nullptr;
    });
  }

  /// Finds couplings with the points of contacts.
  void FindToContacts(const PointCouplings& of_contacts);
  /// How far an impulse on each contact's slot moves attached point `i` [1/kg] (most slots x 1).
  /// The number of slots in use does not move the rows.
  const float* ToContacts(uint32_t i) const {
    return to_contacts.data() +
           size_t{CouplingStride(static_cast<uint32_t>(contact_points.size()))} * i;
  }
  float* ToContacts(uint32_t i) { return const_cast<float*>(std::as_const(*this).ToContacts(i)); }

  /// Adds the impulses to the clusters' sums.
  void AddTo(std::span<const uint16_t> clusters, std::span<ClusterSums> sums) const;
  /// Adds them to the inertial parts, for CoarseLevel::KeepMomenta: they are then like weights.
  void AddToInertia(std::span<const uint16_t> clusters, std::span<ClusterSums> sums) const;

 private:
  void FindWays();
  void FactorBlock();
  // Finds the rows of constraints, which depend on points and pins, but on no factor.
  void FindBlock();
  // block.numbers := minus the distances that the rows have to go, in the body's units [m].
  void FindDistances();
  // Returns the longest distance [m].
  float FindBlockChanges();
  // The changes of the springs that are solved together. Returns false if one would be too large.
  bool FindSpringChanges();
  // Moves the points as these changes do.
  void MoveBySprings();
};

}  // namespace plush
