// SPDX-License-Identifier: MIT
// Contact impulses on the coarse level: projected Gauss-Seidel with D = J Z C^-1 Z^T J^T.
// Source: see coarse_contacts.h.
#include "contact/coarse_contacts.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Few contacts on stiff clusters converge slowly: the block of D is far from a multiple of I. A
// body on four nodes would rock for ever with 8 sweeps.
constexpr int kMostSweeps = 32;

// Motions of the clusters that contacts touch, kept up to date as impulses change.
class TouchedClusters {
 public:
  TouchedClusters(const CoarseLevel& coarse, const CoarseMatrix& matrix,
                  std::span<const ClusterSums> sums, CoarseResponses* responses)
      : coarse_(coarse), matrix_(matrix), responses_(responses), size_(coarse.num_unknowns()) {
    double numbers[8 * kMaxClusters];
    double* q = numbers;
    for (size_t k = 0; k < coarse.num_clusters(); ++k, q += 8) {
      const Vec3 &impulse = sums[k].impulse, &moment = sums[k].moment;
      q[0] = impulse.x, q[1] = impulse.y, q[2] = impulse.z;
      q[3] = moment.x, q[4] = moment.y, q[5] = moment.z;
      q[6] = q[7] = 0.0;
      centres_[k] = sums[k].centre;
    }
    matrix.Solve(coarse.pattern, {numbers, 8 * coarse.num_clusters()});
    for (size_t k = 0; k < coarse.num_clusters(); ++k) {
      for (size_t i = 0; i < 6; ++i) q_[6 * k + i] = static_cast<float>(numbers[8 * k + i]);
    }
  }

  // Finds how all clusters answer impulses on cluster `k`.
  void Touch(size_t k) {
    if (responses_->known[k] != 0) return;
    responses_->known[k] = 1;
    matrix_.Respond(coarse_.pattern, k, responses_->scratch.span(),
                    responses_->columns.span().subspan(6 * size_ * k, 6 * size_));
  }

  // Displacement of a point `x` of cluster `k`, to first order.
  Vec3 Displacement(size_t k, const Vec3& x) const { return Point(q_ + 6 * k, k, x); }

  // Adds an impulse at a point `x` of a touched cluster `k`.
  void Push(size_t k, const Vec3& x, const Vec3& impulse) {
    float b[6];
    Load(k, x, impulse, b);
    const float* c = Column(k, 0);
    for (size_t i = 0; i < size_; ++i, ++c) {
      q_[i] += c[0] * b[0] + c[size_] * b[1] + c[2 * size_] * b[2] + c[3 * size_] * b[3] +
               c[4 * size_] * b[4] + c[5 * size_] * b[5];
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
        const float* column = Column(k, p) + 6 * k;
        for (size_t i = 0; i < 6; ++i) q[i] += column[i] * b[p];
      }
      *columns[axis] = Point(q, k, x);
    }
    const auto sum = [](const Vec3& c) { return std::fabs(c.x) + std::fabs(c.y) + std::fabs(c.z); };
    return std::fmin(D.c0.x + D.c1.y + D.c2.z,
                     std::fmax(sum(D.c0), std::fmax(sum(D.c1), sum(D.c2))));
  }

 private:
  const float* Column(size_t k, size_t p) const {
    return &responses_->columns[size_ * (6 * k + p)];
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
  CoarseResponses* responses_;
  size_t size_;
  Vec3 centres_[kMaxClusters];
  float q_[6 * kMaxClusters];
};

}  // namespace

bool CoarseResponses::Allocate(const Allocator& allocator, size_t num_clusters) {
  const size_t unknowns = 6 * num_clusters;
  return columns.Allocate(allocator, unknowns * unknowns) &&
         known.Allocate(allocator, num_clusters, uint8_t{0}) &&
         scratch.Allocate(allocator, 8 * unknowns);
}

void AddContactImpulses(const ContactState& state, std::span<const uint16_t> clusters,
                        std::span<const NodeVec> y, std::span<ClusterSums> sums) {
  for (const PlaneContact& contact : state.Current()) {
    ClusterSums& sum = sums[clusters[contact.node]];
    sum.impulse += contact.impulse;
    sum.moment += Cross(y[contact.node] - sum.centre, contact.impulse);
  }
}

void SolveCoarseContacts(const CoarseLevel& coarse, const CoarseMatrix& matrix,
                         std::span<const uint16_t> clusters, std::span<const uint8_t> pinned,
                         const ContactProblem& problem, ContactState* state,
                         std::span<ClusterSums> sums, CoarseResponses* responses,
                         std::span<NodeVec> d) {
  TouchedClusters touched(coarse, matrix, sums, responses);
  for (size_t i = 0; i < problem.x.size(); ++i) {
    d[i] = pinned[i] != 0 ? Vec3{} : touched.Displacement(clusters[i], problem.y[i]);
  }
  AddContacts(problem, pinned, d, state);
  FindOffsets(problem, state);
  for (PlaneContact& contact : state->Current()) {
    const size_t k = clusters[contact.node];
    touched.Touch(k);
    const float response = touched.Response(k, problem.y[contact.node]);
    contact.yielding = response > 0.0f ? 1.0f / response : 0.0f;
  }
  bool moves = true;
  for (int sweep = 0; sweep < kMostSweeps && moves; ++sweep) {
    moves = false;
    for (PlaneContact& contact : state->Current()) {
      const size_t k = clusters[contact.node];
      const Vec3& y = problem.y[contact.node];
      const Vec3 change = ChangeImpulse(problem.planes[contact.plane], touched.Displacement(k, y),
                                        ConesFollow(sweep, kMostSweeps), &contact);
      const float change2 = Dot(change, change), least = problem.accuracy * contact.yielding;
      if (change2 == 0.0f) continue;
      moves = moves || change2 > least * least;
      touched.Push(k, y, change);
      ClusterSums& sum = sums[k];
      sum.impulse += change;
      sum.moment += Cross(y - sum.centre, change);
    }
  }
}

}  // namespace plush
