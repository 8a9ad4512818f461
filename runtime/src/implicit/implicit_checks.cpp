// SPDX-License-Identifier: MIT
#include "implicit/implicit_checks.h"

#include "base/array.h"
#include "base/invalid.h"
#include "base/vector_math.h"
#include "solver/node_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

// Calls visit(nodes, weights, direction) for each row that holds a part: a pinned node has three.
template <class Visit>
void ForRows(std::span<const uint8_t> pinned, std::span<const ConstraintRow> constraints,
             std::span<const uint32_t> parts, uint32_t part, const Visit& visit) {
  constexpr float kOne[1] = {1.0f};
  for (uint32_t i = 0; i < pinned.size(); ++i) {
    if (parts[i] != part || pinned[i] == 0) continue;
    for (const Vec3& axis : {Vec3{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}) {
      visit(std::span<const uint32_t>(&i, 1), std::span<const float>(kOne), axis);
    }
  }
  for (const ConstraintRow& row : constraints) {
    const auto is_in = [&](uint32_t node) { return parts[node] == part; };
    if (!std::ranges::all_of(row.nodes, is_in)) continue;
    visit(std::span<const uint32_t>(row.nodes), std::span<const float>(row.weights), row.direction);
  }
}

// Whether pins and constraints hold a part against all rigid motions: what their rows see of
// translations and turns has rank 6. Gram-Schmidt on the row that has most left. Lengths are
// relative to the extent of the held nodes, neither to the part's nor to their number: long bodies
// may be held at one end, or by many nodes on a line and one beside it.
bool IsHeld(std::span<const Vec3> rest, std::span<const uint8_t> pinned,
            std::span<const ConstraintRow> constraints, std::span<const uint32_t> parts,
            uint32_t part) {
  constexpr double kLeast = 1.0e-5;     // off a line, of its length
  constexpr double kRounding = 1.0e-6;  // of coordinates: several float roundings
  constexpr float kMost = std::numeric_limits<float>::max();
  Vec3 low = {kMost, kMost, kMost}, high = low * -1.0f;
  const auto for_rows = [&](const auto& visit) {
    ForRows(pinned, constraints, parts, part, visit);
  };
  for_rows([&](std::span<const uint32_t> nodes, std::span<const float> weights, const Vec3&) {
    for (size_t k = 0; k < nodes.size(); ++k) {
      if (weights[k] == 0.0f) continue;
      const Vec3& at = rest[nodes[k]];
      low = {std::fmin(low.x, at.x), std::fmin(low.y, at.y), std::fmin(low.z, at.z)};
      high = {std::fmax(high.x, at.x), std::fmax(high.y, at.y), std::fmax(high.z, at.z)};
    }
  });
  const Vec3 centre = (low + high) * 0.5f;
  const double size = double(Length(high - low));
  if (!(low.x <= high.x && size > 0.0)) return false;
  const double least = kLeast + kRounding * double(Length(centre)) / size;
  double basis[6][6] = {};
  for (int rank = 0; rank < 6; ++rank) {
    double most = least;
    for_rows([&](std::span<const uint32_t> nodes, std::span<const float> weights,
                 const Vec3& direction) {
      double J[6] = {};
      for (size_t k = 0; k < nodes.size(); ++k) {
        const Vec3 turn = Cross(rest[nodes[k]] - centre, direction);
        const double of_node[6] = {direction.x,   direction.y,   direction.z,
                                   turn.x / size, turn.y / size, turn.z / size};
        for (int i = 0; i < 6; ++i) J[i] += double(weights[k]) * of_node[i];
      }
      const auto dot = [&](const double* a) {
        double sum = 0.0;
        for (int i = 0; i < 6; ++i) sum += a[i] * J[i];
        return sum;
      };
      for (int q = 0; q < rank; ++q) {
        const double along = dot(basis[q]);
        for (int i = 0; i < 6; ++i) J[i] -= along * basis[q][i];
      }
      const double length = std::sqrt(dot(J));
      if (!(length > most)) return;
      most = length;
      for (int i = 0; i < 6; ++i) basis[rank][i] = J[i] / length;
    });
    if (most == least) return false;
  }
  return true;
}

}  // namespace

Status CheckImplicit(const BodySolver& solver) {
  const ImplicitSettings& s = solver.implicit;
  const auto is_share = [](float value) { return value >= 0.0f && value < 1.0f; };
  if (s.newton_iterations < 0 || s.newton_iterations > 64) {
    return Invalid("implicit.newton_iterations", "must lie in [0, 64]");
  }
  if (s.linear_iterations < 0 || s.linear_iterations > 10000) {
    return Invalid("implicit.linear_iterations", "must lie in [0, 10000]");
  }
  if (!is_share(s.newton_tolerance)) {
    return Invalid("implicit.newton_tolerance", "must lie in [0, 1)");
  }
  if (!is_share(s.linear_tolerance)) {
    return Invalid("implicit.linear_tolerance", "must lie in [0, 1)");
  }
  if (s.differential > StressDifferential::kHybrid) {
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
  if (!FindParts(allocator, simulation.tets, simulation.nodes.size(), {}, &parts)) {
    return {StatusCode::kOutOfMemory, "solver"};
  }
  for (uint32_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == i && !IsHeld(simulation.nodes, pinned, constraints, parts.span(), i)) {
      return Invalid("implicit.quasistatic",
                     "needs pins or constraints that stop every rigid motion: of each connected "
                     "part, three points that are not on a line");
    }
  }
  return {};
}

}  // namespace plush
