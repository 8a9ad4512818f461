// SPDX-License-Identifier: MIT
#include "body/implicit_checks.h"

#include "base/array.h"
#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plush {
namespace {

Status Invalid(const char* where, const char* message) {
  return {StatusCode::kInvalidArgument, where, message, 0};
}

// The first node of a node's part so far.
uint32_t FirstOf(std::span<uint32_t> parents, uint32_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

// How far rows hold a body against rigid motions: the sum of J J^T, J being what a row sees of
// translations and turns.
class RigidHold {
 public:
  RigidHold(const Vec3& centre, float size) : centre_(centre), inverse_(1.0f / size) {}

  /// Adds a row with these weights of nodes at rest.
  void Add(std::span<const Vec3> rest, std::span<const uint32_t> nodes,
           std::span<const float> weights, const Vec3& direction) {
    double J[6] = {};
    for (size_t k = 0; k < nodes.size(); ++k) {
      const Vec3 arm = (rest[nodes[k]] - centre_) * inverse_, turn = Cross(arm, direction);
      const float of_node[6] = {direction.x, direction.y, direction.z, turn.x, turn.y, turn.z};
      for (int i = 0; i < 6; ++i) J[i] += double(weights[k]) * double(of_node[i]);
    }
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) sum_[i][j] += J[i] * J[j];
    }
  }

  /// Whether no rigid motion is left. Gaussian elimination with the largest pivots.
  bool IsWhole() const {
    constexpr double kLeastPivot = 1.0e-8;  // of the first: pins off a line by 1e-4 of its length
    double m[6][6];
    std::copy(&sum_[0][0], &sum_[0][0] + 36, &m[0][0]);
    bool is_done[6] = {};
    double first = 0.0;
    for (int step = 0; step < 6; ++step) {
      int best = -1;
      for (int i = 0; i < 6; ++i) {
        if (!is_done[i] && (best < 0 || m[i][i] > m[best][best])) best = i;
      }
      const double pivot = m[best][best];
      if (step == 0) first = pivot;
      if (!(pivot > kLeastPivot * first)) return false;
      is_done[best] = true;
      for (int i = 0; i < 6; ++i) {
        if (is_done[i]) continue;
        const double share = m[i][best] / pivot;
        for (int j = 0; j < 6; ++j) m[i][j] -= share * m[best][j];
      }
    }
    return true;
  }

 private:
  Vec3 centre_;
  float inverse_;
  double sum_[6][6] = {};
};

// Whether pins and constraints hold a part.
bool IsHeld(const SimulationView& simulation, std::span<const uint8_t> pinned,
            std::span<const ConstraintRow> constraints, std::span<const uint32_t> parts,
            uint32_t part) {
  const std::span<const Vec3> nodes = simulation.nodes;
  Vec3 low = nodes[part], high = low;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (parts[i] != part) continue;
    low = {std::fmin(low.x, nodes[i].x), std::fmin(low.y, nodes[i].y),
           std::fmin(low.z, nodes[i].z)};
    high = {std::fmax(high.x, nodes[i].x), std::fmax(high.y, nodes[i].y),
            std::fmax(high.z, nodes[i].z)};
  }
  const float size = Length(high - low);
  if (!(size > 0.0f)) return false;
  RigidHold hold((low + high) * 0.5f, size);
  constexpr float kOne[1] = {1.0f};
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (parts[i] != part || pinned[i] == 0) continue;
    for (const Vec3& axis : {Vec3{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}) {
      hold.Add(nodes, {&i, 1}, kOne, axis);
    }
  }
  for (const ConstraintRow& row : constraints) {
    const auto is_in = [&](uint32_t node) { return parts[node] == part; };
    if (std::ranges::all_of(row.nodes, is_in)) {
      hold.Add(nodes, row.nodes, row.weights, row.direction);
    }
  }
  return hold.IsWhole();
}

}  // namespace

Status CheckImplicit(const BodySolver& solver) {
  const ImplicitSettings& s = solver.implicit;
  const auto is_share = [](float value) { return value >= 0.0f && value < 1.0f; };
  if (s.newton_iterations < 1 || s.newton_iterations > 64) {
    return Invalid("implicit.newton_iterations", "must lie in [1, 64]");
  }
  if (s.linear_iterations < 1 || s.linear_iterations > 10000) {
    return Invalid("implicit.linear_iterations", "must lie in [1, 10000]");
  }
  if (!is_share(s.newton_tolerance)) {
    return Invalid("implicit.newton_tolerance", "must lie in [0, 1)");
  }
  if (!is_share(s.linear_tolerance)) {
    return Invalid("implicit.linear_tolerance", "must lie in [0, 1)");
  }
  if (s.differential > StressDifferential::kExact) {
    return Invalid("implicit.differential", "is none of StressDifferential");
  }
  if (s.preconditioner > Preconditioner::kNone) {
    return Invalid("implicit.preconditioner", "is none of Preconditioner");
  }
  if (!(s.mass_damping >= 0.0f && s.mass_damping <= 1000.0f)) {
    return Invalid("implicit.mass_damping", "must lie in [0, 1000]");
  }
  if (s.linear_method > LinearMethod::kMinimumResiduals) {
    return Invalid("implicit.linear_method", "is none of LinearMethod");
  }
  if (s.model > MaterialModel::kNeoHookean) {
    return Invalid("implicit.model", "is none of MaterialModel");
  }
  if (s.rotation > RotationMethod::kAnalytic) {
    return Invalid("implicit.rotation", "is none of RotationMethod");
  }
  if (!(s.alpha > 0.0f && s.alpha < 1.0f)) {
    return Invalid("implicit.alpha", "must lie in (0, 1)");
  }
  if (!(s.beta >= 1.0f && s.beta <= 100.0f)) {
    return Invalid("implicit.beta", "must lie in [1, 100]");
  }
  return {};
}

Status CheckImplicitPins(const Allocator& allocator, const BodySolver& solver,
                         const SimulationView& simulation, std::span<const uint8_t> pinned,
                         std::span<const ConstraintRow> constraints) {
  if (!solver.implicit.quasistatic) return {};
  Array<uint32_t> parts;
  const auto count = static_cast<uint32_t>(simulation.nodes.size());
  if (!parts.Allocate(allocator, count)) return {StatusCode::kOutOfMemory, "solver"};
  const std::span<uint32_t> parents = parts.span();
  for (uint32_t i = 0; i < count; ++i) parents[i] = i;
  for (const Tet& tet : simulation.tets) {
    const uint32_t first = FirstOf(parents, tet.a);
    for (const uint32_t node : {tet.b, tet.c, tet.d}) parents[FirstOf(parents, node)] = first;
  }
  for (uint32_t i = 0; i < count; ++i) parents[i] = FirstOf(parents, i);
  for (uint32_t i = 0; i < count; ++i) {
    if (parents[i] == i && !IsHeld(simulation, pinned, constraints, parents, i)) {
      return Invalid("implicit.quasistatic",
                     "needs pins or constraints that stop every rigid motion: of each connected "
                     "part, three points that are not on a line");
    }
  }
  return {};
}

}  // namespace plush
