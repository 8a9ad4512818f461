// SPDX-License-Identifier: MIT
// Contact impulses on the coarse level: projected Gauss-Seidel with D = J Z C^-1 Z^T J^T.
// Source: see coarse_contacts.h.
#include "contact/coarse_contacts.h"

#include "base/float4.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Few contacts on stiff clusters converge slowly: the block of D is far from a multiple of I. A
// body on four nodes would rock for ever with 8 sweeps.
constexpr int kMostSweeps = 32;

// Motions of the clusters, kept up to date for those that contacts touch.
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
      for (size_t i = 0; i < 8; ++i) q_[8 * k + i] = static_cast<float>(numbers[8 * k + i]);
    }
  }

  // Displacement of a node at `x` of cluster `k`, to first order.
  Vec3 Displacement(size_t k, const Vec3& x) const {
    const float* q = q_ + 8 * k;
    return Vec3{q[0], q[1], q[2]} + Cross(Vec3{q[3], q[4], q[5]}, x - centres_[k]);
  }

  // The same for a point.
  Vec3 Displacement(const CoarsePoint& point) const {
    Vec3 sum;
    for (int i = 0; i < point.num_parts; ++i) {
      sum += Displacement(point.parts[i], q_ + 8 * point.parts[i].cluster);
    }
    return sum;
  }

  // A point's parts; its nodes are at `at` (4 x 1). Touches its clusters.
  CoarsePoint Place(const EmbeddedPoint& point, std::span<const uint16_t> clusters,
                    const Vec3* at) {
    CoarsePoint placed;
    for (int i = 0; i < 4; ++i) {
      if (point.free[i] == 0.0f) continue;
      const uint16_t k = clusters[point.nodes[i]];
      int part = 0;
      while (part < placed.num_parts && placed.parts[part].cluster != k) ++part;
      if (part == placed.num_parts) {
        placed.parts[placed.num_parts++] = {k, 0.0f, {}};
        Touch(k);
      }
      placed.parts[part].weight += point.free[i];
      placed.parts[part].arm += (at[i] - centres_[k]) * point.free[i];
    }
    return placed;
  }

  // Adds an impulse on a point.
  void Push(const CoarsePoint& point, const Vec3& impulse, std::span<ClusterSums> sums) {
    for (int j = 0; j < point.num_parts; ++j) {
      const CoarsePoint::Part& part = point.parts[j];
      float b[6];
      Load(part, impulse, b);
      sums[part.cluster].impulse += impulse * part.weight;
      sums[part.cluster].moment += Vec3{b[3], b[4], b[5]};
      for (size_t t = 0; t < num_touched_; ++t) {
        AddResponse(part.cluster, b, touched_[t], q_ + 8 * size_t{touched_[t]});
      }
    }
  }

  // D's block of a point: displacements per impulse [1/kg].
  Mat3 Response(const CoarsePoint& point) const {
    Mat3 D;
    Vec3* columns[3] = {&D.c0, &D.c1, &D.c2};
    const Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int axis = 0; axis < 3; ++axis) {
      for (int j = 0; j < point.num_parts; ++j) {
        float b[6];
        Load(point.parts[j], axes[axis], b);
        for (int i = 0; i < point.num_parts; ++i) {
          float q[8] = {};
          AddResponse(point.parts[j].cluster, b, point.parts[i].cluster, q);
          *columns[axis] += Displacement(point.parts[i], q);
        }
      }
    }
    return D;
  }

 private:
  // Adds the motion of cluster `k` in answer to `load` (6 x 1) on a touched cluster to `q` (8 x 1;
  // the last two numbers become any).
  void AddResponse(size_t touched, const float* load, size_t k, float* q) const {
    const float* c = &responses_->columns[6 * (size_ * touched + k)];
    Float4 low = Load4(q), high = Load4(q + 4);
    for (int p = 0; p < 6; ++p, c += size_) {
      low = low + Load4(c) * Broadcast(load[p]);
      high = high + Load4(c + 4) * Broadcast(load[p]);
    }
    Store4(low, q);
    Store4(high, q + 4);
  }

  // Finds how all clusters answer impulses on cluster `k`.
  void Touch(uint16_t k) {
    if (!is_touched_[k]) touched_[num_touched_++] = k;
    is_touched_[k] = true;
    if (responses_->known[k] != 0) return;
    responses_->known[k] = 1;
    matrix_.Respond(coarse_.pattern, k, responses_->scratch.span(),
                    responses_->columns.span().subspan(6 * size_ * k, 6 * size_));
  }

  // Displacement of a part of a point whose cluster moves by q.
  static Vec3 Displacement(const CoarsePoint::Part& part, const float* q) {
    return Vec3{q[0], q[1], q[2]} * part.weight + Cross(Vec3{q[3], q[4], q[5]}, part.arm);
  }

  // What an impulse on a point does to the cluster of a part.
  static void Load(const CoarsePoint::Part& part, const Vec3& impulse, float* b) {
    const Vec3 moment = Cross(part.arm, impulse);
    b[0] = impulse.x * part.weight, b[1] = impulse.y * part.weight, b[2] = impulse.z * part.weight;
    b[3] = moment.x, b[4] = moment.y, b[5] = moment.z;
  }

  const CoarseLevel& coarse_;
  const CoarseMatrix& matrix_;
  CoarseResponses* responses_;
  size_t size_;
  Vec3 centres_[kMaxClusters];
  float q_[8 * kMaxClusters];
  uint16_t touched_[kMaxClusters];  // the motions of others are those at the start
  bool is_touched_[kMaxClusters] = {};
  size_t num_touched_ = 0;
};

}  // namespace

namespace {

// At least the largest eigenvalue of a block of D.
float BoundOf(const Mat3& D) {
  const auto sum = [](const Vec3& c) { return std::fabs(c.x) + std::fabs(c.y) + std::fabs(c.z); };
  return std::fmin(D.c0.x + D.c1.y + D.c2.z, std::fmax(sum(D.c0), std::fmax(sum(D.c1), sum(D.c2))));
}

}  // namespace

bool CoarseResponses::Allocate(const Allocator& allocator, size_t num_clusters) {
  const size_t unknowns = 6 * num_clusters;
  constexpr size_t kReadBeyond = 2;
  return columns.Allocate(allocator, unknowns * unknowns + kReadBeyond, 0.0f) &&
         known.Allocate(allocator, num_clusters, uint8_t{0}) &&
         scratch.Allocate(allocator, 8 * unknowns);
}

void AddContactImpulses(const ContactState& state, std::span<const uint16_t> clusters,
                        std::span<const NodeVec> y, std::span<ClusterSums> sums) {
  for (const PlaneContact& contact : state.Current()) {
    const EmbeddedPoint& point = state.PointOf(contact);
    for (int k = 0; k < 4; ++k) {
      ClusterSums& sum = sums[clusters[point.nodes[k]]];
      const Vec3 impulse = contact.impulse * point.free[k];
      sum.impulse += impulse;
      sum.moment += Cross(y[point.nodes[k]] - sum.centre, impulse);
    }
  }
}

namespace {

void PlaceContacts(std::span<const uint16_t> clusters, const ContactProblem& problem,
                   TouchedClusters* touched, ContactState* state, std::span<NodeVec> d) {
  const std::span<const uint8_t> pinned = problem.surface.pinned;
  for (size_t i = 0; i < pinned.size(); ++i) {
    d[i] = pinned[i] != 0 ? Vec3{} : touched->Displacement(clusters[i], problem.y[i]);
  }
  AddContacts(problem, d, state);
  FindOffsets(problem, state);
  for (uint32_t i = 0; i < state->num_contacts; ++i) {
    PlaneContact& contact = state->contacts[i];
    const EmbeddedPoint& point = state->PointOf(contact);
    Vec3 at[4];
    for (int k = 0; k < 4; ++k) at[k] = problem.y[point.nodes[k]];
    state->coarse[i] = touched->Place(point, clusters, at);
    const float response = BoundOf(touched->Response(state->coarse[i]));
    contact.yielding = response > 0.0f ? 1.0f / response : 0.0f;
  }
}

// In the world's units; other bodies answer with their own constant matrix.
void PlaceAttached(std::span<const uint16_t> clusters, TouchedClusters* touched,
                   AttachedPoints* attached) {
  attached->StartOthers();
  const float s = attached->scale, to_world = 1.0f / (s * s * s);
  for (AttachedPoint& at : attached->Current()) {
    at.coarse = touched->Place(at.point, clusters, at.at);
    at.response = touched->Response(at.coarse) * to_world;
    for (const AttachmentRow::Side& side : attached->RowOf(at).sides) {
      if (side.of == nullptr || side.of == attached) continue;
      const float other = side.of->Response(side.index);
      at.response.c0.x += other;
      at.response.c1.y += other;
      at.response.c2.z += other;
    }
  }
}

// Changes the impulses on attached points once. Returns whether one moves by more than `accuracy`.
bool SweepAttached(float accuracy, TouchedClusters* touched, AttachedPoints* attached,
                   std::span<ClusterSums> sums) {
  bool moves = false;
  for (AttachedPoint& at : attached->Current()) {
    AttachmentRow& row = attached->RowOf(at);
    if (!row.acts) continue;
    at.moved = touched->Displacement(at.coarse);
    const Vec3 change = row.Change(attached->MovedOf(row), at.response);
    if (IsZero(change)) continue;
    moves = moves || BoundOf(at.response) * Length(change) > accuracy * attached->scale;
    attached->MoveOther(row, change);
    touched->Push(at.coarse, attached->Own(at, change), sums);
  }
  return moves;
}

}  // namespace

void SolveCoarseContacts(const CoarseLevel& coarse, const CoarseMatrix& matrix,
                         std::span<const uint16_t> clusters, const ContactProblem& problem,
                         ContactState* state, AttachedPoints* attached, std::span<ClusterSums> sums,
                         CoarseResponses* responses, std::span<NodeVec> d) {
  TouchedClusters touched(coarse, matrix, sums, responses);
  if (state != nullptr) PlaceContacts(clusters, problem, &touched, state, d);
  if (attached != nullptr) PlaceAttached(clusters, &touched, attached);
  bool moves = true;
  for (int sweep = 0; sweep < kMostSweeps && moves; ++sweep) {
    moves = attached != nullptr && SweepAttached(problem.accuracy, &touched, attached, sums);
    for (uint32_t i = 0; state != nullptr && i < state->num_contacts; ++i) {
      PlaneContact& contact = state->contacts[i];
      const CoarsePoint& point = state->coarse[i];
      const Vec3 change =
          ChangeImpulse(touched.Displacement(point), ConesFollow(sweep, kMostSweeps), &contact);
      const float change2 = Dot(change, change), least = problem.accuracy * contact.yielding;
      if (change2 == 0.0f) continue;
      moves = moves || change2 > least * least;
      touched.Push(point, change, sums);
    }
  }
}

}  // namespace plush
