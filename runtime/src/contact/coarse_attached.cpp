// SPDX-License-Identifier: MIT
// Source: coarse_attached.h.
#include "contact/coarse_attached.h"

#include "contact/coarse_contacts.h"

#include <cmath>

namespace plush {
namespace {

// Constraints on the coarse level have a compliance, and springs more of it: this share of how much
// the fine level lets their points move. Without it, three held points stop all clusters of a small
// body, and its motion is five times as wrong; stiff springs never let it rest. With a share of 1,
// stiff bodies gain energy, because the constant matrix is softer than the material.
constexpr float kFineShare = 0.25f;

// The springs that are solved together.
struct CoarseSprings {
  TouchedClusters* touched;
  AttachedPoints* attached;
  std::span<ClusterSums> sums;
  uint32_t count = attached->springs.num_springs;
  Vec3 change[SpringBlock::kMost];     // dp [kg m]
  Vec3 left[SpringBlock::kMost];       // of e [m]
  Vec3 direction[SpringBlock::kMost];  // of the next part of dp [kg m]

  AttachedPoint& PointOf(uint32_t k) { return attached->points[attached->springs.points[k]]; }

  // Moves clusters as a share of impulses on the springs does.
  void Push(float share, const Vec3* impulses) {
    for (uint32_t k = 0; k < count; ++k) {
      touched->Push(PointOf(k).coarse, attached->Own(PointOf(k), impulses[k] * share), sums);
    }
  }

  // How far the material moves attached point `i` by impulses on the springs [m].
  Vec3 ByFine(uint32_t i, const Vec3* impulses) const {
    const float s = attached->scale, to_world = kFineShare / (s * s * s);
    const float* coupled = &attached->couplings[attached->points.size() * i];
    Vec3 sum;
    for (uint32_t k = 0; k < count; ++k) {
      sum += impulses[k] * (coupled[attached->springs.points[k]] * to_world);
    }
    return sum;
  }

  // Roughly the inverse of the operator's diagonal [kg].
  float Preconditioner(uint32_t k) {
    return 1.0f / (BoundOf(PointOf(k).response) + 1.0f / attached->springs.gains[k]);
  }

  // Returns the longest part of e [m].
  float Begin() {
    float longest2 = 0.0f;
    for (uint32_t k = 0; k < count; ++k) {
      AttachedPoint& at = PointOf(k);
      const AttachmentRow& row = attached->RowOf(at);
      at.moved = touched->Displacement(at.coarse);
      left[k] = row.Missing(attached->MovedOf(row) + at.change) * (1.0f / row.gain);
      direction[k] = left[k] * Preconditioner(k);
      longest2 = std::fmax(longest2, Dot(left[k], left[k]));
    }
    return std::sqrt(longest2);
  }

  void Solve(float accuracy);
  bool Fits() const;
};

// Conjugate gradients. Clusters move by a direction while it is tried. (Their motions are floats:
// to push the next direction together with what is left of the last one would let errors grow.)
void CoarseSprings::Solve(float accuracy) {
  constexpr int kMostIterations = 48;
  double rest = 0.0;
  for (uint32_t k = 0; k < count; ++k) rest += double(Dot(left[k], direction[k]));
  for (int iteration = 0; rest > 0.0 && iteration < kMostIterations; ++iteration) {
    Push(1.0f, direction);
    Vec3 moved[SpringBlock::kMost];
    double resistance = 0.0;
    for (uint32_t k = 0; k < count; ++k) {
      const AttachedPoint& at = PointOf(k);
      const Vec3 by_clusters = touched->Displacement(at.coarse) - at.moved;
      moved[k] = by_clusters * attached->scale + ByFine(attached->springs.points[k], direction) +
                 direction[k] * (1.0f / attached->springs.gains[k]);
      resistance += double(Dot(moved[k], direction[k]));
    }
    const float share = resistance > 0.0 ? static_cast<float>(rest / resistance) : 0.0f;
    Push(share - 1.0f, direction);
    if (share == 0.0f) return;
    double still_left = 0.0;
    float longest2 = 0.0f;
    for (uint32_t k = 0; k < count; ++k) {
      PointOf(k).moved = touched->Displacement(PointOf(k).coarse);
      change[k] += direction[k] * share;
      left[k] -= moved[k] * share;
      longest2 = std::fmax(longest2, Dot(left[k], left[k]));
      still_left += double(Dot(left[k], left[k]) * Preconditioner(k));
    }
    if (longest2 <= accuracy * accuracy) return;
    const float kept = static_cast<float>(still_left / rest);
    rest = still_left;
    for (uint32_t k = 0; k < count; ++k) {
      direction[k] = left[k] * Preconditioner(k) + direction[k] * kept;
    }
  }
}

// Whether no spring exceeds its largest force.
bool CoarseSprings::Fits() const {
  for (uint32_t k = 0; k < count; ++k) {
    const AttachmentRow& row = attached->RowOf(attached->points[attached->springs.points[k]]);
    const Vec3 whole = row.impulse + change[k];
    if (Dot(whole, whole) > row.most * row.most) return false;
  }
  return true;
}

// Returns false, with nothing changed, if there are none, or if one would exceed its largest force.
bool SweepSprings(CoarseContacts* solve) {
  AttachedPoints* attached = solve->attached;
  if (attached->springs.num_springs == 0) return false;
  CoarseSprings springs = {&solve->touched, attached, solve->sums};
  const float least = solve->problem.accuracy * attached->scale;
  if (springs.Begin() <= least) return true;
  springs.Solve(least);
  if (!springs.Fits()) {
    springs.Push(-1.0f, springs.change);
    return false;
  }
  for (uint32_t k = 0; k < springs.count; ++k) {
    attached->RowOf(springs.PointOf(k)).impulse += springs.change[k];
  }
  for (uint32_t i = 0; i < attached->num_points; ++i) {
    attached->points[i].change += springs.ByFine(i, springs.change) * attached->points[i].sign;
  }
  return true;
}

}  // namespace

namespace {

Mat3 Isotropic(float value) { return {{value, 0, 0}, {0, value, 0}, {0, 0, value}}; }

// How a change of a row's impulse moves its way, in the world's units. Bodies that take no part
// answer with their own constant matrix.
Mat3 ResponseOf(const AttachmentRow& row) {
  Mat3 sum;
  for (const AttachmentRow::Side& side : row.sides) {
    if (side.of == nullptr) continue;
    const bool takes_part = side.of->coarse_solve != nullptr;
    sum = sum + (takes_part ? side.of->points[side.index].response
                            : Isotropic(side.of->Response(side.index)));
  }
  return sum;
}

// How far clusters and compliance have moved the way of a row [m].
Vec3 MovedOf(const AttachedPoints& attached, const AttachmentRow& row) {
  Vec3 by_compliance;
  for (const AttachmentRow::Side& side : row.sides) {
    if (side.of == nullptr || side.of->coarse_solve == nullptr) continue;
    AttachedPoint& at = side.of->points[side.index];
    at.moved = side.of->coarse_solve->touched.Displacement(at.coarse);
    by_compliance += at.change;
  }
  return attached.MovedOf(row) + by_compliance;
}

// Moves the clusters of a row's bodies, and what their compliance does.
void Push(const AttachmentRow& row, const Vec3& change) {
  for (const AttachmentRow::Side& side : row.sides) {
    if (side.of == nullptr || side.of->coarse_solve == nullptr) continue;
    AttachedPoints& of = *side.of;
    const AttachedPoint& at = of.points[side.index];
    const float to_world = kFineShare / (of.scale * of.scale * of.scale);
    const float* coupled = &of.couplings[of.points.size() * side.index];
    for (uint32_t j = 0; j < of.num_points; ++j) {
      AttachedPoint& other = of.points[j];
      other.change += change * (at.sign * other.sign * coupled[j] * to_world);
    }
    of.coarse_solve->touched.Push(at.coarse, of.Own(at, change), of.coarse_solve->sums);
  }
}

}  // namespace

void PlaceAttached(CoarseContacts* solve) {
  AttachedPoints* attached = solve->attached;
  attached->StartOthers();
  const float s = attached->scale, to_world = 1.0f / (s * s * s);
  for (uint32_t i = 0; i < attached->num_points; ++i) {
    AttachedPoint& at = attached->points[i];
    at.coarse = solve->touched.Place(at.point, solve->clusters, at.at);
    at.response = solve->touched.Response(at.coarse) * to_world;
    at.change = {};
    AttachmentRow& row = attached->RowOf(at);
    row.fine_response = kFineShare * attached->Response(i);
    if (!row.is_constraint()) at.response = at.response + Isotropic(row.fine_response);
  }
}

bool SweepAttached(CoarseContacts* solve) {
  AttachedPoints* attached = solve->attached;
  bool moves = false;
  const SpringBlock& springs = attached->springs;
  const bool at_once = SweepSprings(solve);
  uint32_t next = at_once ? 0 : springs.num_springs;  // of the springs that are done
  for (uint32_t i = 0; i < attached->num_points; ++i) {
    if (next < springs.num_springs && springs.points[next] == i) {
      ++next;
      continue;
    }
    AttachmentRow& row = attached->RowOf(attached->points[i]);
    if (!row.acts) continue;
    const Mat3 response = ResponseOf(row);
    const Vec3 change = row.Change(MovedOf(*attached, row), response);
    if (IsZero(change)) continue;
    moves = moves || BoundOf(response) * Length(change) > solve->problem.accuracy * attached->scale;
    attached->MoveOther(row, change);
    Push(row, change);
  }
  return moves;
}

}  // namespace plush
