// SPDX-License-Identifier: MIT
// Contact impulses on the coarse level: projected Gauss-Seidel with D = J Z C^-1 Z^T J^T.
// Source: see coarse_contacts.h.
#include "contact/coarse_contacts.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Impulses start from those of the last solve, so few sweeps suffice.
constexpr int kMostSweeps = 16;

// Motions of the clusters that contacts touch, kept up to date as impulses change.
class TouchedClusters {
 public:
  // `responses`: scratch memory.
  TouchedClusters(const CoarseLevel& coarse, const CoarseMatrix& matrix,
                  std::span<const ClusterSums> sums, std::span<float> responses)
      : coarse_(coarse), matrix_(matrix), responses_(responses), size_(coarse.num_unknowns()) {
    double* q = numbers_;
    for (size_t k = 0; k < coarse.num_clusters(); ++k, q += 8) {
      const Vec3 &impulse = sums[k].impulse, &moment = sums[k].moment;
      q[0] = impulse.x, q[1] = impulse.y, q[2] = impulse.z;
      q[3] = moment.x, q[4] = moment.y, q[5] = moment.z;
      q[6] = q[7] = 0.0;
      centres_[k] = sums[k].centre;
    }
    SolveTo(q_);
  }

  // Finds how all clusters respond to impulses on cluster `k`.
  void Touch(size_t k) {
    if (touched_[k]) return;
    touched_[k] = true;
    list_[num_touched_++] = k;
    for (size_t p = 0; p < 6; ++p) {
      std::fill(numbers_, numbers_ + 8 * coarse_.num_clusters(), 0.0);
      numbers_[8 * k + p] = 1.0;
      SolveTo(&responses_[size_ * (6 * k + p)]);
    }
  }

  // Displacement of a point `x` of cluster `k`, to first order.
  Vec3 Displacement(size_t k, const Vec3& x) const { return Point(q_ + 6 * k, k, x); }

  // Adds an impulse at a point `x` of a touched cluster `k`.
  void Push(size_t k, const Vec3& x, const Vec3& impulse) {
    float b[6];
    Load(k, x, impulse, b);
    for (size_t p = 0; p < 6; ++p) {
      const float* column = &responses_[size_ * (6 * k + p)];
      for (size_t c = 0; c < num_touched_; ++c) {
        const size_t first = 6 * list_[c];
        for (size_t i = first; i < first + 6; ++i) q_[i] += column[i] * b[p];
      }
    }
  }

  // At least the largest eigenvalue of D's block of a point of a touched cluster: displacements per
  // impulse [1/kg].
  float Response(size_t k, const Vec3& x) const {
    Mat3 D;
    Vec3* columns[3] = {&D.c0, &D.c1, &D.c2};
    const Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int axis = 0; axis < 3; ++axis) {
      float b[6], q[6] = {};
      Load(k, x, axes[axis], b);
      for (size_t p = 0; p < 6; ++p) {
        const float* column = &responses_[size_ * (6 * k + p) + 6 * k];
        for (size_t i = 0; i < 6; ++i) q[i] += column[i] * b[p];
      }
      *columns[axis] = Point(q, k, x);
    }
    const auto sum = [](const Vec3& c) { return std::fabs(c.x) + std::fabs(c.y) + std::fabs(c.z); };
    return std::fmin(D.c0.x + D.c1.y + D.c2.z,
                     std::fmax(sum(D.c0), std::fmax(sum(D.c1), sum(D.c2))));
  }

 private:
  // Solves with `numbers_` and writes the motions without the spare numbers.
  void SolveTo(float* to) {
    matrix_.Solve(coarse_.pattern, {numbers_, 8 * coarse_.num_clusters()});
    for (size_t k = 0; k < coarse_.num_clusters(); ++k) {
      for (size_t i = 0; i < 6; ++i) *to++ = static_cast<float>(numbers_[8 * k + i]);
    }
  }

  Vec3 Point(const float* q, size_t k, const Vec3& x) const {
    return Vec3{q[0], q[1], q[2]} + Cross(Vec3{q[3], q[4], q[5]}, x - centres_[k]);
  }

  void Load(size_t k, const Vec3& x, const Vec3& impulse, float* b) const {
    const Vec3 moment = Cross(x - centres_[k], impulse);
    b[0] = impulse.x, b[1] = impulse.y, b[2] = impulse.z;
    b[3] = moment.x, b[4] = moment.y, b[5] = moment.z;
  }

  const CoarseLevel& coarse_;
  const CoarseMatrix& matrix_;
  std::span<float> responses_;
  size_t size_;
  Vec3 centres_[kMaxClusters];
  double numbers_[8 * kMaxClusters];
  float q_[6 * kMaxClusters];
  bool touched_[kMaxClusters] = {};
  size_t list_[kMaxClusters];
  size_t num_touched_ = 0;
};

// The impulse on a contact that has the gap `gap` and the slip `slip`. One scalar for all axes: the
// step then never overshoots, and its fixed point is Signorini's condition with Coulomb's cone.
Vec3 Projected(const Vec3& normal, float friction, float response, const Vec3& impulse, float gap,
               const Vec3& slip) {
  const Vec3 wanted = impulse - (normal * gap + slip) * (1.0f / response);
  const float pressing = std::fmax(Dot(normal, wanted), 0.0f);
  const Vec3 along = wanted - normal * Dot(normal, wanted);
  const float length = Length(along), most = friction * pressing;
  return normal * pressing + along * (length > most ? most / length : 1.0f);
}

// As in the fine solve, nodes on several planes have no friction.
float FrictionOf(const PlaneContact& contact, const LocalPlane& plane) {
  return contact.alone ? plane.friction : 0.0f;
}

}  // namespace

void AddContactImpulses(std::span<const LocalPlane> planes, const ContactState& state,
                        std::span<const uint16_t> clusters, std::span<const NodeVec> y,
                        std::span<ClusterSums> sums) {
  for (const PlaneContact& contact : state.Current()) {
    ClusterSums& sum = sums[clusters[contact.node]];
    const Vec3 impulse = planes[contact.plane].normal * contact.normal + contact.friction;
    sum.impulse += impulse;
    sum.moment += Cross(y[contact.node] - sum.centre, impulse);
  }
}

void SolveCoarseContacts(const CoarseLevel& coarse, const CoarseMatrix& matrix,
                         std::span<const uint16_t> clusters, std::span<const uint8_t> pinned,
                         const ContactProblem& problem, ContactState* state,
                         std::span<ClusterSums> sums, std::span<float> responses,
                         std::span<NodeVec> d) {
  TouchedClusters touched(coarse, matrix, sums, responses);
  for (size_t i = 0; i < problem.x.size(); ++i) {
    d[i] = pinned[i] != 0 ? Vec3{} : touched.Displacement(clusters[i], problem.y[i]);
  }
  AddContacts(problem, pinned, d, state);
  for (const PlaneContact& contact : state->Current()) touched.Touch(clusters[contact.node]);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    float largest = 0.0f;  // correction of a displacement [m]
    for (PlaneContact& contact : state->Current()) {
      const LocalPlane& plane = problem.planes[contact.plane];
      const size_t k = clusters[contact.node];
      const Vec3 y = problem.y[contact.node];
      if (sweep == 0) contact.response = touched.Response(k, y);
      if (!(contact.response > 0.0f)) continue;
      const Vec3 moved = touched.Displacement(k, y);
      const Vec3 before = plane.normal * contact.normal + contact.friction;
      const Vec3 impulse =
          Projected(plane.normal, FrictionOf(contact, plane), contact.response, before,
                    Gap(plane, y) + Dot(plane.normal, moved), SlipOf(problem, contact, moved));
      const Vec3 change = impulse - before;
      contact.normal = Dot(plane.normal, impulse);
      contact.friction = impulse - plane.normal * contact.normal;
      touched.Push(k, y, change);
      ClusterSums& sum = sums[k];
      sum.impulse += change;
      sum.moment += Cross(y - sum.centre, change);
      largest = std::fmax(largest, contact.response * Length(change));
    }
    if (!(largest > problem.tolerance)) break;
  }
  for (PlaneContact& contact : state->Current()) {
    if (contact.sliding) contact.slide = contact.friction;
    contact.slipped = Length(SlipOf(
        problem, contact, touched.Displacement(clusters[contact.node], problem.y[contact.node])));
  }
}

}  // namespace plush
